"""The metrics by name; an experiment asks for them by these names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor._core.log_lines import Entry
from harbor.evaluation._metrics import (
    behaviour,
    beliefs,
    bidding,
    calls,
    plans,
    profiling,
    results,
    series,
    sessions,
    strategy,
    water,
)
from harbor.evaluation._metrics.measurement import Measurement, Metric

# The order in which tables list the metrics: by module, then as they are defined there.
_MODULES = (results, behaviour, bidding, beliefs, profiling, plans, strategy, water, sessions, series, calls)
METRICS = {one.name: one for module in _MODULES for one in vars(module).values() if isinstance(one, Metric)}


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log, by the metrics of these names.

    A metric of another game, or one with nothing to measure, gives one missing measurement with the reason.
    """
    return [found for name in names for found in _measured(name, METRICS[name], entries)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """Name the metrics that fit the game of a log."""
    return [name for name, metric in METRICS.items() if _fits(metric, entries)]


def _measured(name: str, metric: Metric, entries: Sequence[Entry]) -> list[Measurement]:
    if not _fits(metric, entries):
        return [Measurement(name, None, missing=f"the log is of another game: it has no {metric.of.__name__}")]
    return metric.measure(name, entries) or [Measurement(name, None, missing=metric.no_data)]


def _fits(metric: Metric, entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry.event, metric.of) for entry in entries)
