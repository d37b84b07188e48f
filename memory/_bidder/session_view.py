"""What a player has observed of a game of days or runs: a fold over the events it has seen, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from harbor._core.events import BidderSeated, BidderWithdrew, Event, LotClosed, PublicEvent
from harbor._core.thoughts import Expected, Planned
from harbor._games.sessions.private_values import ValueDrawn
from harbor._games.sessions.session import RunClosed, RunOpened, RunSettled, SessionOpened
from harbor._games.water.rules import DayClosed, DayOpened, WaterOpened


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a player knows: who it is, which game was opened, what came of each day or run, and what is open now.

    `values` are what the items of the runs are worth to it; `out` names who has dropped out of this run; `expected` is
    what it expects each rival to bid next, in the unit of the game.
    """

    name: str = ""
    personas: Mapping[str, float] = field(default_factory=dict)
    opened: PublicEvent | None = None
    supply: int = 0
    values: tuple[ValueDrawn, ...] = ()
    out: tuple[str, ...] = ()
    closed: tuple[LotClosed, ...] = ()
    supplies: tuple[int, ...] = ()
    settled: tuple[RunSettled, ...] = ()
    plan: str = ""
    expected: Mapping[str, Decimal] = field(default_factory=dict)

    def after(self, events: Iterable[Event]) -> SessionView:
        """Give the view after these events."""
        view = self
        for event in events:
            view = view._note(event)
        return view

    @property
    def players(self) -> tuple[str, ...]:
        """Everybody, in seat order."""
        match self.opened:
            case WaterOpened(needs=needs):
                return tuple(needs)
            case SessionOpened(bidders=bidders):
                return bidders
            case _:
                return ()

    @property
    def rivals(self) -> tuple[str, ...]:
        """Everybody else who is still in the game, in seat order."""
        return tuple(name for name in self.players if name != self.name and self._plays_on(name))

    @property
    def shown(self) -> bool:
        """Whether it is shown what others did in the run or day that has just closed."""
        last = self.closed[-1] if self.closed else None
        if isinstance(last, RunClosed) and isinstance(self.opened, SessionOpened):
            return bool(last.actions) and self.opened.history > 0
        return last is not None

    @property
    def goes_on(self) -> bool:
        """Whether there is a day or run to come for this player."""
        match self.opened:
            case WaterOpened(days=days):
                return self._plays_on(self.name) and len(self.closed) < days
            case SessionOpened(runs=runs):
                return len(self.closed) < runs
            case _:
                return False

    def _plays_on(self, name: str) -> bool:
        """Say whether a player is still in the game: alive, in the water game."""
        last = self.closed[-1] if self.closed else None
        return not isinstance(last, DayClosed) or (name in last.statuses and last.statuses[name].health > 0)

    def _note(self, event: Event) -> SessionView:
        match event:
            case LotClosed():
                return replace(self, closed=(*self.closed, event), supplies=(*self.supplies, self.supply))
            case DayOpened(supply=supply):
                return replace(self, supply=supply)
            case RunOpened():
                return replace(self, out=())
            case ValueDrawn():
                return replace(self, values=(*self.values, event))
            case BidderWithdrew(bidder=bidder):
                return replace(self, out=(*self.out, bidder))
            case RunSettled():
                return replace(self, settled=(*self.settled, event))
            case Planned(text=text):
                return replace(self, plan=text)
            case Expected(bids=bids):
                return replace(self, expected=bids)
            case WaterOpened() | SessionOpened():
                return replace(self, opened=event)
            case BidderSeated():
                return replace(self, name=event.bidder, personas=event.personas)
            case _:
                return self
