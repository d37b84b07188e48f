"""What a player of a game with prompts of its own has observed: who it is, what it concluded, and all that it saw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from harbor._core.events import BidderSeated, Event
from harbor._core.thoughts import Expected, Planned
from harbor._games.game import Outlook, Seen, no_outlook


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a player knows; what it makes of the events it has `seen`, its game says.

    `expected` is what it expects each rival to bid next, in the unit of the game. `notes` are what nodes of its own
    tell its later prompts, by node. `outlook` is how the game looks ahead.
    """

    name: str = ""
    personas: Mapping[str, float] = field(default_factory=dict)
    plan: str = ""
    expected: Mapping[str, Decimal] = field(default_factory=dict)
    seen: tuple[Event, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    outlook: Callable[[str, Seen], Outlook] = no_outlook

    @property
    def rivals(self) -> tuple[str, ...]:
        """The rivals whose next action is worth a forecast."""
        return self.outlook(self.name, self.seen).rivals

    @property
    def goes_on(self) -> bool:
        """Whether it will act again."""
        return self.outlook(self.name, self.seen).goes_on

    def after(self, events: Iterable[Event]) -> SessionView:
        """Give the view after these events."""
        news = tuple(events)
        view = replace(self, seen=(*self.seen, *news))
        for event in news:
            view = view._note(event)
        return view

    def _note(self, event: Event) -> SessionView:
        match event:
            case BidderSeated():
                return replace(self, name=event.bidder, personas=event.personas)
            case Planned(text=text):
                return replace(self, plan=text)
            case Expected(bids=bids):
                return replace(self, expected=bids)
            case _:
                return self
