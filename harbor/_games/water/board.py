"""What the water game shows at a moment: the day and its supply, and how each resident is; all of it is public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from harbor._core.events import Event, SaleClosed
from harbor._core.money import dollars
from harbor._games.board import Rows, Shown, doing
from harbor._games.drawn import Mark, Picture
from harbor._games.water.days import Days, PastDay
from harbor._games.water.rules import HEALTH_AT_FIRST, DayClosed, DayOpened, Status, WaterOpened

COLUMNS = ("bidder", "now", "needs", "earns", "health", "balance", "dry day costs")
PICTURES = (
    Picture("health", "Health", x="day", y="health", scale="number"),
    Picture("offers", "Bids by day", x="day", y="bid"),
    Picture("water", "Supply, and the needs that were served", x="day", y="units", scale="number"),
    Picture("money", "Money", x="day", y="balance"),
)


class WaterBoard:
    """The residents, as everyone sees them."""

    pictures = PICTURES

    def __init__(self) -> None:
        self._days = self._day = 0
        self._days_past = Days()
        self._past: PastDay | None = None
        self._needs: Mapping[str, int] = {}
        self._headline = self._state = ""
        self._salaries: Mapping[str, Decimal] = {}
        self._statuses: dict[str, Status] = {}
        self._rows = Rows(COLUMNS)

    def note(self, event: Event) -> None:
        """Take one event in."""
        day = self._past = self._days_past.note(event)
        self._rows.put("now", doing(event))
        match event:
            case WaterOpened(needs=needs, salaries=salaries, days=days):
                self._needs, self._salaries, self._days = needs, salaries, days
                self._rows.seat(needs)
                self._rows.put("needs", {name: str(need) for name, need in needs.items()})
                self._rows.put("earns", {name: dollars(salary) for name, salary in salaries.items()})
                self._change({name: Status(HEALTH_AT_FIRST, Decimal(0), 1) for name in needs})
            case DayOpened(item=item, supply=supply):
                self._day += 1
                self._headline = f"{item.capitalize()} of {self._days}"
                self._state = f"{supply} units of water are supplied"
                self._change({name: self._paid(name, status) for name, status in self._statuses.items()})
            case DayClosed():
                self._rows.put("now", {name: _served(day, name) for name in day.bids} if day else {})
                self._change(event.statuses)
                self._state = f"water for {', '.join(event.served) or 'nobody'}"
            case SaleClosed():
                alive = [name for name, status in self._statuses.items() if status.health]
                self._headline, self._state = "The game is over", f"alive: {', '.join(alive) or 'nobody'}"

    def _paid(self, name: str, status: Status) -> Status:
        return Status(status.health, status.balance + self._salaries[name] * bool(status.health), status.dry)

    def _change(self, statuses: Mapping[str, Status]) -> None:
        self._statuses |= statuses
        self._rows.put("health", {name: str(status.health) for name, status in statuses.items()})
        self._rows.put("balance", {name: dollars(status.balance) for name, status in statuses.items()})
        self._rows.put(
            "dry day costs", {name: str(status.dry) if status.health else "" for name, status in statuses.items()}
        )
        self._rows.put("now", {name: "eliminated" for name, status in statuses.items() if not status.health})

    def marks(self, event: Event) -> Iterator[Mark]:
        """Give the supply of a day, and at its end the bids, who was served, and how all are."""
        match event:
            case DayOpened(supply=supply):
                yield Mark("water", "supply", "supply", "step", supply, self._day)
            case DayClosed(served=served, statuses=statuses):
                for name, bid in self._past.bids.items() if self._past else ():
                    if bid is not None:
                        yield Mark("offers", name, "bid", "point", bid, self._day)
                for name in served:
                    yield Mark("water", name, "need served", "bar", self._needs[name], self._day)
                for name, status in statuses.items():
                    yield Mark("health", name, "health", "line", status.health, self._day)
                    yield Mark("money", name, "balance", "line", status.balance, self._day)

    def shown(self) -> Shown:
        """Give the day and the residents."""
        return self._rows.shown(self._headline, self._state)


def _served(day: PastDay, name: str) -> str:
    bid = day.bids[name]
    if bid is None:
        return "no bid"
    above, served = name in day.over_balance, name in day.closed.served
    return f"bid {dollars(bid)}, {'above its balance' if above else 'served' if served else 'not served'}"
