"""A metric takes a log and gives measurements; any package can bring one, and one that fails costs no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, SupportsFloat, TypedDict, Unpack, get_args

from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.redaction import told
from harbor._core.log.events import (
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    Event,
    Listed,
    LogOpened,
    SaleClosed,
    SharedEvent,
)
from harbor._core.log.log import is_public
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.extensions import API, part
from harbor._core.plugins.finding import everything, find
from harbor._games.game import Game, game_of

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


ALWAYS = (LogOpened, BidderLabelled, BidderSeated, BiddersAsked, SaleClosed)
"""What the house writes in each log."""
PRIVATE = "it needs private events, and this log has public ones alone"
"""Why a metric is missing of a public log."""
ROUNDING = 1e-9
"""How far a value may lie outside the bounds of its unit, as sums of shares do."""


def metric_of(name: str) -> Metric:
    """Give the metric of a name, or of a reference that was followed before.

    Raises:
        ConfigError: there is none; the message names the nearest.
    """
    found: Metric = find("metric", name)
    return found


def metric_or_none(name: str) -> Metric | None:
    """Give a metric, or None for a name of something else: a correlation ("a ~ b"), or trueskill."""
    try:
        return None if "~" in name else metric_of(name)
    except ConfigError:
        return None


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log, by the metrics of these names.

    A metric that fails, one of another game, or one with nothing to measure, gives one missing measurement with the
    reason.

    Raises:
        ConfigError: a metric is unknown.
    """
    kinds = kinds_in(entries)
    return [found for name in names for found in _measured(name, metric_of(name), entries, kinds)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """Name the installed metrics that fit the game of a log; one that can't be loaded is warned of and left out."""
    return [name for name, why in fits(kinds_in(entries)).items() if not why]


def fits(kinds: Collection[type[Event]]) -> dict[str, str]:
    """Say, of each installed metric, why it does not fit a game with these events; empty where it does."""
    return {one.name: _misfit(one.value, kinds) for one in everything("metric")}


def kinds_of(game: Game) -> set[type[Event]]:
    """Give the events that a log of a game has."""
    return {*ALWAYS, *game.events}


def kinds_in(entries: Sequence[Entry]) -> set[type[Event]]:
    """Give the kinds of events in a log, and those that its game may yet write: who never sells has no revenue."""
    found = {type(entry.event) for entry in entries}
    with suppress(HarborError):  # it names no game, or one whose package is missing
        game = game_of(entries[:1])
        found |= set(game.events) if game.opening in found else set()
    return found


def _measured(name: str, metric: Metric, entries: Sequence[Entry], kinds: Collection[type[Event]]) -> list[Measurement]:
    if is_public(entries) and (not metric.public or _is_shared(metric, kinds)):
        return [Measurement(name, None, missing=PRIVATE)]
    if why := _misfit(metric, kinds):
        return [Measurement(name, None, missing=f"the log is of another game: {why}")]
    try:
        found = list(metric.measure(name, entries))
        wrong = next(filter(None, (_fault(name, metric, one) for one in found)), "")
    except (Exception, SystemExit) as error:  # a stranger's function may raise anything; it costs no other metric
        wrong = told(error)
    if wrong:
        return [Measurement(name, None, missing=f"the metric failed ({wrong})")]
    return found or [Measurement(name, None, missing=metric.no_data)]


def _fault(name: str, metric: Metric, one: object) -> str:
    """Say what is wrong with what a metric gave; empty if nothing is. Tables and intervals rely on it."""
    if not isinstance(one, Measurement):
        return f"it gave {one!r}, and no Measurement"
    if one.metric != name:
        return f"it measured {one.metric!r} under the name {name!r}"
    labels: tuple[object, ...] = (one.bidder, one.about)
    place: object = one.at
    if not (all(isinstance(label, str) for label in labels) and isinstance(place, int | None)):
        return f"it measured of {one.bidder!r} about {one.about!r} at {one.at!r}, where texts and a whole number belong"
    if one.value is None:
        return "" if one.missing else "it gave a missing value without a reason"
    if not isinstance(one.value, int | float) or not isfinite(one.value):
        return f"it gave {one.value!r}, and no number"
    least, most = metric.bounds
    if not least - ROUNDING <= one.value <= most + ROUNDING:
        return f"it gave {one.value!r}, and no {metric.unit}"
    return f"it gave {one.value!r}, neither 0 nor 1" if metric.interval == "binary" and one.value not in (0, 1) else ""


def _misfit(metric: Metric, kinds: Collection[type[Event]]) -> str:
    """Say what a game with these events lacks; empty if nothing."""
    if any(issubclass(kind, metric.kinds) for kind in kinds):
        return ""
    return f"it has no {metric.wanted}"


def _is_shared(metric: Metric, kinds: Collection[type[Event]]) -> bool:
    """Say whether what a metric is measured of may be told to some seats alone in a game with these events."""
    return any(issubclass(kind, SharedEvent) and issubclass(kind, metric.kinds) for kind in kinds)
