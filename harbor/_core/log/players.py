"""The interface of a bidder's player, the reply of its seat, and a buffer of its thoughts until the log has them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from harbor._core.asking.asks import Answer, Ask, Pause
from harbor._core.log.events import Event, EventSink, SeatFailed

AGENT = "agent"
"""The purpose, in the log, of model calls that an agent reports; also their model, if the agent names none."""


class Player(Protocol):
    """The interface of everything that plays a bidder: a graph, a scripted policy or a person."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask, given the events that the bidder has seen; at a pause, return None.

        An answer in words is read by the ask's action space.
        """
        ...


class Policy(ABC):
    """The base class of scripted players, which decide only from an ask and the events that their bidder has seen.

    `drawn` is a text for the log about the random draws that were made when the policy was created; it is empty if
    there were none.

    >>> class Pass(Policy):
    ...     def decide(self, ask, seen): return Withdraw()
    >>> Pass().decide(Ask("Ann", "Harbor View", 1, Amount(Decimal(1), Decimal(9))), [])
    Withdraw(reason='declined', offered=None)
    """

    drawn: str = ""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Return the answer of `decide` to an ask; return None at a pause, when nothing is asked."""
        return self.decide(ask, seen) if isinstance(ask, Ask) else None

    @abstractmethod
    def decide(self, ask: Ask, seen: Sequence[Event]) -> Answer | str:
        """Return the answer to an ask, as an action or in words.

        `seen` are the events that the bidder has seen, in order.
        """


class SeatReply(NamedTuple):
    """The reply of a seat: its words, the events noted while it thought, and its failure if it failed.

    `answer` is the meaning of the words if it is known, so that they need not be read; else None.
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
        """Begin a thought; return the sink for its events."""
        thought: list[Event] = []
        self._thoughts.append(thought)
        return thought.append

    def take(self) -> tuple[Event, ...]:
        """Return all noted events and empty the buffer."""
        thoughts, self._thoughts = self._thoughts, []
        return tuple(event for thought in thoughts for event in thought)
