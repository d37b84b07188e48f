"""What a metric is: a log in, measurements out; one value, as an extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, SupportsFloat, get_args

from harbor._core.events import Event, SaleOpened
from harbor._core.extensions import API, part
from harbor._core.log_lines import Entry

Unit = str
"""A word, such as dollars, share (of a whole), ratio (any number), count, rank or nats; a metric may bring its own."""
BOUNDS: dict[Unit, tuple[float, float]] = {
    "share": (0, 1),
    "rank": (1, inf),
    "priority": (1, 3),
    "count": (0, inf),
    "tokens": (0, inf),
    "nats": (0, inf),
}
"""The least and the greatest possible value of a unit; values of other units have no bounds."""
Interval = Literal["mean", "skewed", "binary"]
"""How the interval of a mean over games is made: by t, by bootstrap for skewed values, by Wilson for 0 and 1."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number measured of one game.

    `bidder` is whose it is ("": the game's), `about` its subject (a rival, an item, a bin), and `at` its place in the
    game, counted from 1 (of an item, a day, a run, an auction; None: the whole game). If `value` is None, `missing`
    says why; a missing value is never 0.
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
    """A metric, as an extension: its name, what it measures, its unit, and how its values are distributed over games.

    The docstring of `measure` gives its formula and source. `of` is the event that opens what it can be measured of,
    `no_data` the reason given where there was nothing to measure, and `place` what a place (`at`) is in such a game.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it measures, in one line")
    unit: Unit = part("the unit of its values, such as 'dollars', 'share' or 'number'")
    measure: Measure = part("the function that measures a log")
    interval: Interval = "mean"
    of: type[Event] = SaleOpened
    no_data: str = "the log has nothing to measure"
    place: str = "item"
    api: int = API

    def complaint(self) -> str:
        """Refuse an interval that nobody knows how to make."""
        if self.interval in (known := get_args(Interval)):
            return ""
        return f"has the interval {self.interval!r}; choose one of: {', '.join(known)}"


def metric(
    description: str,
    unit: Unit,
    interval: Interval = "mean",
    *,
    of: type[Event] = SaleOpened,
    no_data: str = "the log has nothing to measure",
    place: str = "item",
    name: str = "",
    api: int = API,
) -> Callable[[Measure], Metric]:
    """Make a metric of a function; it is called `name`, by default as the function."""
    return lambda measure: Metric(
        name or measure.__name__, description, unit, measure, interval, of, no_data, place, api
    )


def measured(
    metric: str,
    value: SupportsFloat | None,
    bidder: str = "",
    *,
    at: int | None = None,
    missing: str = "",
) -> Measurement:
    """Make a measurement of a number, or of None, for which `missing` is the reason."""
    if value is None:
        return Measurement(metric, None, bidder, at=at, missing=missing)
    return Measurement(metric, float(value), bidder, at=at)


def by_bidder(metric: str, values: Mapping[str, SupportsFloat | None], missing: str = "") -> list[Measurement]:
    """Give one measurement per bidder; `missing` is the reason where a value is None."""
    return [measured(metric, value, bidder, missing=missing) for bidder, value in values.items()]
