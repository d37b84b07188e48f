"""What a player gives back, as the auctioneer hears it: words, or the failure of its seat."""

from __future__ import annotations

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.errors import CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused
from harbor._core.events import SeatFailed
from harbor._core.parsing import scrub
from harbor._core.redaction import redact

READY = "I am ready."
LONGEST_DETAIL = 500
FATAL = (CodeError, MemoryStoreError, ModelError, RunFolderError, RunPaused)
"""Errors that break the auction off: to go on would lose a paid call or a needed memory, or make a result of a fault.

It can be resumed once they are mended.
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


def failed(bidder: str, error: BaseException) -> SeatFailed:
    """Give the event of a seat whose player raised an error."""
    return SeatFailed(bidder, "error", redact(f"{type(error).__name__}: {error}")[:LONGEST_DETAIL])
