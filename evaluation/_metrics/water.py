"""The Water Allocation Challenge: who survived, how scarce water was, which bids were served.

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


@_metric("lowest successful bid of a day", "dollars", "skewed", least=0)
def lowest_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Lowest successful bid of each day (`at`), dollars. Source: Alympics, sec. 4.4 and 5."""
    return [
        measured(name, day.lowest_bid, at=number, missing="nobody was served")
        for number, day in enumerate(days(entries), start=1)
    ]


@_metric("bid of a resident on a day", "dollars", "skewed", least=0)
def water_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Bid of each living resident on each day (`at`), dollars; one above its balance counts as it was announced.

    Source: Alympics, Fig. 7.
    """
    return _by_day(name, entries, lambda point: point.bid)


@_metric("health of a resident after a day", "health", least=0, most=MOST_HEALTH)
def health(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Health points of each resident at the end of each day (`at`) while it lived, 0 on its last.

    Source: Alympics, sec. 3 and 5.
    """
    return _by_day(name, entries, lambda point: point.health)


@_metric("money of a resident after a day", "dollars", "skewed", least=0)
def balance(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars of each resident at the end of each day (`at`) while it lived. Source: Alympics, sec. 3 and 5."""
    return _by_day(name, entries, lambda point: point.balance)


def _by_day(name: str, entries: Sequence[Entry], value: Callable[[Point], Decimal | int | None]) -> list[Measurement]:
    return [
        measured(name, value(point), bidder, at=point.day, missing="no bid")
        for bidder, life in curves(entries).items()
        for point in life
    ]
