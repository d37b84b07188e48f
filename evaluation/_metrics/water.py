"""Metrics of the Water Allocation Challenge: survivors, scarcity of water, and served bids.

Source: Alympics (Mao et al. 2024), sec. 4.2 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial

from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.water.measures import Point, ResidentStanding, curves, days, over, satisfaction, standings
from harbor._games.water.rules import MOST_HEALTH, DayClosed, WaterOpened
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric

_metric = partial(metric, of=WaterOpened, no_data="no day is over yet", place="day", public=True)

BROKE_OFF = "the game broke off before its last day"


@_metric("whether a resident survived", "share", "binary")
def survived(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure whether each resident was alive when the game ended: 1 if so, else 0.

    The mean over games is the survival rate. If the game broke off, the value is missing for residents still alive.

    Source: Alympics, sec. 4.4, Table 2.
    """
    ended = over(entries)
    fates = {row.bidder: row.survived if ended or not row.survived else None for row in _fates(entries)}
    return by_bidder(name, fates, BROKE_OFF)


@_metric("days that a resident lived through", "count", "skewed")
def days_lived(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the days that each resident survived; the day of its death does not count.

    Source: Alympics, sec. 4.4.
    """
    return by_bidder(name, {row.bidder: row.days_lived for row in _fates(entries)})


def _fates(entries: Sequence[Entry]) -> list[ResidentStanding]:
    """Return the standings; no standings before the first day is over."""
    return standings(entries) if of_type(entries, DayClosed) else []


@_metric("residents that survived", "count")
def survivors(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the residents that were alive when the game ended (the source's N_survivor); missing if it broke off.

    Source: Alympics, sec. 4.4, Table 2.
    """
    count = sum(row.survived for row in standings(entries)) if over(entries) else None
    return [measured(name, count, missing=BROKE_OFF)]


@_metric("resource satisfaction rate at the start", "number")
def rsr_start(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the resource satisfaction rate RSR_S: the expected daily supply divided by the daily needs of everyone.

    Source: Alympics, sec. 4.2, eq. 2.
    """
    rate = satisfaction(entries)
    return [Measurement(name, rate.at_start)] if rate else []


@_metric("resource satisfaction rate at the end", "number", "skewed")
def rsr_end(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the resource satisfaction rate RSR_E: the expected daily supply divided by the needs of the survivors.

    The rate is missing if nobody survived, or if the game broke off.

    Source: Alympics, sec. 4.2, eq. 2.
    """
    rate = satisfaction(entries)
    value = rate.at_end if rate and over(entries) else None
    return [measured(name, value, missing="nobody survived" if over(entries) else BROKE_OFF)]


@_metric("lowest successful bid of a day", "dollars", "skewed", least=0)
def lowest_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the lowest bid of each day that was served with water, in dollars; `at` is the number of the day.

    The value is missing for a day on which nobody was served.

    Source: Alympics, sec. 4.4 and 5.
    """
    return [
        measured(name, day.lowest_bid, at=number, missing="nobody was served")
        for number, day in enumerate(days(entries), start=1)
    ]


@_metric("bid of a resident on a day", "dollars", "skewed", least=0)
def water_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the bid of each living resident on each day, in dollars; `at` is the number of the day.

    A bid above the resident's balance counts with its full public amount.

    Source: Alympics, Fig. 7.
    """
    return _by_day(name, entries, lambda point: point.bid)


@_metric("health of a resident after a day", "health", least=0, most=MOST_HEALTH)
def health(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the health points of each resident at the end of each day that it began alive.

    `at` is the number of the day. On the day of its death, a resident has 0 points.

    Source: Alympics, sec. 3 and 5.
    """
    return _by_day(name, entries, lambda point: point.health)


@_metric("money of a resident after a day", "dollars", "skewed", least=0)
def balance(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars of each living resident at the end of each day; `at` is the number of the day.

    Source: Alympics, sec. 3 and 5.
    """
    return _by_day(name, entries, lambda point: point.balance)


def _by_day(name: str, entries: Sequence[Entry], value: Callable[[Point], Decimal | int | None]) -> list[Measurement]:
    return [
        measured(name, value(point), bidder, at=point.day, missing="no bid")
        for bidder, life in curves(entries).items()
        for point in life
    ]
