"""What an experiment found, in a terminal: our numbers beside the published ones, and the planned comparisons.

The tables are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harbor._display.screen import cell
from harbor.evaluation._metrics.registry import METRICS
from harbor.evaluation._report import listings, tables

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.trial_records import Results


def print_findings(console: Console, results: Results, analysis: Analysis) -> None:
    """Print what is published beside our own, or all that is measured of whole games; then the comparisons."""
    simulated = " (simulated bidders)" if results.simulated else ""
    few = tables.few_games(results)
    for title, table in _tables(results, analysis):
        console.print(_drawn(table, f"{title}{simulated}"))
    console.print(
        f"{len(results.of('finished'))} of {len(results.records)} games finished, {len(results.of('failed'))} failed,"
        f" seed {results.experiment.seed}{simulated}; means over games with 95 % intervals"
        + (f"; {few}" if few else "")
    )


def _tables(results: Results, analysis: Analysis) -> Iterator[tuple[str, tables.Table]]:
    experiment = results.experiment
    published = {one.metric for one in experiment.published}
    for name in tables.asked(experiment):
        found = tables.findings(name, analysis)
        printed = tables.published_numbers(name, found, experiment)
        whole, _ = tables.parted(found, printed)
        if whole and (name in published or not published):
            says = f"{name}: {METRICS[name].description}, {METRICS[name].unit}" if name in METRICS else name
            yield says, tables.beside_published(name, whole, printed, results)
    if analysis.differences:
        yield "Planned comparisons", listings.comparisons(analysis.differences, experiment)
    if analysis.ratings and "trueskill" not in published:
        yield "TrueSkill", listings.ratings(analysis.ratings, experiment)


def _drawn(table: tables.Table, title: str) -> Table:
    """Draw a table; what the first column repeats is left out."""
    drawn = Table(title=cell(title), title_justify="left")
    for column in table.columns:
        drawn.add_column(_joined(column.head, "\n"), justify="right" if column.numeric else "left")
    before = ""
    for row in table.rows:
        if row[0].text != before:
            drawn.add_section()
        first = tables.Cell("") if row[0].text == before else row[0]
        drawn.add_row(*(_joined(one, " " if one.is_interval else "\n") for one in (first, *row[1:])))
        before = row[0].text
    return drawn


def _joined(both: tables.Cell, between: str) -> Text:
    """Write a cell with its smaller text."""
    return Text(between).join([cell(both.text), *([cell(both.below)] if both.below else [])])
