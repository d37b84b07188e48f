"""Measuring a log by metrics, which anybody's package can bring; one that fails costs no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from harbor._core.errors import ConfigError, told
from harbor._core.finding import everything, find
from harbor._core.log import is_public
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.measurement import Measurement, Metric

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
    return [found for name in names for found in _measured(name, metric_of(name), entries)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """Name the installed metrics that fit the game of a log; one that can't be loaded is warned of and left out."""
    return [one.name for one in everything("metric") if _fits(one.value, entries)]


def _measured(name: str, metric: Metric, entries: Sequence[Entry]) -> list[Measurement]:
    if is_public(entries) and not metric.public:
        return [Measurement(name, None, missing=PRIVATE)]
    if not _fits(metric, entries):
        return [Measurement(name, None, missing=f"the log is of another game: it has no {metric.of.__name__}")]
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


def _fits(metric: Metric, entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry.event, metric.of) for entry in entries)
