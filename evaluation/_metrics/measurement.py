"""What a metric is: a log in, measurements out; one value, as an extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, SupportsFloat, TypedDict, Unpack, get_args

from harbor._core.events import Event, Listed
from harbor._core.extensions import API, part
from harbor._core.log_lines import Entry

Unit = str
"""A word, such as dollars, share (of a whole), ratio (any number), count, rank or nats; a metric may bring its own."""
Bounds = tuple[float, float]
"""The least and the greatest value that is possible."""
UNBOUNDED: Bounds = (-inf, inf)
BOUNDS: dict[Unit, Bounds] = {
    "share": (0, 1),
    "rank": (1, inf),
    "priority": (1, 3),
    "count": (0, inf),
    "tokens": (0, inf),
    "nats": (0, inf),
    "brier": (0, 2),
}
"""The least and the greatest possible value of a unit; values of other units have no bounds."""
Interval = Literal["mean", "skewed", "binary"]
"""How the interval of a mean over games is made: by t, by two kinds of t for skewed values, by Wilson for 0 and 1."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number measured of one game.

    `bidder` is whose it is ("": the game's), `about` its subject (a rival, an item, a bin), and `at` its place in the
    game, counted from 1 (of an item, a day, a run, an auction; None: the whole game). If `value` is None, `missing`
    says why; a missing value is never 0. `counted` is what a share is of, where that was counted: how many answers,
    fields or runs.
    """

    metric: str
    value: float | None
    bidder: str = ""
    about: str = ""
    at: int | None = None
    missing: str = ""
    counted: int | None = None


Better = Literal["", "higher", "lower"]
Kinds = type[Event] | tuple[type[Event], ...]
"""A kind of event, or several of which one will do."""
Measure = Callable[[str, Sequence[Entry]], list[Measurement]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, as an extension: its name, what it measures, its unit, and how its values are distributed over games.

    The docstring of `measure` gives its formula and source. `of` is the event that opens what it can be measured of, or
    those of which a game that it measures has one; `no_data` is the reason given where there was nothing to measure,
    and `place` what a place (`at`) is in such a game.
    `least` and `most` bound the values of a metric whose unit has no bounds: prices from 0 on. `shared`: what one
    bidder has more of, others have less, as of ranks; then a mean over bidders that never varies is not shown.
    `public`: public events tell all that it needs, so it is measured of a public log too; any other is missing there,
    and never 0. `better`: whether a higher or a lower value is the better one for a bidder, so that a table can mark
    the best; empty where neither is.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it measures, in one line")
    unit: Unit = part("the unit of its values, such as 'dollars', 'share' or 'number'")
    measure: Measure = part("the function that measures a log")
    interval: Interval = "mean"
    of: Kinds = Listed
    no_data: str = "the log has nothing to measure"
    place: str = "item"
    api: int = API
    least: float = -inf
    shared: bool = False
    public: bool = False
    most: float = inf
    better: Better = ""

    @property
    def bounds(self) -> Bounds:
        """The least and the greatest possible value: those of its unit, or else its own."""
        return BOUNDS.get(self.unit, (self.least, self.most))

    @property
    def kinds(self) -> tuple[type[Event], ...]:
        """The kinds of events of which a game that it measures has one."""
        return self.of if isinstance(self.of, tuple) else (self.of,)

    @property
    def wanted(self) -> str:
        """These kinds in words."""
        return " or ".join(kind.__name__ for kind in self.kinds)

    def complaint(self) -> str:
        """Refuse what is no kind of event, and an interval that nobody knows how to make."""
        kinds: tuple[object, ...] = self.kinds
        if not kinds or not all(isinstance(kind, type) for kind in kinds):
            return f"has of {self.of!r}, which is no kind of event; give one, or a tuple of some"
        if self.interval in (known := get_args(Interval)):
            return ""
        return f"has the interval {self.interval!r}; choose one of: {', '.join(known)}"


class FurtherFields(TypedDict, total=False):
    """The fields of a `Metric` that have a default."""

    of: Kinds
    no_data: str
    place: str
    api: int
    least: float
    shared: bool
    public: bool
    most: float
    better: Better


def metric(
    description: str, unit: Unit, interval: Interval = "mean", *, name: str = "", **fields: Unpack[FurtherFields]
) -> Callable[[Measure], Metric]:
    """Make a metric of a function; it is called `name`, by default as the function, and `fields` are of `Metric`."""
    return lambda measure: Metric(name or measure.__name__, description, unit, measure, interval, **fields)


def measured(
    metric: str,
    value: SupportsFloat | None,
    bidder: str = "",
    *,
    at: int | None = None,
    missing: str = "",
    counted: int | None = None,
) -> Measurement:
    """Make a measurement of a number, or of None, for which `missing` is the reason."""
    if value is None:
        return Measurement(metric, None, bidder, at=at, missing=missing)
    return Measurement(metric, float(value), bidder, at=at, counted=counted)


def by_bidder(metric: str, values: Mapping[str, SupportsFloat | None], missing: str = "") -> list[Measurement]:
    """Give one measurement per bidder; `missing` is the reason where a value is None."""
    return [measured(metric, value, bidder, missing=missing) for bidder, value in values.items()]


def shares_by_bidder(metric: str, found: Mapping[str, int], of: Mapping[str, int], missing: str) -> list[Measurement]:
    """Give the share that was found of what was counted of each bidder; `missing` is the reason where nothing was."""
    return [
        measured(metric, found.get(bidder, 0) / count if count else None, bidder, missing=missing, counted=count)
        for bidder, count in of.items()
    ]
