"""The sections of a report, one per metric: a figure of means, a table with published numbers, and details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.how_far import steps
from harbor.evaluation._analysis.ratings import MEANINGS
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._report.canvas import TALLEST_PANEL
from harbor.evaluation._report.figures import leading_line, means
from harbor.evaluation._report.formatting import unit_of, write, write_interval
from harbor.evaluation._report.inline import MOST_PANELS, Inlined, inlined
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.own_numbers import Finding, findings
from harbor.evaluation._report.tables import Table, asked, beside_published, meaning, parted, published_numbers

MOST_ROWS = 200
"""The most rows of a table by item, day or rival; the exports have all."""


@dataclass(frozen=True, slots=True)
class Section:
    """A metric in a report: name, what it says, figure, table, table of details, notes on published numbers.

    `main`: a planned comparison or a published number is of it, and it is no rating, which has a figure of its own.
    `constant` says that all its numbers are one.
    """

    name: str
    says: str
    main: bool
    constant: str
    drawing: Inlined | None
    table: Table
    details: Table | None
    left_out: int
    notes: tuple[str, ...]

    @property
    def tall(self) -> bool:
        """Whether its figure leaves little room for anything else."""
        return self.drawing is not None and sum(one.height for one in self.drawing.drawing.panels) > TALLEST_PANEL


def sections(loaded: Loaded) -> list[Section]:
    """Make a section for each metric, and for whatever else is published."""
    return [_section(loaded, name) for name in steps(asked(loaded.experiment), "metrics drawn")]


def _section(loaded: Loaded, name: str) -> Section:
    found = findings(name, loaded.analysis)
    printed = published_numbers(name, found, loaded.experiment)
    whole, rest = parted(found, printed)
    main, constant = name in _compared(loaded.experiment), _constant(name, whole, bool(printed))
    drawing = None if constant or name == leading_line(loaded.experiment) else means(loaded, name)
    return Section(
        name,
        meaning(name),
        name not in MEANINGS and (bool(printed) or main),
        constant,
        inlined(f"means of {name}", drawing, MOST_PANELS if printed or main else 1) if drawing else None,
        beside_published(name, whole, printed, loaded.results),
        beside_published(name, rest[:MOST_ROWS], {}, loaded.results) if rest else None,
        max(0, len(rest) - MOST_ROWS),
        tuple(f"{one.source} ({one.produced_by}): {one.note}" for one in printed if one.note),
    )


def _compared(experiment: Experiment) -> set[str]:
    """Name the metrics that the design asks about: those of its comparisons, or else its first."""
    return {metric for one in experiment.comparisons for metric in one.metrics} or {experiment.metrics[0]}


def _constant(metric: str, found: Sequence[Finding], printed: bool) -> str:
    """Say in one line what a table would repeat; empty if its rows differ, or stand beside others' numbers."""
    told = {(one.value, one.low, one.high, one.missing) for one in found}
    if printed or len(found) < 2 or len(told) > 1 or found[0].value is None or found[0].missing:
        return ""
    unit = unit_of(metric)
    interval = write_interval(found[0].low, found[0].high, unit)
    return f"In every row alike: {write(found[0].value, unit)} {interval}".rstrip() + f" ({len(found)} rows)."
