"""What an experiment found, in a terminal: our numbers beside the published ones, and the planned comparisons.

The tables are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor.evaluation._analysis.variance import shares_say
from harbor.evaluation._experiments.design import EVERYONE
from harbor.evaluation._report import listings, tables
from harbor.evaluation._report.own_numbers import findings

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.trial_records import Results


def finding_tables(results: Results, analysis: Analysis) -> Iterator[Table | str]:
    """Give what is published beside our own, or all that is measured of whole games; then the comparisons.

    Of crossed factors there are shares of variance, if any is known, instead of each arm's means, which the report has.
    """
    yield from filter(None, (tables.own_noise(results), tables.played_on(results)))
    with_people = any(player == tables.PERSON for game in results.records for _, player in game.players)
    label = simulated(results.simulated, with_people)
    few = tables.few_games(results)
    players = tables.models_of(results)
    yield from [] if players == tables.heading(results) else [f"Played by {players}"]
    for title, table in _tables(results, analysis):
        yield Table(f"{title}{label}", list(rows_of(table)))
    yield from filter(None, [shares_say(analysis.variance)])
    yield (
        f"{len(results.of('finished'))} of {len(results.records)} games finished, {len(results.of('failed'))} failed,"
        f" seed {results.experiment.seed}{label}; {tables.OF_GAMES}" + (f"; {few}" if few else "")
    )


def _tables(results: Results, analysis: Analysis) -> Iterator[tuple[str, tables.Table]]:
    experiment = results.experiment
    published = {one.metric for one in experiment.published}
    shares = [one for one in analysis.variance if one.source and one.bidder in ("", EVERYONE)]
    for name in tables.asked(experiment):
        found = findings(name, analysis)
        printed = tables.published_numbers(name, found, experiment)
        whole, _ = tables.parted(found, printed)
        if whole and (name in published or not published) and not shares:
            says = ": ".join(filter(None, (name, tables.meaning(name))))
            yield says, tables.beside_published(name, whole, printed, results)
    if analysis.spreads:
        yield "Spread of games of one draw", listings.spreads(analysis.spreads, experiment)
    if shares:
        yield "Shares of variance", listings.variance(shares)
    if analysis.differences:
        yield "Planned comparisons", listings.comparisons(analysis.differences, experiment)
    if analysis.companions:
        yield (
            "What others gain or lose in these (no planned comparisons, so no tests)",
            listings.companions(analysis.companions, experiment),
        )
    if analysis.ratings and "trueskill" not in published:
        yield "TrueSkill", listings.ratings(analysis.ratings, experiment)


def rows_of(table: tables.Table) -> Iterator[dict[str, object]]:
    """Give the rows of a table of the report by the heads of its columns."""
    heads = [_joined(column.head, "\n") for column in table.columns]
    for row in table.rows:
        yield dict(zip(heads, (_joined(one, " " if one.is_interval else "\n") for one in row), strict=True))


def _joined(both: tables.Cell, between: str) -> str:
    """Write a cell with its smaller text."""
    return between.join(filter(None, (both.text, both.below)))
