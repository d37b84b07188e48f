"""What a report says of each metric: a figure of the means, a table beside the published numbers, and the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harbor.evaluation.experiments.design import measured
from harbor.evaluation.metrics.registry import METRICS
from harbor.evaluation.report.canvas import Drawing
from harbor.evaluation.report.figures import means
from harbor.evaluation.report.loading import Loaded
from harbor.evaluation.report.tables import Finding, Table, beside_published, findings, printed_numbers

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
    return [_section(loaded, name) for name in _asked(loaded)]


def findings_tables(loaded: Loaded) -> dict[str, Table]:
    """Give the table of each metric, details and all."""
    tables = {}
    for name in _asked(loaded):
        found = findings(name, loaded.analysis)
        printed = printed_numbers(name, found, loaded.experiment)
        tables[name] = beside_published(name, found, printed, loaded.results)
    return tables


def _asked(loaded: Loaded) -> Iterable[str]:
    """Name what is measured, and what is published of correlations and ratings."""
    return dict.fromkeys((*measured(loaded.experiment), *(one.metric for one in loaded.experiment.published)))


def _section(loaded: Loaded, name: str) -> Section:
    found = findings(name, loaded.analysis)
    printed = printed_numbers(name, found, loaded.experiment)
    beside = {place for values in printed.values() for place in values}
    whole = [one for one in found if one.place in beside or _is_whole(one)]
    rest = [one for one in found if not (one.place in beside or _is_whole(one))]
    metric = METRICS.get(name)
    return Section(
        name,
        metric.says if metric else "",
        metric.unit if metric else "",
        means(loaded, name),
        beside_published(name, whole, printed, loaded.results),
        beside_published(name, rest[:MOST_ROWS], {}, loaded.results) if rest else None,
        max(0, len(rest) - MOST_ROWS),
        tuple(f"{one.source} ({one.model}): {one.note}" for one in printed if one.note),
    )


def _is_whole(one: Finding) -> bool:
    return one.place.at is None and not one.place.about
