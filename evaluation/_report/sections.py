"""The sections of a report, one per metric: a figure of means, a table with published numbers, and details."""

from __future__ import annotations

from dataclasses import dataclass

from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.figures import means
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.tables import Table, asked, beside_published, findings, parted, published_numbers

MOST_ROWS = 200
"""The most rows of a table by item, day or rival; the exports have all."""


@dataclass(frozen=True, slots=True)
class Section:
    """A metric in a report: name, description, unit, figure, table, table of details, notes on published numbers."""

    name: str
    description: str
    unit: str
    drawing: Drawing | None
    table: Table
    details: Table | None
    left_out: int
    notes: tuple[str, ...]


def sections(loaded: Loaded) -> list[Section]:
    """Make a section for each metric, and for whatever else is published."""
    return [_section(loaded, name) for name in asked(loaded.experiment)]


def findings_tables(loaded: Loaded) -> dict[str, Table]:
    """Give the whole table of each metric, with details."""
    tables = {}
    for name in asked(loaded.experiment):
        found = findings(name, loaded.analysis)
        tables[name] = beside_published(name, found, published_numbers(name, found, loaded.experiment), loaded.results)
    return tables


def _section(loaded: Loaded, name: str) -> Section:
    found = findings(name, loaded.analysis)
    printed = published_numbers(name, found, loaded.experiment)
    whole, rest = parted(found, printed)
    metric = metric_or_none(name)
    return Section(
        name,
        metric.description if metric else "",
        metric.unit if metric else "",
        means(loaded, name),
        beside_published(name, whole, printed, loaded.results),
        beside_published(name, rest[:MOST_ROWS], {}, loaded.results) if rest else None,
        max(0, len(rest) - MOST_ROWS),
        tuple(f"{one.source} ({one.model}): {one.note}" for one in printed if one.note),
    )
