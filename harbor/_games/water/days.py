"""The days of the water game that are over, folded from acts and from the end of each day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from harbor._core.acts import Acted
from harbor._core.asks import Action, Bid, Withdraw
from harbor._core.events import Event
from harbor._games.water.rules import DayClosed, DayOpened


class PastDay(NamedTuple):
    """A day: units of supply, each bid in dollars (None: no bid), whose bid was above its balance, and its end."""

    supply: int
    bids: dict[str, Decimal | None]
    over_balance: tuple[str, ...]
    closed: DayClosed

    @property
    def prices(self) -> list[Decimal]:
        """What the residents paid who were served, in dollars."""
        return [self.bids[name] or Decimal(0) for name in self.closed.served]


class Days:
    """A fold over events."""

    def __init__(self) -> None:
        self._supply = 0
        self._acts: dict[str, Action] = {}

    def note(self, event: Event) -> PastDay | None:
        """Take one event in; give the day that it closes."""
        match event:
            case DayOpened(supply=supply):
                self._supply, self._acts = supply, {}
            case Acted(bidder=bidder, act=act):
                self._acts[bidder] = act
            case DayClosed():
                over = tuple(name for name, act in self._acts.items() if isinstance(act, Withdraw) and _bid(act))
                return PastDay(self._supply, {name: _bid(act) for name, act in self._acts.items()}, over, event)
        return None


def _bid(act: Action) -> Decimal | None:
    """Give what was bid, also above the balance."""
    return act.amount if isinstance(act, Bid) else act.offered if isinstance(act, Withdraw) else None


def past_days(events: Iterable[Event]) -> Iterator[PastDay]:
    """Give the days that are over, in order."""
    fold = Days()
    for event in events:
        if (day := fold.note(event)) is not None:
            yield day
