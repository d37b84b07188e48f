"""Findings of experiments in a terminal: on one screen, in full, or side by side.

The tables are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.variance import shares_say
from harbor.evaluation._experiments.design import EVERYONE
from harbor.evaluation._report.comparing.side_by_side import (
    apart_table,
    differences_table,
    facts_of,
    how,
    ranked,
    sides_table,
    verdict,
)
from harbor.evaluation._report.page.verdict import caveats, headline, verdicts
from harbor.evaluation._report.tabular import listings, page_parts, tables
from harbor.evaluation._report.tabular.bidder_tables import BidderTable, bidder_table
from harbor.evaluation._report.tabular.formatting import NOTHING, unit_of, write, write_printed
from harbor.evaluation._report.tabular.tables import Finding, findings

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.trial_records import Results
    from harbor.evaluation._report.comparing.compared_runs import ComparedRuns, SettingApart
    from harbor.evaluation._report.comparing.side_by_side import Compared, ComparedSide


def finding_tables(results: Results, analysis: Analysis) -> Iterator[Table | str]:
    """Yield our numbers beside published ones, or else all measures of whole games; then the comparisons.

    Designs with crossed factors show shares of variance, if known, and not the mean of each arm, which the report has.
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


def _tables(results: Results, analysis: Analysis) -> Iterator[tuple[str, page_parts.Table]]:
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


def rows_of(table: page_parts.Table) -> Iterator[dict[str, object]]:
    """Yield the rows of a table of the report, by the heads of its columns."""
    heads = [_joined(column.head, "\n") for column in table.columns]
    for row in table.rows:
        yield dict(zip(heads, (_joined(one, " " if one.is_interval else "\n") for one in row), strict=True))


def _joined(both: page_parts.Cell, between: str) -> str:
    """Return the text of a cell with its smaller text."""
    return between.join(filter(None, (both.text, both.below)))


SENTENCES = 2
"""The greatest number of planned comparisons that get a sentence each."""
ROWS, BIDDERS = 12, 4
"""The greatest number of rows and bidders of the table."""


def short_findings(results: Results, analysis: Analysis) -> Iterator[Table | str]:
    """Yield the table of the first metric that has a mean, then the verdict and its caveats."""
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
    """Return the means of the first metric with any, by arm and bidder, beside the published numbers; or nothing."""
    found = (bidder_table(metric, results, analysis) for metric in tables.asked(results.experiment))
    return next((_short(one, results) for one in found if one), [])


def _short(table: BidderTable, results: Results) -> list[Table | str]:
    shown = {at: table.bidders[at] or "the game" for at in _columns(table.bidders)}
    own = [row for row in table.rows if not row.source]
    printed = {(row.cell, at): one for row in table.rows if row.source for at, one in enumerate(row.numbers) if one}
    rows = []
    for one in own[:ROWS]:
        row: dict[str, object] = {"arm": one.arm}
        if len(results.experiment.conditions) > 1:
            row["condition"] = one.condition
        for at, name in shown.items():
            row[name] = _number(table.metric, one.numbers[at], printed.get((one.cell, at)))
        rows.append(row)
    title = f"{table.metric}: {tables.meaning(table.metric)}{simulated(results.simulated)}"
    left = f"{len(own) - ROWS} more rows" if len(own) > ROWS else ""
    is_beside = any(" (" in str(row[name]) for row in rows for name in shown.values())
    brackets = "in brackets: published" if is_beside else ""
    said = "; ".join(filter(None, (left, brackets)))
    return [Table(title, rows), *([f"{said[0].upper()}{said[1:]}."] if said else [])]


def _columns(bidders: Sequence[str]) -> list[int]:
    """Return the places of the bidders in the table: all if they are few, else only their mean, if there is one."""
    named = [at for at, name in enumerate(bidders) if name != EVERYONE]
    mean = [at for at in range(len(bidders)) if at not in named]
    return named if 1 <= len(named) <= BIDDERS or not mean else mean


def _number(metric: str, own: Finding | None, printed: Finding | None) -> str:
    if own is None:
        return NOTHING
    unit = unit_of(metric)
    beside = "" if printed is None or printed.value is None else f" ({write_printed(printed.value, unit)})"
    return f"{write(own.value, unit)}{beside}"


MOST_DIFFERENCES = 8
"""The greatest number of differences in a short comparison."""
MOST_SETTINGS = 5
"""The greatest number of settings that are named in a line."""
MOST_VALUE = 16
"""The greatest number of characters of a setting's value that is shown beside its name."""


def short_comparison(compared: Compared) -> Iterator[Table | str]:
    """Yield the verdict, the clearest differences, and a line each on experiments, settings and versions."""
    yield _said(compared)
    unlike = [one for one in ranked(compared.contrasts) if not one.is_equal]
    title = f"Differences from {next(iter(compared.experiments))}, the clearest first"
    yield Table(title, list(rows_of(differences_table(compared, unlike[:MOST_DIFFERENCES], brief=True))))
    sides = (f"{one.experiment}: {_side(one)}" for one in compared.sides_compared)
    apart = (
        _apart(compared, what, found)
        for what, found in (("Settings", compared.apart), ("Versions", compared.origins_apart))
    )
    yield "\n".join(["", *sides, *chain.from_iterable(apart)])
    more = len(unlike) - MOST_DIFFERENCES
    yield f"{counted(more, 'more difference')}, all means and settings: --full" if more > 0 else "All of it: --full"


def compared_tables(compared: Compared) -> Iterator[Table | str]:
    """Yield the verdict, all differences with both means, and all differences in design and versions."""
    yield _said(compared)
    yield Table(
        "Differences, the clearest first", list(rows_of(differences_table(compared, ranked(compared.contrasts))))
    )
    yield Table("Experiments", list(rows_of(sides_table(compared))))
    yield Table("Settings that differ", list(rows_of(apart_table(compared, compared.apart))))
    yield Table("Versions that differ", list(rows_of(apart_table(compared, compared.origins_apart, "version"))))


def _said(compared: Compared) -> str:
    simulated = [one.experiment for one in compared.sides_compared if one.simulated]
    label = f"Simulated bidders in {' and '.join(simulated)}." if simulated else ""
    return " ".join(filter(None, (verdict(compared), how(compared), label)))


def _side(one: ComparedSide) -> str:
    """Return a line on an experiment: its games, players, version, day and cost."""
    known = facts_of(one)
    games = f"{one.finished} of {counted(one.games, 'game')} finished"
    said = (games, f"played by {known['played by']}", f"harbor {known['harbor']}", known["began"])
    return ", ".join(filter(None, (*said, known["cost"])))


def _apart(compared: Compared, what: str, apart: Sequence[SettingApart]) -> Iterator[str]:
    """Yield a line per experiment with its differences from the first, and their values if short."""
    first, *others = compared.experiments
    for name in others:
        own = [one for one in apart if one.experiment == name]
        named = [_named(one) for one in own[:MOST_SETTINGS]]
        more = [f"{len(own) - MOST_SETTINGS} more"] if len(own) > MOST_SETTINGS else []
        if own:
            yield f"{what} that differ ({first} / {name}): {'; '.join([*named, *more])}"


def _named(one: SettingApart) -> str:
    is_short = max(len(one.against), len(one.value)) <= MOST_VALUE
    return f"{one.setting} {one.against} / {one.value}" if is_short else one.setting


def run_tables(compared: ComparedRuns, full: bool = False) -> Iterator[Table | str]:
    """Yield the verdict, the first event that differs, both standings, and the settings that differ."""
    first, second = compared.sides
    simulated = any(side.simulated for side in compared.sides)
    yield f"{compared.verdict}{' Simulated bidders.' if simulated else ''}"
    for side in compared.sides:
        if not side.complete:
            yield f"{side.run} is not over: its log ends after {side.events} events"
    if (event := compared.event) is not None:
        yield Table(
            "The first event that differs",
            [{"run": first.run, "has": event.first}, {"run": second.run, "has": event.second}],
        )
    yield Table("Standings", list(_standings(compared)))
    rows = [{"setting": one.setting, first.run: one.against, second.run: one.value} for one in compared.settings]
    shown = rows if full else rows[: 2 * MOST_SETTINGS]
    yield Table("Settings that differ", shown)
    yield from [f"{len(rows) - len(shown)} more settings that differ: --full"] if len(rows) > len(shown) else []
    yield from filter(None, [compared.untold])


def _standings(compared: ComparedRuns) -> Iterator[dict[str, object]]:
    first, second = compared.sides
    for bidder in dict.fromkeys([*first.standings, *second.standings]):
        both = first.standings.get(bidder, {}), second.standings.get(bidder, {})
        for name in dict.fromkeys([*both[0], *both[1]]):
            one, other = (_plain(side.get(name)) for side in both)
            if one != other or name in ("profit", "total profit", "mean rank"):
                yield {"bidder": bidder, "what": name.replace("_", " "), first.run: one, second.run: other}


def _plain(value: object) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else "" if value is None else str(value)
