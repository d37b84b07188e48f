"""A watchdog interrupts a player that holds its thread too long; the player's result becomes words or a failure.

Agents and policies share a thread with every other seat, so a player that never gives it back (`while True: pass`)
would end the sale. The watchdog's own thread looks at the open steps and raises `Overdue` in those that last too long.
Code that runs in C, such as `time.sleep`, can't be interrupted: it is overdue when it returns. The same thread updates
`running_seconds`, which times all this.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from opcode import opmap
from traceback import walk_tb
from typing import Any, TypeVar

from harbor._core.asking.asks import Answer, Ask, Pause, Unreadable
from harbor._core.basics.actions import BundleBid, Say, scrub
from harbor._core.basics.errors import CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused
from harbor._core.basics.loops import look, look_away, running_seconds
from harbor._core.basics.redaction import redact
from harbor._core.log.events import SeatFailed

T = TypeVar("T")
GRACE_SECONDS = 0.1
"""Seconds in which a player that ran out of time has to clean up and record its calls."""
ROUND_SECONDS = 0.02
"""Seconds between two looks at the open steps and the clock."""
AGAIN_SECONDS = 1.0
"""Seconds until a step that swallowed its interruption is interrupted again."""
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)


class Overdue(BaseException):
    """A player's code has held its thread beyond the player's time."""


_OPEN: dict[int, Step] = {}
"""The innermost open step, by thread."""
_TIMED: set[object] = set()
"""Keys of the blocks inside `timed`."""
_SOME = threading.Event()  # set while steps or timed blocks are open


@contextmanager
def timed() -> Iterator[None]:
    """Keep `running_seconds` from counting pauses of the process inside the block."""
    key = object()
    _TIMED.add(key)
    if not _SOME.is_set():
        _wake()
    try:
        yield
    finally:
        _TIMED.remove(key)


class Step:
    """A piece of a player's code that holds the thread, for at most `limit` seconds."""

    __slots__ = ("_interrupt_at", "_interrupted", "_interrupting", "_soonest", "_thread", "_until")

    def __init__(self, limit: float) -> None:
        if not _SOME.is_set():
            _wake()
        self._soonest = time.monotonic() + limit
        self._until = self._interrupt_at = running_seconds() + limit
        self._interrupted = self._interrupting = False

    @property
    def late(self) -> bool:
        """Say whether the step took too long."""
        if time.monotonic() <= self._soonest:  # the clock without pauses goes no faster, and costs more to read
            return self._interrupted
        return self._interrupted or running_seconds() > self._until

    def run(self, call: Callable[..., T], *arguments: Any) -> T:
        """Run the code.

        Raises:
            Overdue: the code was interrupted and did not catch the interruption.
        """
        thread = self._thread = threading.get_ident()
        outer = _OPEN.get(thread)
        try:
            _OPEN[thread] = self  # from here it may be interrupted, so our code takes no lock until it is closed
            return call(*arguments)
        finally:
            while True:  # an interruption may come even here; then start again
                try:
                    if outer is None:
                        _OPEN.pop(thread, None)
                    else:
                        _OPEN[thread] = outer
                    if self._interrupting or self._interrupted:
                        self._take_back()
                    break
                except Overdue:
                    pass

    def _take_back(self) -> None:
        """Wait for an interruption that is under way, and cancel it if it has not come."""
        while self._interrupting:
            time.sleep(0)
        _raise_in(self._thread, ctypes.py_object())  # NULL

    def look(self, now: float) -> None:
        """Interrupt the step if it lasts too long."""
        if now < self._interrupt_at:
            return
        self._interrupt_at = now + AGAIN_SECONDS
        self._interrupting = True  # set before the check for an open step, because `run` does these in reverse order
        if _OPEN.get(self._thread) is self:
            self._interrupted = True
            _raise_in(self._thread, Overdue)
        self._interrupting = False


class _Watchdog(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="harbor-watchdog", daemon=True)

    def run(self) -> None:
        while True:
            _SOME.wait(AGAIN_SECONDS)  # not for ever, because `_rest` may clear it just as a step opens
            time.sleep(ROUND_SECONDS)
            if not (_OPEN or _TIMED):
                _rest()
                continue
            look(self.native_id or 0)
            for step in _OPEN.copy().values():
                step.look(running_seconds())


_dog = _Watchdog()


def _rest() -> None:
    look_away()
    _SOME.clear()
    if _OPEN or _TIMED:  # a step has just begun
        _wake()


def _wake() -> None:
    if _dog.ident is None:
        _dog.start()
    look(_dog.native_id or 0)
    _SOME.set()


def _renew() -> None:
    """Start anew in a forked process, because threads stay behind and locks keep their state."""
    global _dog, _SOME
    _dog, _SOME = _Watchdog(), threading.Event()
    _OPEN.clear()
    _TIMED.clear()
    look_away()


os.register_at_fork(after_in_child=_renew)


READY = "I am ready."  # words for a pause, which needs no answer
LONGEST_DETAIL = 500  # characters of an error in a `SeatFailed`
PLACED = "at line "
"""Start of an error's note that tells its place. Frameworks' notes have new ids in every run, so they are dropped."""
FATAL = (CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused)
"""Errors that break the auction off: going on would lose a paid call or a needed memory, or make a fault a result.

The auction can be resumed once they are fixed. From an agent or a policy they are errors like all others.
"""


def in_words(answer: Answer | str | None, ask: Ask | Pause) -> str:
    """Put a player's answer in words; a pause needs no answer.

    Raises:
        TypeError: the value is neither an answer nor words.
    """
    if answer is None:
        return READY
    if isinstance(answer, str):
        return scrub(answer)
    if not isinstance(answer, Answer):
        raise TypeError(f"{type(answer).__name__} is no answer; give an action, such as a Bid, or words")
    return ask.space.say(answer) if isinstance(ask, Ask) else answer.words


def without_keys(words: str, ask: Ask | Pause | None) -> str:
    """Return words as they are heard and logged, without API keys.

    Words with a key are replaced by their meaning, so that hiding a key changes no answer: a bid stands even if its
    amount is a part of a key, and other words do not become a bid.

    Args:
        words: the player's words.
        ask: the question; None if it is unknown, so that all text that looks like a key is hidden.
    """
    hidden = redact(words)
    if hidden == words or not isinstance(ask, Ask):
        return hidden
    meant = ask.space.read(words, ask.item)
    is_free = isinstance(meant, Say | Unreadable) or (isinstance(meant, BundleBid) and ask.space.refusal(meant))
    return redact(ask.space.say(meant)) if is_free else ask.space.say(meant)


def failed(bidder: str, error: BaseException) -> SeatFailed:
    """Return the event of a seat whose player raised an error."""
    if isinstance(error, asyncio.CancelledError):
        return SeatFailed(bidder, "error", "cancelled itself")
    return SeatFailed(bidder, "error", redact(_shown(error)[: 4 * LONGEST_DETAIL])[:LONGEST_DETAIL])


def held_up(bidder: str, seconds: float) -> SeatFailed:
    """Return the event of a seat whose player did not give the thread back in time."""
    return SeatFailed(bidder, "timeout", f"no answer within {seconds:g} s, and nobody else could go on meanwhile")


def is_not_theirs(error: BaseException) -> bool:
    """Say whether an error from a player's code is not the player's fault: Ctrl-C, or the end of its time."""
    return isinstance(error, Overdue) or (isinstance(error, KeyboardInterrupt) and _is_pressed(error))


def _shown(error: BaseException) -> str:
    try:
        notes = [note for note in getattr(error, "__notes__", ()) if str(note).startswith(PLACED)]
        return ", ".join([f"{type(error).__name__}: {error}", *notes])
    except BaseException as worse:  # an error's own text is the player's code too
        if is_not_theirs(worse):
            raise
        return "an error that can't be shown"


def _is_pressed(error: KeyboardInterrupt) -> bool:
    """Distinguish Ctrl-C from a player's KeyboardInterrupt: Ctrl-C comes from its signal handler in the main thread.

    Python's own handler, which is set if no event loop runs, leaves no trace. Then Ctrl-C comes between two
    instructions, and only a plain `raise` can be distinguished from it.
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
