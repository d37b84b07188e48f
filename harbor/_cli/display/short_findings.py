"""What an experiment found, on one screen: the verdict, one table, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor.evaluation._experiments.design import EVERYONE
from harbor.evaluation._report import tables
from harbor.evaluation._report.formatting import NOTHING, unit_of, write, write_printed
from harbor.evaluation._report.own_numbers import Finding, findings
from harbor.evaluation._report.verdict import caveats, headline, verdicts

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.published import PublishedValue
    from harbor.evaluation._experiments.trial_records import Results
    from harbor.evaluation._report.own_numbers import Place

SENTENCES = 2
"""How many planned comparisons are told in a sentence each."""
ROWS, BIDDERS = 12, 4
"""The most rows and bidders of the table."""

Whole = dict["Place", Finding]


def short_findings(results: Results, analysis: Analysis) -> Iterator[Table | str]:
    """Give the table of the first metric that has a mean, then the verdict, and what it does not say."""
    yield (
        f"{len(results.of('finished'))} of {len(results.records)} games finished, {len(results.of('failed'))} failed,"
        f" seed {results.experiment.seed}{simulated(results.simulated)}"
    )
    if table := main_table(results, analysis):
        yield from table
    found = verdicts(results, analysis)
    told = sorted(found, key=lambda one: not one.shown)[:SENTENCES]
    yield from filter(None, [headline(found, analysis)])
    yield from (f"- {one.finding}" for one in told)
    if len(found) > len(told):
        yield f"- and {len(found) - len(told)} more"
    yield from caveats(results)


def main_table(results: Results, analysis: Analysis) -> list[Table | str]:
    """Give the means of the first metric that has any, by arm and bidder, beside the published numbers; or nothing."""
    for metric in tables.asked(results.experiment):
        found = {one.place: one for one in findings(metric, analysis) if _is_whole(one)}
        if found:
            return _table(metric, found, results)
    return []


def _is_whole(one: Finding) -> bool:
    return one.value is not None and one.place.at is None and not one.place.about


def _table(metric: str, found: Whole, results: Results) -> list[Table | str]:
    experiment = results.experiment
    printed = {
        place: value
        for of in tables.published_numbers(metric, list(found.values()), experiment).values()
        for place, value in of.items()
    }
    cells = [cell for cell in experiment.cells if any(_cell(place) == (cell[0].name, cell[1].name) for place in found)]
    bidders = _bidders([place.bidder for place in found])
    rows = []
    for arm, condition in cells[:ROWS]:
        row: dict[str, object] = {"arm": tables.label_of(experiment, "arm", arm.name)}
        if len(experiment.conditions) > 1:
            row["condition"] = tables.label_of(experiment, "condition", condition.name)
        numbers = {bidder: _number(metric, (arm.name, condition.name, bidder), found, printed) for bidder in bidders}
        rows.append(row | {bidder or "the game": number for bidder, number in numbers.items()})
    title = f"{metric}: {tables.meaning(metric)}{simulated(results.simulated)}"
    left = f"{len(cells) - ROWS} more rows" if len(cells) > ROWS else ""
    shown = any(" (" in str(row[bidder or "the game"]) for row in rows for bidder in bidders)
    brackets = "in brackets: published" if shown else ""
    said = "; ".join(filter(None, (left, brackets)))
    return [Table(title, rows), *([f"{said[0].upper()}{said[1:]}."] if said else [])]


def _cell(place: Place) -> tuple[str, str]:
    return place.arm, place.condition


def _bidders(names: Sequence[str]) -> list[str]:
    """Choose the bidders of the table: all if they are few, else their mean alone."""
    named = [name for name in dict.fromkeys(names) if name != EVERYONE]
    return named if 1 <= len(named) <= BIDDERS else [EVERYONE]


def _number(metric: str, of: tuple[str, str, str], found: Whole, printed: dict[Place, PublishedValue]) -> str:
    place = next((one for one in found if (one.arm, one.condition, one.bidder) == of), None)
    if place is None:
        return NOTHING
    own, unit = write(found[place].value, unit_of(metric)), unit_of(metric)
    return f"{own} ({write_printed(printed[place].value, unit)})" if place in printed else own
