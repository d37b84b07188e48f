"""A sale in progress: the rules, the log, and what each bidder has seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Generic, TypeVar, overload

from harbor._core.asks import Action, Ask
from harbor._core.errors import of_strangers
from harbor._core.events import ANALYST, EVERYONE, Event
from harbor._core.log import Log
from harbor._games.mechanism import Mechanism

S = TypeVar("S")


class Seen(Sequence[Event]):
    """What one bidder has seen, in order, to read only.

    It is never copied, and grows as the sale goes on: take what a moment has shown with `tuple(seen)`.
    """

    __slots__ = ("_events", "_heard")

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._heard = 0

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        return self._events[place]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __reversed__(self) -> Iterator[Event]:
        return reversed(self._events)

    def _hear(self, public: list[Event]) -> None:
        if self._heard < len(public):
            self._events += public[self._heard :]
            self._heard = len(public)

    def _hear_alone(self, public: list[Event], private: Event) -> None:
        self._hear(public)
        self._events.append(private)


class Sale(Generic[S]):
    """The log, the state of the rules folded from it, and the part of the log that each bidder may see."""

    def __init__(self, rules: Mechanism[S], bidders: Sequence[str], log: Log, ties: Random) -> None:
        self.rules = rules
        self.bidders = tuple(bidders)
        self.log = log
        self.state = rules.start()
        self._ties = ties
        self._public: list[Event] = []
        self._seen = {name: Seen() for name in bidders}

    def record(self, event: Event) -> None:
        """Write an event to the log and fold it. Nothing else changes a sale."""
        self.log.append(event)
        self.state = self.rules.apply(self.state, event)
        audience = event.audience
        if audience == EVERYONE:
            self._public.append(event)  # bidders catch up when they are asked, so it costs the same for any number
        elif audience != ANALYST:
            self._seen[audience.removeprefix("bidder:")]._hear_alone(self._public, event)

    def asks(self) -> Sequence[Ask]:
        """Give the asks of this moment; none before the sale opens and after its end."""
        return self.rules.asks(self.state)

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Record what follows from the actions of everyone asked; without actions, open the sale."""
        events = of_strangers("the rules: settle", lambda: self.rules.settle(self.state, actions, self._ties))
        for event in events:
            self.record(event)
        return events

    def seen_by(self, bidder: str) -> Seen:
        """Give the part of the log that a bidder may see, in order; ask again for what has happened since."""
        seen = self._seen[bidder]
        seen._hear(self._public)
        return seen
