"""What each seat was told in one game, in order, and what it said; and what everyone was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, NamedTuple

from harbor._core.acts import Acted, ActedSealed, Tried
from harbor._core.asks import Action, Ask
from harbor._core.events import EVERYONE, BiddersAsked, Event, Paused, SaleClosed, SeatFailed, ThoughtFailed
from harbor._core.log_lines import Entry, seats_of
from harbor._games.chance import Chance

Channel = Literal["prompt", "message", "ask", "event", "memory", "error", "order", "page", "answer"]
"""The ways over which a seat is told something; "order": two things come in another order. A "page" shows what it was
told, and an "answer" is what it says itself."""
OF_THE_HOUSE = (BiddersAsked, Paused, SaleClosed)
"""The public events that no rules give: the house writes them."""


class Place(NamedTuple):
    """An ask, by which the answers of two games are matched."""

    item: str
    round: int
    attempt: int

    @classmethod
    def of(cls, ask: Ask) -> Place:
        """Give the place of an ask."""
        return cls(ask.item, ask.round, ask.attempt)


class Told(NamedTuple):
    """One thing that a seat was told: the channel, the words, and after how many public events and settlements."""

    channel: Channel
    text: str
    public: int
    settled: int


class Happened(NamedTuple):
    """An event of any audience, and after how many public events and settlements it came."""

    event: Event
    public: int
    settled: int


class Settled(NamedTuple):
    """A settlement of the rules: the state, the actions, the state of chance, and the place of each action's ask."""

    state: Any
    actions: Mapping[str, Action]
    chance: tuple[Any, ...]
    places: Mapping[str, Place]

    def again(self, rules: Any, actions: Mapping[str, Action]) -> list[Event]:
        """Settle other actions in the same state, with equal chance."""
        source = Random()
        source.setstate(self.chance)
        events: list[Event] = rules.settle(self.state, actions, Chance(source))
        return events


class Parted(Exception):
    """What is public has gone another way: there is nothing more to compare."""


@dataclass
class Tape:
    """One game as its seats were told it.

    `like` is what was public in the game that this one is compared with: the tape stops this game soon after the first
    difference. `said` has the words of each bidder by place (None: its seat failed), and `failed` the places where they
    were no legal answer. `parted` is the number of public events from which on an answer could not be the same,
    `parted_at` that of settlements, and `differs` the first public event that is not as in the other game.
    """

    like: Sequence[Event] | None = None
    public: list[Event] = field(default_factory=list)
    log: list[Happened] = field(default_factory=list)
    told: dict[str, list[Told]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, dict[Place, str | None]] = field(default_factory=lambda: defaultdict(dict))
    asks: dict[str, dict[Place, Ask]] = field(default_factory=lambda: defaultdict(dict))
    failed: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    settled: list[Settled] = field(default_factory=list)
    parted: int | None = None
    parted_at: int | None = None
    differs: int | None = None
    is_asking: bool = False

    def tell(self, bidder: str, channel: Channel, text: str, settled: int | None = None) -> None:
        """Note what a seat is told, after all settlements or after so many."""
        after = len(self.settled) if settled is None else settled
        self.told[bidder].append(Told(channel, text, len(self.public), after))

    def hear(self, entry: Entry) -> None:
        """Note an event of the log; it listens to it.

        Raises:
            Parted: what is public differs from the other game, and that part of it is over.
        """
        event = entry.event
        self.is_asking = self.is_asking or isinstance(event, BiddersAsked)
        settled = len(self.settled) + (self.is_asking and isinstance(event, Acted | ActedSealed))
        self.log.append(Happened(event, len(self.public), settled))
        if isinstance(event, Tried):
            self.failed[event.bidder].add(Place(event.item, event.round, event.attempt))
        if isinstance(event, SeatFailed | ThoughtFailed):
            self.tell(event.bidder, "error", event.detail)
        elif event.audience == EVERYONE:
            self._publish(event)
        for seat in seats_of(event):
            # `repr` and not equality: the order of what is in a table is told too.
            self.tell(seat, "event", repr(event), settled)

    def settled_at(self, public: int) -> int:
        """Give the settlement from which the public event of this number followed."""
        return next(one.settled for one in self.log if one.public == public and one.event.audience == EVERYONE)

    def settle(self, state: Any, actions: Mapping[str, Action], chance: Chance) -> None:
        """Note what is settled, before it is."""
        self.is_asking = False
        places = {name: list(self.said[name])[-1] for name in actions if self.said[name]}
        self.settled.append(Settled(state, dict(actions), chance.getstate(), places))

    def _publish(self, event: Event) -> None:
        place = len(self.public)
        self.public.append(event)
        if self.like is None:
            return
        if self.differs is None and (place >= len(self.like) or repr(self.like[place]) != repr(event)):
            self.differs = place
        if self.differs is not None and isinstance(event, OF_THE_HOUSE):
            raise Parted
