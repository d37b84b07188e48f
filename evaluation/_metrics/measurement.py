"""What a metric is: a log in, measurements out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from harbor._core.log_lines import Entry

Unit = Literal[
    "dollars", "share", "ratio", "count", "rank", "priority", "nats", "number", "health", "tokens", "correlation"
]
"""A share is of a whole; a ratio may be any number."""
BOUNDS: dict[Unit, tuple[float, float]] = {
    "share": (0, 1),
    "rank": (1, inf),
    "priority": (1, 3),
    "count": (0, inf),
    "tokens": (0, inf),
    "nats": (0, inf),
}
"""The least and the greatest value of a unit; others have none."""
Interval = Literal["mean", "skewed", "binary"]
"""How values of a metric spread over games, which says how their interval is made: t, bootstrap, or Wilson."""

GameKind = Literal["ascending auction", "water game", "session", "series", "game"]
"""What a metric can be measured of; a "game" is any but a series, whose log tells of its games in brief only."""


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


Measure = Callable[[str, Sequence[Entry]], list[Measurement]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name: what it describes, its unit, and how its values spread over games.

    The docstring of `measure` gives its formula and source. `game` is what can be measured by it, and `no_data` is the
    reason that is given where a game offered nothing to measure.
    """

    name: str
    description: str
    unit: Unit
    measure: Measure
    interval: Interval
    game: GameKind
    no_data: str


def metric(
    description: str,
    unit: Unit,
    interval: Interval = "mean",
    *,
    game: GameKind = "ascending auction",
    no_data: str = "the log has nothing to measure",
    name: str = "",
) -> Callable[[Measure], Metric]:
    """Make a metric of a function from a name and a log to measurements; it is called `name`, or as the function."""
    return lambda measure: Metric(name or measure.__name__, description, unit, measure, interval, game, no_data)


def by_bidder(metric: str, values: Mapping[str, float | None], missing: str = "") -> list[Measurement]:
    """Give a measurement for each bidder; `missing` is the reason where a value is None."""
    return [
        Measurement(metric, value, bidder, missing="" if value is not None else missing)
        for bidder, value in values.items()
    ]
