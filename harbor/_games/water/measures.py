"""The measures of the water game: survivors, scarcity of water, served bids.

Source: Alympics (Mao et al. 2024), sec. 4.2 and 4.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.log.events import BidderLabelled
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.water.play import PastDay, past_days
from harbor._games.water.rules import DayClosed, Status, WaterOpened


@dataclass(frozen=True, slots=True)
class ResidentStanding:
    """A resident's result: days survived, days with water, and final health and dollars."""

    bidder: str
    persona: str | None
    survived: bool
    days_lived: int
    days_served: int
    health: int
    balance: Decimal


@dataclass(frozen=True, slots=True)
class Day:
    """The result of a day: units of supply, served residents, lowest served bid in dollars (None: nobody served)."""

    name: str
    supply: int
    served: tuple[str, ...]
    lowest_bid: Decimal | None


@dataclass(frozen=True, slots=True)
class Point:
    """A resident's day: its bid in dollars (None: none), and health and balance at the day's end."""

    day: int
    bid: Decimal | None
    health: int
    balance: Decimal


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """The resource satisfaction rate: expected supply of a day over the sum of the needs of the living.

    `at_start` counts everyone, `at_end` the survivors (None: there are none). A rate of at most 1 means competition.
    """

    at_start: float
    at_end: float | None


def standings(entries: Sequence[Entry]) -> list[ResidentStanding]:
    """Rank the residents: survivors first, then by days lived, health and balance; equals are in seat order."""
    lives = curves(entries)
    days = Counter(name for day in of_type(entries, DayClosed) for name in day.served)
    rows = []
    for bidder, persona in _residents(entries).items():
        life = lives.get(bidder, [])
        health, balance = (life[-1].health, life[-1].balance) if life else (0, Decimal(0))
        lived = sum(point.health > 0 for point in life)
        rows.append(ResidentStanding(bidder, persona, health > 0, lived, days[bidder], health, balance))
    return sorted(rows, key=lambda row: (-row.survived, -row.days_lived, -row.health, -row.balance))


def _residents(entries: Sequence[Entry]) -> dict[str, str | None]:
    """Return the residents in seat order with their personas; from a public log, without personas."""
    labelled = {label.bidder: " + ".join(label.personas) or None for label in of_type(entries, BidderLabelled)}
    return labelled or {bidder: None for opened in of_type(entries, WaterOpened) for bidder in opened.needs}


def days(entries: Sequence[Entry]) -> list[Day]:
    """List the days that were closed."""
    return [
        Day(day.closed.item, day.supply, day.closed.served, min(day.prices, default=None)) for day in _past(entries)
    ]


def _past(entries: Sequence[Entry]) -> Iterator[PastDay]:
    return past_days(entry.event for entry in entries)


def curves(entries: Sequence[Entry]) -> dict[str, list[Point]]:
    """Return bid, health and balance of each resident, day by day while it lived."""
    points: dict[str, list[Point]] = {}
    for number, day in enumerate(_past(entries), start=1):
        for name, status in day.closed.statuses.items():
            points.setdefault(name, []).append(Point(number, day.bids[name], status.health, status.balance))
    return points


def satisfaction(entries: Sequence[Entry]) -> Satisfaction | None:
    """Return RSR_S and RSR_E; None if the game never began."""
    opened = next(iter(of_type(entries, WaterOpened)), None)
    if opened is None:
        return None
    closed = of_type(entries, DayClosed)
    last: dict[str, Status] = {name: status for day in closed for name, status in day.statuses.items()}
    left = sum(need for name, need in opened.needs.items() if name not in last or last[name].health)
    return Satisfaction(opened.mean_supply / sum(opened.needs.values()), opened.mean_supply / left if left else None)


def figures(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the number of survivors and the two resource satisfaction rates, as far as they exist."""
    rate = satisfaction(entries)
    rates = {"rsr_start": rate.at_start, "rsr_end": rate.at_end} if rate else {}
    known = {name: value for name, value in rates.items() if value is not None}
    return {"survivors": sum(row.survived for row in standings(entries)), **known}


def over(entries: Sequence[Entry]) -> bool:
    """Return whether the game has ended: the last day is closed, or nobody is left."""
    closed = of_type(entries, DayClosed)
    (length,) = {opened.days for opened in of_type(entries, WaterOpened)}
    return bool(closed) and (len(closed) == length or not any(row.survived for row in standings(entries)))
