"""What a player gives back, as the auctioneer hears it: words, or the failure of its seat."""

from __future__ import annotations

import asyncio
import signal
import threading
from opcode import opmap
from traceback import walk_tb

from harbor._core.actions import BundleBid, Say
from harbor._core.asks import Answer, Ask, Pause, Unreadable
from harbor._core.errors import CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused
from harbor._core.events import SeatFailed
from harbor._core.parsing import scrub
from harbor._core.redaction import redact
from harbor._house.watchdog import Overdue

READY = "I am ready."
LONGEST_DETAIL = 500
PLACED = "at line "
"""How the note of an error begins that tells where it was raised; those of frameworks have ids, new in every run."""
FATAL = (CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused)
"""Errors that break the auction off: to go on would lose a paid call or a needed memory, or make a result of a fault.

It can be resumed once they are mended. From an agent or a policy of any make they are errors like all others.
"""


def in_words(answer: Answer | str | None, ask: Ask | Pause) -> str:
    """Put what a player answered in words; a pause needs no answer.

    Raises:
        TypeError: it is neither an answer nor words.
    """
    if answer is None:
        return READY
    if isinstance(answer, str):
        return scrub(answer)
    if not isinstance(answer, Answer):
        raise TypeError(f"{type(answer).__name__} is no answer; give an action, such as a Bid, or words")
    return ask.space.say(answer) if isinstance(ask, Ask) else answer.words


def without_keys(words: str, ask: Ask | Pause | None) -> str:
    """Give words as they are heard and logged: without API keys.

    Words with a key in them are put as what they mean, so that hiding a key changes no answer: a bid stands even if
    its amount is a piece of a key, and what is no bid does not become one.

    Args:
        words: what was said.
        ask: what was asked; None: not known, so that what looks like a key is hidden whatever it means.
    """
    hidden = redact(words)
    if hidden == words or not isinstance(ask, Ask):
        return hidden
    meant = ask.space.read(words, ask.item)
    is_free = isinstance(meant, Say | Unreadable) or (isinstance(meant, BundleBid) and ask.space.refusal(meant))
    return redact(ask.space.say(meant)) if is_free else ask.space.say(meant)


def failed(bidder: str, error: BaseException) -> SeatFailed:
    """Give the event of a seat whose player raised an error."""
    if isinstance(error, asyncio.CancelledError):
        return SeatFailed(bidder, "error", "cancelled itself")
    return SeatFailed(bidder, "error", redact(_shown(error)[: 4 * LONGEST_DETAIL])[:LONGEST_DETAIL])


def held_up(bidder: str, seconds: float) -> SeatFailed:
    """Give the event of a seat whose player did not give the thread back in its time."""
    return SeatFailed(bidder, "timeout", f"no answer within {seconds:g} s, and nobody else could go on meanwhile")


def is_not_theirs(error: BaseException) -> bool:
    """Tell what no player can be blamed for, though it came out of its code: Ctrl-C, and the end of its time."""
    return isinstance(error, Overdue) or (isinstance(error, KeyboardInterrupt) and _is_pressed(error))


def _shown(error: BaseException) -> str:
    try:
        notes = [note for note in getattr(error, "__notes__", ()) if str(note).startswith(PLACED)]
        return ", ".join([f"{type(error).__name__}: {error}", *notes])
    except BaseException as worse:  # how an error shows itself is code of the player's too
        if is_not_theirs(worse):
            raise
        return "an error that can't be shown"


def _is_pressed(error: KeyboardInterrupt) -> bool:
    """Tell Ctrl-C from a KeyboardInterrupt of a player's: it comes from the handler of its signal, in the main thread.

    Python's own handler, which is there where no event loop runs, leaves no trace; then Ctrl-C comes between two
    instructions, and only a plain `raise` is told from it.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = getattr(signal.getsignal(signal.SIGINT), "func", signal.getsignal(signal.SIGINT))
    if (code := getattr(handler, "__code__", None)) is not None:
        return any(frame.f_code is code for frame, _ in walk_tb(error.__traceback__))
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is None or last.tb_frame.f_code.co_code[last.tb_lasti] != opmap["RAISE_VARARGS"]
