"""What the water game shows at a moment: the day and its supply, and how each resident is; all of it is public."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from harbor._core.events import Event, SaleClosed
from harbor._core.money import dollars
from harbor._games.board import Shown, doing
from harbor._games.water.rules import HEALTH_AT_FIRST, DayClosed, DayOpened, Status, WaterOpened

COLUMNS = ("bidder", "now", "needs", "earns", "health", "balance", "dry day costs")


class WaterBoard:
    """The residents, as everyone sees them."""

    def __init__(self) -> None:
        self._days = self._day = 0
        self._headline = self._state = ""
        self._needs: Mapping[str, int] = {}
        self._salaries: Mapping[str, Decimal] = {}
        self._statuses: dict[str, Status] = {}
        self._now: dict[str, str] = {}

    def note(self, event: Event) -> None:
        """Take one event in."""
        doing(self._now, event)
        match event:
            case WaterOpened(needs=needs, salaries=salaries, days=days):
                self._needs, self._salaries, self._days = needs, salaries, days
                self._statuses = {name: Status(HEALTH_AT_FIRST, Decimal(0), 1) for name in needs}
            case DayOpened(item=item, supply=supply):
                self._headline = f"{item.capitalize()} of {self._days}"
                self._state = f"{supply} units of water are supplied"
                self._statuses = {name: self._paid(name, status) for name, status in self._statuses.items()}
            case DayClosed():
                self._statuses |= event.statuses
                self._now |= {name: _served(event, name) for name in event.bids}
                self._state = f"water for {', '.join(event.served) or 'nobody'}"
            case SaleClosed():
                alive = [name for name, status in self._statuses.items() if status.health]
                self._headline, self._state = "The game is over", f"alive: {', '.join(alive) or 'nobody'}"

    def _paid(self, name: str, status: Status) -> Status:
        return Status(status.health, status.balance + self._salaries[name] * bool(status.health), status.dry)

    def shown(self) -> Shown:
        """Give the day and the residents."""
        return Shown(self._headline, self._state, COLUMNS, tuple(map(self._row, self._statuses)))

    def _row(self, name: str) -> tuple[str, ...]:
        status, lives = self._statuses[name], (str(self._needs[name]), dollars(self._salaries[name]))
        if not status.health:
            return (name, "eliminated", *lives, "0", dollars(status.balance), "")
        return (name, self._now.get(name, ""), *lives, str(status.health), dollars(status.balance), str(status.dry))


def _served(closed: DayClosed, name: str) -> str:
    bid = closed.bids[name]
    if bid is None:
        return "no bid"
    above, served = name in closed.over_balance, name in closed.served
    return f"bid {dollars(bid)}, {'above its balance' if above else 'served' if served else 'not served'}"
