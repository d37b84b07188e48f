"""The metrics by name; an experiment asks for them by these names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor.evaluation.metrics import results
from harbor.evaluation.metrics.measurement import Measurement, Metric
from harbor.log import Entry

METRICS: dict[str, Metric] = {
    "profit": Metric("profit of a bidder", "dollars", results.profit),
    "profit_ratio": Metric("profit over what all items could have earned", "share", results.profit_ratio),
}


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log, by the metrics of these names."""
    return [found for name in names for found in METRICS[name].measure(name, entries)]
