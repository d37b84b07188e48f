"""A metric takes a log and returns measurements; any package can bring a metric.

If a metric fails, its measurement is missing with the reason, and the other metrics are measured all the same.
"""

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
"""The unit of a metric, such as dollars, share (of a whole), ratio (any number), count, rank or nats.

A metric may name a unit of its own.
"""
Bounds = tuple[float, float]
"""The least and the greatest possible value."""
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
"""The least and the greatest possible value in each unit; other units have no bounds."""
Interval = Literal["mean", "skewed", "binary"]
"""The kind of values of a metric, which decides how the interval of their mean over games is computed.

"mean": by Student's t. "skewed": the wider of Student's t and Hall's t. "binary", for values of 0 and 1: by Wilson.
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number measured in one game.

    `metric` is the name of the metric. `bidder` names the bidder that was measured ("": the number is about the game).
    `about` names the rival, item or bin that the number is about ("": none). `at` is the position, counted from 1, of
    the item, day, run or auction that was measured (None: the whole game). `value` is None, and never 0, if the number
    is missing; `missing` is then the reason. `counted` is the denominator of a share, such as a number of answers or
    runs (None: not told).

    >>> Measurement("revenue", 150.0)
    Measurement(metric='revenue', value=150.0, bidder='', about='', at=None, missing='', counted=None)
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
"""One kind of event, or several kinds; a metric can measure a game that has any of them."""
Measure = Callable[[str, Sequence[Entry]], list[Measurement]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, as an extension: its name, description and unit, and the function that measures a log.

    The docstring of `measure` tells the formula and the source. `interval` is the kind of the values, which decides how
    the interval of their mean over games is computed. `of` is a kind of event, or a tuple of kinds: a game can be
    measured if it has an event of such a kind. `no_data` is the reason given if `measure` returns nothing for a log.
    `place` names what the field `at` of a measurement numbers: items, days, runs, auctions or bins. `least` and `most`
    bound the values if the unit has no bounds; prices, for instance, start at 0.

    `shared` means that a gain of one bidder is a loss of others, as with ranks; if the mean over all bidders then never
    varies, tables leave it out. `public` means that the metric needs only public events, so that public logs are
    measured too; in a public log, other metrics are missing, and never 0. `better` says whether a bidder prefers
    "higher" or "lower" values, so that a table can mark the best value ("": neither).

    >>> metric("bids in a game", "count")(lambda name, entries: []).bounds
    (0, inf)
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
        """The least and the greatest possible value: those of the unit, or `least` and `most` if the unit has none."""
        return BOUNDS.get(self.unit, (self.least, self.most))

    @property
    def kinds(self) -> tuple[type[Event], ...]:
        """The kinds of events in `of`, as a tuple; a game can be measured if it has an event of one of these kinds."""
        return self.of if isinstance(self.of, tuple) else (self.of,)

    @property
    def wanted(self) -> str:
        """The names of the kinds of events in `kinds`, joined by "or"."""
        return " or ".join(kind.__name__ for kind in self.kinds)

    def complaint(self) -> str:
        """Say how to mend the kinds of events or the interval of the metric; empty if nothing is wrong."""
        kinds: tuple[object, ...] = self.kinds
        if not kinds or not all(isinstance(kind, type) for kind in kinds):
            return f"has of {self.of!r}, which is no kind of event; give one, or a tuple of some"
        if self.interval in (known := get_args(Interval)):
            return ""
        return f"has the interval {self.interval!r}; choose one of: {', '.join(known)}"


class FurtherFields(TypedDict, total=False):
    """The fields of a `Metric` that have defaults."""

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
    """Return a decorator that turns a function into a metric.

    The function gets the name of the metric and the entries of a log, and returns measurements. The metric has the name
    of the function unless `name` is given. `fields` are further fields of `Metric`.

    >>> metric("bids in a game", "count", name="all_bids")(lambda name, entries: []).name
    'all_bids'
    """
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
    """Return a measurement with this value; if `value` is None, the measurement is missing, for the reason `missing`.

    >>> measured("price", Decimal(150), at=1).value
    150.0
    """
    if value is None:
        return Measurement(metric, None, bidder, at=at, missing=missing)
    return Measurement(metric, float(value), bidder, at=at, counted=counted)


def by_bidder(metric: str, values: Mapping[str, SupportsFloat | None], missing: str = "") -> list[Measurement]:
    """Return one measurement per bidder. A value of None is recorded as missing, for the reason in `missing`.

    >>> [(one.bidder, one.value) for one in by_bidder("profit", {"Ann": 150, "Ben": None}, "it won nothing")]
    [('Ann', 150.0), ('Ben', None)]
    """
    return [measured(metric, value, bidder, missing=missing) for bidder, value in values.items()]


def shares_by_bidder(metric: str, found: Mapping[str, int], of: Mapping[str, int], missing: str) -> list[Measurement]:
    """Divide `found` by `of` for each bidder; if `of` is 0, the share is missing, for the reason `missing`."""
    return [
        measured(metric, found.get(bidder, 0) / count if count else None, bidder, missing=missing, counted=count)
        for bidder, count in of.items()
    ]


ALWAYS = (LogOpened, BidderLabelled, BidderSeated, BiddersAsked, SaleClosed)
"""Events that the house writes in each log."""
PRIVATE = "it needs private events, and this log has public ones alone"
"""Reason for a missing metric of a public log."""
ROUNDING = 1e-9
"""How far a value may lie beyond the bounds of its metric, because sums of shares have rounding errors."""


def metric_of(name: str) -> Metric:
    """Return the metric with this name, or with this reference ("package.module:NAME") if it was loaded before.

    Raises:
        ConfigError: there is none; the message names the nearest name.
    """
    found: Metric = find("metric", name)
    return found


def metric_or_none(name: str) -> Metric | None:
    """Return the metric with this name; None if no metric has it.

    A correlation ("a ~ b") and a rating ("trueskill"), for instance, are named like metrics, but are none.
    """
    try:
        return None if "~" in name else metric_of(name)
    except ConfigError:
        return None


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log by the metrics with these names.

    A metric that fails, fits other games only, or finds nothing gives one missing measurement with the reason.

    Raises:
        ConfigError: a metric is unknown.
    """
    kinds = kinds_in(entries)
    return [found for name in names for found in _measured(name, metric_of(name), entries, kinds)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """List the names of the installed metrics that can measure the game of a log.

    A metric that can't be loaded is left out, with a warning.
    """
    return [name for name, why in fits(kinds_in(entries)).items() if not why]


def fits(kinds: Collection[type[Event]]) -> dict[str, str]:
    """Map each installed metric to the reason why it can't measure a game with these events ("": it can)."""
    return {one.name: _misfit(one.value, kinds) for one in everything("metric")}


def kinds_of(game: Game) -> set[type[Event]]:
    """Return the kinds of events that a log of a game can have."""
    return {*ALWAYS, *game.events}


def kinds_in(entries: Sequence[Entry]) -> set[type[Event]]:
    """Return the kinds of events in a log, and those that its game may still write, such as a first sale.

    If the package of the game is missing, only the kinds in the log are returned.
    """
    found = {type(entry.event) for entry in entries}
    with suppress(HarborError):  # the log names no game, or the package is missing
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
    except (Exception, SystemExit) as error:  # a stranger's function may raise anything; others go on
        wrong = told(error)
    if wrong:
        return [Measurement(name, None, missing=f"the metric failed ({wrong})")]
    return found or [Measurement(name, None, missing=metric.no_data)]


def _fault(name: str, metric: Metric, one: object) -> str:
    """Say what is wrong with a result of a metric; empty if nothing is. Tables and intervals rely on this check."""
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
    """Say which kinds of events a game lacks for this metric; empty if the game has one of them."""
    if any(issubclass(kind, metric.kinds) for kind in kinds):
        return ""
    return f"it has no {metric.wanted}"


def _is_shared(metric: Metric, kinds: Collection[type[Event]]) -> bool:
    """Return whether a metric measures, in a game with these events, events that only some seats may see."""
    return any(issubclass(kind, SharedEvent) and issubclass(kind, metric.kinds) for kind in kinds)
