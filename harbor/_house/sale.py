"""A sale in progress: the rules, the log, and what each bidder has seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Generic, TypeVar, overload

from harbor._core.asks import Action, Ask
from harbor._core.errors import ConfigError, of_strangers
from harbor._core.events import EVERYONE, Event, PublicEvent, SharedEvent
from harbor._core.log import Log
from harbor._core.log_lines import seats_of
from harbor._games.chance import Chance, Draw, Told, kind_of
from harbor._games.mechanism import Mechanism, Shown, acts_of

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
    """The log, the state of the rules folded from it, and the part of the log that each bidder may see.

    Args:
        rules: of the game.
        bidders: in seat order.
        log: takes what happens.
        ties: the stream that the rules draw from (None: `told` says what was drawn).
        acts: whether everyone learns at once what a bidder did, or its bidder alone.
        draws: whether everyone learns what nature drew, or the analyst alone.
        told: gives the next draw that a log tells.
    """

    def __init__(
        self,
        rules: Mechanism[S],
        bidders: Sequence[str],
        log: Log,
        ties: Random | None,
        acts: Shown = "sealed",
        draws: Shown = "sealed",
        told: Told = lambda: None,
    ) -> None:
        self.rules = rules
        self.bidders = tuple(bidders)
        self.log = log
        self.state = rules.start()
        self._acts, self._draws = acts, draws
        self._drawn: list[Draw] = []
        self._chance = Chance(ties, self._drawn.append, told, kind_of(draws))
        self._public: list[Event] = []
        self._seen = {name: Seen() for name in bidders}

    def record(self, *events: Event) -> None:
        """Write events to the log and fold them. Nothing else changes a sale."""
        append, apply, public = self.log.append, self.rules.apply, self._public
        for event in events:
            is_public = isinstance(event, PublicEvent) and event.audience == EVERYONE
            alone = () if is_public else self._alone(event)
            append(event)
            self.state = apply(self.state, event)
            if is_public:
                public.append(event)  # bidders catch up when they are asked, so it costs the same for any number
            for seen in alone:
                seen._hear_alone(public, event)

    def _alone(self, event: Event) -> Sequence[Seen]:
        """Give what those have seen who alone learn of an event.

        Raises:
            ConfigError: its seats are not of bidders, each named once.
        """
        seats = seats_of(event)
        if len(self._seen.keys() & seats) < (len(seats) or isinstance(event, SharedEvent)):
            named = f"the rules tell {type(event).__name__} to {seats!r}"
            raise ConfigError(f"{named}; name bidders, each once, and not the house: {', '.join(self.bidders)}")
        return [self._seen[name] for name in seats]

    def asks(self) -> Sequence[Ask]:
        """Give the asks of this moment; none before the sale opens and after its end."""
        return self.rules.asks(self.state)

    def act(self, asks: Sequence[Ask], actions: Mapping[str, Action]) -> None:
        """Record what everyone of a turn did, in the order of these asks, which are those that were answered."""
        self.record(*acts_of(asks, actions, self._acts))

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Record what nature draws, and what follows from the actions of everyone asked; without actions, open."""
        events = of_strangers("the rules: settle", lambda: self.rules.settle(self.state, actions, self._chance))
        self.record(*self._drawn, *events)
        self._drawn.clear()
        return events

    def seen_by(self, bidder: str) -> Seen:
        """Give the part of the log that a bidder may see, in order; ask again for what has happened since."""
        seen = self._seen[bidder]
        seen._hear(self._public)
        return seen
