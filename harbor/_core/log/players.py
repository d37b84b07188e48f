"""Every player of a bidder offers this, its seat replies this, and its thoughts are kept until the log has them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from harbor._core.asking.asks import Answer, Ask, Pause
from harbor._core.log.events import Event, EventSink, SeatFailed

AGENT = "agent"
"""The purpose, in the log, of calls that an agent of any make tells of; and their model, where it does not name it."""


class Player(Protocol):
    """What plays a bidder: a graph, a scripted policy or a person."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer the auctioneer, knowing only what this bidder has seen; words are parsed; a pause needs no answer."""
        ...


class Policy(ABC):
    """A scripted player: a pure function of what it is asked and what it has seen.

    `drawn` says what was drawn for it when it was made, for the log; empty: nothing.
    """

    drawn: str = ""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask; a pause needs no thought."""
        return self.decide(ask, seen) if isinstance(ask, Ask) else None

    @abstractmethod
    def decide(self, ask: Ask, seen: Sequence[Event]) -> Answer | str:
        """Choose an answer, which may be words."""


class SeatReply(NamedTuple):
    """The reply of a seat: its words, the events noted while it thought, and its failure if it failed.

    `answer` is what the words mean, where that is known and they need not be read.
    """

    words: str = ""
    notes: tuple[Event, ...] = ()
    failure: SeatFailed | None = None
    answer: Answer | None = None


class EventBuffer:
    """The events that one bidder notes in one turn, in the order in which its thoughts began.

    Thoughts run in parallel and end in any order. The order in which they begin does not depend on how fast a model
    is, so equal seeds give equal logs.
    """

    def __init__(self) -> None:
        self._thoughts: list[list[Event]] = []

    def begin(self) -> EventSink:
        """Begin a thought; give the sink for its events."""
        thought: list[Event] = []
        self._thoughts.append(thought)
        return thought.append

    def take(self) -> tuple[Event, ...]:
        """Give all noted events and empty the buffer."""
        thoughts, self._thoughts = self._thoughts, []
        return tuple(event for thought in thoughts for event in thought)
