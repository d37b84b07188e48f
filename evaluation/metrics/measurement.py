"""What a metric is: a log in, measurements out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from harbor.log import Entry

Unit = Literal["dollars", "share", "count", "rank", "nats", "number", "health", "tokens", "correlation"]
Spread = Literal["mean", "skewed", "binary"]
"""How values of a metric spread over games, which says how their interval is made: t, bootstrap, or Wilson."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number measured of one game.

    `bidder` is whose it is ("": the whole game's), `about` what it is about (a rival, an item, a bin), and
    `at` the place in the game, from 1 (an item, a day, a run, an auction; None: the whole of it). A `value` of None is
    missing, and `missing` says why.
    """

    metric: str
    value: float | None
    bidder: str = ""
    about: str = ""
    at: int | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: what it says, its unit, how it spreads over games; `measure` documents its formula and source."""

    says: str
    unit: Unit
    measure: Callable[[str, Sequence[Entry]], list[Measurement]]
    spread: Spread = "mean"
