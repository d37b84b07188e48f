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
    """The result of a resident.

    `days_lived` counts the days at whose end the resident was alive, and `days_served` the days on which it got water.
    `health` (in points) and `balance` (in dollars) are those at the end of the game.
    """

    bidder: str
    persona: str | None
    survived: bool
    days_lived: int
    days_served: int
    health: int
    balance: Decimal


@dataclass(frozen=True, slots=True)
class Day:
    """The result of a day.

    `supply` is the number of units of water, `served` the residents that got water, and `lowest_bid` the lowest bid
    of these residents in dollars (None: nobody got water).
    """

    name: str
    supply: int
    served: tuple[str, ...]
    lowest_bid: Decimal | None


@dataclass(frozen=True, slots=True)
class Point:
    """A resident's day: its bid in dollars (None: it made no bid), and its health and balance at the end of the day."""

    day: int
    bid: Decimal | None
    health: int
    balance: Decimal


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """The resource satisfaction rate: the expected daily supply divided by the sum of the residents' daily needs.

    `at_start` is over all residents, and `at_end` over the survivors (None: nobody survived). If the rate is at most 1,
    residents compete for water.
    """

    at_start: float
    at_end: float | None


def standings(entries: Sequence[Entry]) -> list[ResidentStanding]:
    """Rank the residents: survivors first, then by days lived, health and balance.

    Residents that are equal in all of these are in seat order.
    """
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
    """List the results of the days that are over."""
    return [
        Day(day.closed.item, day.supply, day.closed.served, min(day.prices, default=None)) for day in _past(entries)
    ]


def _past(entries: Sequence[Entry]) -> Iterator[PastDay]:
    return past_days(entry.event for entry in entries)


def curves(entries: Sequence[Entry]) -> dict[str, list[Point]]:
    """Return the bid, health and balance of each resident for each day that it began alive."""
    points: dict[str, list[Point]] = {}
    for number, day in enumerate(_past(entries), start=1):
        for name, status in day.closed.statuses.items():
            points.setdefault(name, []).append(Point(number, day.bids[name], status.health, status.balance))
    return points


def satisfaction(entries: Sequence[Entry]) -> Satisfaction | None:
    """Return the resource satisfaction rates of a game; None if the game never began."""
    opened = next(iter(of_type(entries, WaterOpened)), None)
    if opened is None:
        return None
    closed = of_type(entries, DayClosed)
    last: dict[str, Status] = {name: status for day in closed for name, status in day.statuses.items()}
    left = sum(need for name, need in opened.needs.items() if name not in last or last[name].health)
    return Satisfaction(opened.mean_supply / sum(opened.needs.values()), opened.mean_supply / left if left else None)


def figures(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the number of survivors, and the resource satisfaction rates at the start and at the end.

    A rate that does not exist is left out.
    """
    rate = satisfaction(entries)
    rates = {"rsr_start": rate.at_start, "rsr_end": rate.at_end} if rate else {}
    known = {name: value for name, value in rates.items() if value is not None}
    return {"survivors": sum(row.survived for row in standings(entries)), **known}


def over(entries: Sequence[Entry]) -> bool:
    """Return whether the game has ended: the last day is over, or no resident is alive."""
    closed = of_type(entries, DayClosed)
    (length,) = {opened.days for opened in of_type(entries, WaterOpened)}
    return bool(closed) and (len(closed) == length or not any(row.survived for row in standings(entries)))
