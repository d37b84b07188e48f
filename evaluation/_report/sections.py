"""What a report says of each metric: a figure of the means, a table beside the published numbers, and the rest."""

from __future__ import annotations

from dataclasses import dataclass

from harbor.evaluation._metrics.registry import METRICS
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.figures import means
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.tables import Table, asked, beside_published, findings, parted, published_numbers

MOST_ROWS = 200
"""Rows of what is broken down by item, day or rival; more are in the exports."""


@dataclass(frozen=True, slots=True)
class Section:
    """A metric in a report: its name, what it says and its unit, figure, table, table of details, notes of papers."""

    name: str
    says: str
    unit: str
    drawing: Drawing | None
    table: Table
    details: Table | None
    left_out: int
    notes: tuple[str, ...]


def sections(loaded: Loaded) -> list[Section]:
    """Say what was found of each metric, and of what else is published."""
    return [_section(loaded, name) for name in asked(loaded.experiment)]


def findings_tables(loaded: Loaded) -> dict[str, Table]:
    """Give the table of each metric, details and all."""
    tables = {}
    for name in asked(loaded.experiment):
        found = findings(name, loaded.analysis)
        printed = published_numbers(name, found, loaded.experiment)
        tables[name] = beside_published(name, found, printed, loaded.results)
    return tables


def _section(loaded: Loaded, name: str) -> Section:
    found = findings(name, loaded.analysis)
    printed = published_numbers(name, found, loaded.experiment)
    whole, rest = parted(found, printed)
    metric = METRICS.get(name)
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
