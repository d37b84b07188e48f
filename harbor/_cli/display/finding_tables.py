"""What an experiment found, in a terminal: our numbers beside the published ones, and the planned comparisons.

The tables are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report import listings, tables

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.trial_records import Results


def finding_tables(results: Results, analysis: Analysis) -> Iterator[Table | str]:
    """Give what is published beside our own, or all that is measured of whole games; then the comparisons."""
    yield from filter(None, (tables.own_noise(results), tables.played_on(results)))
    label = simulated(results.simulated)
    few = tables.few_games(results)
    for title, table in _tables(results, analysis):
        yield Table(f"{title}{label}", list(_rows(table)))
    yield (
        f"{len(results.of('finished'))} of {len(results.records)} games finished, {len(results.of('failed'))} failed,"
        f" seed {results.experiment.seed}{label}; means over games with 95 % intervals" + (f"; {few}" if few else "")
    )


def _tables(results: Results, analysis: Analysis) -> Iterator[tuple[str, tables.Table]]:
    experiment = results.experiment
    published = {one.metric for one in experiment.published}
    for name in tables.asked(experiment):
        found = tables.findings(name, analysis)
        printed = tables.published_numbers(name, found, experiment)
        whole, _ = tables.parted(found, printed)
        if whole and (name in published or not published):
            metric = metric_or_none(name)
            says = f"{name}: {metric.description}, {metric.unit}" if metric else name
            yield says, tables.beside_published(name, whole, printed, results)
    if analysis.spreads:
        yield "Spread of games of one draw", listings.spreads(analysis.spreads, experiment)
    if analysis.differences:
        yield "Planned comparisons", listings.comparisons(analysis.differences, experiment)
    if analysis.ratings and "trueskill" not in published:
        yield "TrueSkill", listings.ratings(analysis.ratings, experiment)


def _rows(table: tables.Table) -> Iterator[dict[str, object]]:
    heads = [_joined(column.head, "\n") for column in table.columns]
    for row in table.rows:
        yield dict(zip(heads, (_joined(one, " " if one.is_interval else "\n") for one in row), strict=True))


def _joined(both: tables.Cell, between: str) -> str:
    """Write a cell with its smaller text."""
    return between.join(filter(None, (both.text, both.below)))
