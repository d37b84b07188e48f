"""The Water Allocation Challenge: who survived, how scarce water was, which bids were served.

Source: Alympics (Mao et al. 2024), sec. 4.2 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from harbor._core.events import BidderLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.water.rules import DayClosed, DayOpened, Status, WaterOpened
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric

_metric = partial(metric, game="water game", no_data="no day is over yet")

BROKE_OFF = "the game broke off before its last day"


@dataclass(frozen=True, slots=True)
class ResidentStanding:
    """How a resident fared: days lived through (its last one not), days served, health and dollars at the end."""

    bidder: str
    persona: str | None
    survived: bool
    days_lived: int
    days_served: int
    health: int
    balance: Decimal


@dataclass(frozen=True, slots=True)
class Day:
    """How a day went: units of supply, who was served, and the lowest successful bid in dollars (None: none)."""

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

    `at_start` counts everyone, `at_end` the survivors (None: there are none). Up to 1 there is competition.
    """

    at_start: float
    at_end: float | None


def standings(entries: Sequence[Entry]) -> list[ResidentStanding]:
    """Rank the residents: survivors first, then by days lived, health and balance; equals are in seat order."""
    lives = curves(entries)
    days = of_type(entries, DayClosed)
    rows = []
    for label in of_type(entries, BidderLabelled):
        life = lives.get(label.bidder, [])
        health, balance = (life[-1].health, life[-1].balance) if life else (0, Decimal(0))
        served = sum(label.bidder in day.served for day in days)
        lived = sum(point.health > 0 for point in life)
        persona = " + ".join(label.personas) or None
        rows.append(ResidentStanding(label.bidder, persona, health > 0, lived, served, health, balance))
    return sorted(rows, key=lambda row: (-row.survived, -row.days_lived, -row.health, -row.balance))


def days(entries: Sequence[Entry]) -> list[Day]:
    """List the days that were closed."""
    supply = {day.item: day.supply for day in of_type(entries, DayOpened)}
    return [
        Day(day.item, supply[day.item], day.served, min((paid(day, name) for name in day.served), default=None))
        for day in of_type(entries, DayClosed)
    ]


def curves(entries: Sequence[Entry]) -> dict[str, list[Point]]:
    """Give bid, health and balance of each resident, day by day while it lived."""
    points: dict[str, list[Point]] = {}
    for number, day in enumerate(of_type(entries, DayClosed), start=1):
        for name, status in day.statuses.items():
            points.setdefault(name, []).append(Point(number, day.bids[name], status.health, status.balance))
    return points


def satisfaction(entries: Sequence[Entry]) -> Satisfaction | None:
    """Give RSR_S and RSR_E; None where the game never began."""
    opened = next(iter(of_type(entries, WaterOpened)), None)
    if opened is None:
        return None
    closed = of_type(entries, DayClosed)
    last: dict[str, Status] = {name: status for day in closed for name, status in day.statuses.items()}
    left = sum(need for name, need in opened.needs.items() if name not in last or last[name].health)
    return Satisfaction(opened.mean_supply / sum(opened.needs.values()), opened.mean_supply / left if left else None)


def figures(entries: Sequence[Entry]) -> dict[str, float]:
    """Give the figures of a game: survivors (a count) and the two resource satisfaction rates, where there are."""
    rate = satisfaction(entries)
    found: dict[str, float] = {"survivors": sum(row.survived for row in standings(entries))}
    if rate is not None:
        found["rsr_start"] = rate.at_start
        if rate.at_end is not None:
            found["rsr_end"] = rate.at_end
    return found


def paid(day: DayClosed, name: str) -> Decimal:
    """Give the bid of a resident that was served."""
    return day.bids[name] or Decimal(0)


def over(entries: Sequence[Entry]) -> bool:
    """Tell whether the game came to its end: the last day is closed, or nobody is left."""
    closed = of_type(entries, DayClosed)
    (length,) = {opened.days for opened in of_type(entries, WaterOpened)}
    return bool(closed) and (len(closed) == length or not any(row.survived for row in standings(entries)))


@_metric("whether a resident survived", "share", "binary")
def survived(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Whether each resident was alive when the game ended: 1 or 0; its mean over games is the survival rate.

    Source: Alympics, sec. 4.4, Table 2.
    """
    ended = over(entries)
    fates = {row.bidder: row.survived if ended or not row.survived else None for row in _fates(entries)}
    return by_bidder(name, fates, BROKE_OFF)


@_metric("days that a resident lived through", "count", "skewed")
def days_lived(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of days that each resident lived through; its last one does not count. Source: Alympics, sec. 4.4."""
    return by_bidder(name, {row.bidder: row.days_lived for row in _fates(entries)})


def _fates(entries: Sequence[Entry]) -> list[ResidentStanding]:
    """Give the standings, but none before the first day is over: nothing is known of the residents then."""
    return standings(entries) if of_type(entries, DayClosed) else []


@_metric("residents that survived", "count")
def survivors(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of residents alive when the game ended, N_survivor. Source: Alympics, sec. 4.4, Table 2."""
    count = sum(row.survived for row in standings(entries)) if over(entries) else None
    return [measured(name, count, missing=BROKE_OFF)]


@_metric("resource satisfaction rate at the start", "number")
def rsr_start(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """RSR_S: expected supply of a day over the needs of all residents, a ratio. Source: Alympics, sec. 4.2, eq. 2."""
    rate = satisfaction(entries)
    return [Measurement(name, rate.at_start)] if rate else []


@_metric("resource satisfaction rate at the end", "number", "skewed")
def rsr_end(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """RSR_E: expected supply of a day over the needs of the survivors, a ratio. Source: Alympics, sec. 4.2, eq. 2."""
    rate = satisfaction(entries)
    value = rate.at_end if rate and over(entries) else None
    return [measured(name, value, missing="nobody survived" if over(entries) else BROKE_OFF)]


@_metric("lowest successful bid of a day", "dollars", "skewed")
def lowest_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Lowest successful bid of each day (`at`), dollars. Source: Alympics, sec. 4.4 and 5."""
    return [
        measured(name, day.lowest_bid, at=number, missing="nobody was served")
        for number, day in enumerate(days(entries), start=1)
    ]


@_metric("bid of a resident on a day", "dollars", "skewed")
def water_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Bid of each living resident on each day (`at`), dollars; one above its balance counts as it was announced.

    Source: Alympics, Fig. 7.
    """
    return _by_day(name, entries, lambda point: point.bid)


@_metric("health of a resident after a day", "health")
def health(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Health points of each resident at the end of each day (`at`) while it lived, 0 on its last.

    Source: Alympics, sec. 3 and 5.
    """
    return _by_day(name, entries, lambda point: point.health)


@_metric("money of a resident after a day", "dollars", "skewed")
def balance(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars of each resident at the end of each day (`at`) while it lived. Source: Alympics, sec. 3 and 5."""
    return _by_day(name, entries, lambda point: point.balance)


def _by_day(name: str, entries: Sequence[Entry], value: Callable[[Point], Decimal | int | None]) -> list[Measurement]:
    return [
        measured(name, value(point), bidder, at=point.day, missing="no bid")
        for bidder, life in curves(entries).items()
        for point in life
    ]
