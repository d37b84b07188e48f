"""Tables with our numbers, each at its place, beside the published ones; names for the sides of comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

from harbor.evaluation._analysis.findings import Analysis, Correlation, Estimate, SkillRating
from harbor.evaluation._analysis.means import exact_share
from harbor.evaluation._analysis.ratings import MEANINGS
from harbor.evaluation._experiments.design import (
    EVERYONE,
    OWN_NOISE,
    Experiment,
    Published,
    PublishedValue,
    Side,
    measured,
)
from harbor.evaluation._experiments.design_parts import PER_GAME
from harbor.evaluation._experiments.draws import draws_of
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.calls import is_agent
from harbor.evaluation._metrics.measurement import Unit, metric_of, metric_or_none
from harbor.evaluation._report.tabular.formatting import (
    NOTHING,
    in_draws,
    unit_of,
    write,
    write_interval,
    write_printed,
)
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table


@dataclass(frozen=True, slots=True)
class Place:
    """The key that matches an estimate with a published number: arm, condition, bidder, rival or kind, and item."""

    arm: str
    condition: str
    bidder: str
    about: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Our number at a place: estimate, correlation or rating alike."""

    place: Place
    value: float | None
    low: float | None
    high: float | None
    games: int
    over: str = "games"
    missing: int = 0
    why: tuple[str, ...] = ()
    note: str = ""
    draws: int = 0


def findings(metric: str, analysis: Analysis) -> list[Finding]:
    """List the findings on a metric, on a correlation "a ~ b", or on a rating.

    A mean over all bidders of a shared total, such as ranks, is left out if it never varies.
    """
    if metric in MEANINGS:
        return [_of_rating(metric, one) for one in analysis.ratings]
    return [_of_estimate(one) for one in analysis.estimates if one.metric == metric and not _says_nothing(one)] + [
        _of_correlation(one) for one in analysis.correlations if one.name == metric
    ]


def _says_nothing(one: Estimate) -> bool:
    """Return whether an estimate is the mean over all bidders of a shared total, such as ranks, and never varies."""
    of_all = one.bidder == EVERYONE and one.mean is not None
    return of_all and metric_of(one.metric).shared and not one.sd


def _of_estimate(one: Estimate) -> Finding:
    place = Place(one.arm, one.condition, one.bidder, one.about, one.at)
    return Finding(place, one.mean, one.low, one.high, one.games, one.over, one.missing, one.why, one.note, one.draws)


def _of_correlation(one: Correlation) -> Finding:
    return Finding(
        Place(one.arm, one.condition, one.bidder), one.rho, one.low, one.high, one.games, note=one.note, draws=one.draws
    )


def _of_rating(metric: str, one: SkillRating) -> Finding:
    place = Place(one.arm, one.condition, one.bidder)
    if metric == PER_GAME:
        alone = (one.per_game, one.per_game_low, one.per_game_high)
        return Finding(place, *alone, one.games, note=one.per_game_note, draws=one.draws)
    return Finding(place, one.mu, one.mu_low, one.mu_high, one.games, note=one.mu_note, draws=one.draws)


OF_GAMES = 'means of games, or of all their values where "mean of values" stands, with 95 % intervals'
"""Explains the numbers of a table."""
FEW = 5
"""With fewer games or draws than this, an interval says little."""
LONGEST = 40
"""Longest list of models, in characters, in the head of a column."""
ROUNDING = 0.005
"""The greatest difference between a printed share and the exact share of a whole number of games."""
PERSON = "person"
"""Player in a log where a person plays."""
VARIED = ("arm", "condition", "bidder", "about", "at")
"""Fields of `Place`. A field with one value in all rows gets no column."""


Printed = Mapping[Published, Mapping[Place, PublishedValue]]
"""Published numbers by the matching place of ours."""


def meaning(metric: str) -> str:
    """Return the description of a metric with its unit; for a rating, its meaning and its interval."""
    own = metric_or_none(metric)
    return MEANINGS.get(metric, f"{own.description}, {own.unit}" if own else "")


def models_of(results: Results) -> str:
    """List the players: models, rules, agents and people. If an agent or a person is not in all arms, name its arms."""
    return ", ".join(_players(results))


def heading(results: Results) -> str:
    """Return the players for the head of a column, or their number if the list is too long."""
    whole, count = models_of(results), len(_players(results))
    return whole if len(whole) <= LONGEST else f"{count} {'player' if count == 1 else 'players'}"


def _players(results: Results) -> list[str]:
    arms: dict[str, dict[str, None]] = {}
    for game in results.records:
        for _, player in game.players:
            arms.setdefault(player, {})[game.arm] = None
    everywhere = {arm for one in arms.values() for arm in one}
    found = sorted(arms.keys() or set(results.experiment.models))
    return [_placed(one, arms.get(one, {}), everywhere, results.experiment) for one in found]


def _placed(player: str, arms: Mapping[str, None], everywhere: Set[str], experiment: Experiment) -> str:
    """Name a player. An agent or a person gets its arms, if they are not all."""
    if arms.keys() == everywhere or not (player == PERSON or is_agent(player)):
        return player
    return f"{player} (in {' and '.join(label_of(experiment, 'arm', arm) for arm in arms)})"


def few_games(results: Results) -> str:
    """Return a warning if an arm has too few finished games, or draws, for a good interval; else an empty text."""
    games = results.of("finished")
    draws = draws_of(results.experiment, (game.repeat for game in games))
    played = {(one.arm, one.condition, draw) for one, draw in zip(games, draws, strict=True)}
    finished = Counter((arm, condition) for arm, condition, _ in played)
    few = sorted({count for count in finished.values() if count < FEW})
    units = "draws" if len(set(draws)) < len({game.repeat for game in games}) else "games"
    return f"n = {', '.join(map(str, few))}: intervals of so few {units} say little" if few else ""


def own_noise(results: Results) -> str:
    """Return a warning if all repeats share one draw, else ""."""
    if not results.experiment.same_seed:
        return ""
    return OWN_NOISE + (" The built-in model has no noise of its own." if results.simulated else "")


def played_on(results: Results) -> str:
    """Say by arm in which games calls failed for good and the bidders played on. "" if there are none."""
    told = []
    for arm in results.experiment.arms:
        games = [one for one in results.of("finished") if one.arm == arm.name]
        if spoiled := [one for one in games if one.failed_calls]:
            failed = sum(one.failed_calls for one in spoiled)
            label = label_of(results.experiment, "arm", arm.name)
            told.append(f"{label}: {failed} calls failed in {len(spoiled)} of {len(games)} games")
    if not told:
        return ""
    return f"Bidders played on where a call was never answered, which is no choice of a model: {'; '.join(told)}."


def asked(experiment: Experiment) -> tuple[str, ...]:
    """List the measured metrics, and the published correlations and ratings."""
    return tuple(dict.fromkeys((*measured(experiment), *(one.metric for one in experiment.published))))


def parted(found: Sequence[Finding], printed: Printed) -> tuple[list[Finding], list[Finding]]:
    """Separate findings on whole games, or with a published number, from those by item, day or rival."""
    beside = {place for values in printed.values() for place in values}
    shown = [one.place in beside or (one.place.at is None and not one.place.about) for one in found]
    return list(compress(found, shown)), [one for one, first in zip(found, shown, strict=True) if not first]


def published_numbers(
    metric: str, found: Sequence[Finding], experiment: Experiment
) -> dict[Published, dict[Place, PublishedValue]]:
    """Return the published numbers of a metric by the place of ours that each matches."""
    own = {finding.place for finding in found}
    return {one: _places(one, experiment, own) for one in experiment.published if one.metric == metric}


def beside_published(
    metric: str,
    found: Sequence[Finding],
    printed: Printed,
    results: Results,
) -> Table:
    """Return a table with our numbers beside the published ones. The head or the cell of these names their model."""
    own, experiment = {finding.place: finding for finding in found}, results.experiment
    places = list(dict.fromkeys([*own, *(place for values in printed.values() for place in values)]))
    varied = [name for name in VARIED if len({getattr(place, name) for place in places}) > 1] or ["arm"]
    with_missing = any(finding.missing for finding in found)
    heads = [Column(Cell(name), numeric=name == "at") for name in varied]
    heads += [Column(Cell("this experiment", heading(results))), Column(Cell("n", "games"))]
    heads += [Column(Cell("missing", "games"), numeric=False)] if with_missing else []
    columns = _united(printed)
    heads += [Column(Cell(one[0].source, one[0].produced_by if len(one) == 1 else "")) for one in columns]
    unit = unit_of(metric)
    spoiled = Counter((one.arm, one.condition) for one in results.of("finished") if one.failed_calls)
    rows = []
    for place in places:
        row = [_named(experiment, place, name) for name in varied]
        row += _own_cells(own.get(place), unit, with_missing, spoiled[place.arm, place.condition])
        row += [_published_cell(column, printed, place) for column in columns]
        rows.append(tuple(row))
    return Table(tuple(heads), tuple(rows))


def _places(published: Published, experiment: Experiment, own: Set[Place]) -> dict[Place, PublishedValue]:
    """Return the places of published numbers. A number without arm or condition belongs to every one of them.

    A number of "everyone" belongs to the whole game if our metric is per game.
    """
    found = {}
    for value in published.values:
        for arm, condition in experiment.cells:
            if value.is_beside(arm.name, condition.name):
                place = Place(arm.name, condition.name, value.bidder, value.about, value.at)
                of_game = replace(place, bidder="")
                found[of_game if place not in own and of_game in own else place] = value
    return found


def _named(experiment: Experiment, place: Place, name: str) -> Cell:
    value = getattr(place, name)
    if name in ("arm", "condition"):
        return Cell(label_of(experiment, name, value) or "all")
    return Cell(NOTHING if value in ("", None) else str(value))


def label_of(experiment: Experiment, kind: str, name: str) -> str:
    """Return the label of an arm or a condition, by default its name."""
    arms = (*experiment.arms, *experiment.arms_left_out)
    variations = arms if kind == "arm" else experiment.conditions
    return next((one.label for one in variations if one.name == name and one.label), name)


def _own_cells(found: Finding | None, unit: Unit, with_missing: bool, spoiled: int) -> list[Cell]:
    if found is None:
        return [Cell(NOTHING)] * (3 if with_missing else 2)
    interval = write_interval(found.low, found.high, unit) or found.note
    cells = [Cell(write(found.value, unit), interval)]
    shared = in_draws(found.games, found.draws).strip()
    said = [
        shared,
        f"mean of {found.over}" if found.over != "games" else "",
        f"{spoiled} with failed calls" if spoiled else "",
    ]
    cells += [Cell(str(found.games), "; ".join(filter(None, said)))]
    return cells + ([Cell(str(found.missing), "; ".join(found.why))] if with_missing else [])


def _united(printed: Printed) -> list[list[Published]]:
    """Put the models of one source in one column, unless a place has numbers from two of them."""
    sources: dict[str, list[Published]] = {}
    for one in printed:
        sources.setdefault(one.source, []).append(one)
    columns: list[list[Published]] = []
    for column in sources.values():
        places = [place for one in column for place in printed[one]]
        columns += [column] if len(set(places)) == len(places) else [[one] for one in column]
    return columns


def _published_cell(column: Sequence[Published], printed: Printed, place: Place) -> Cell:
    """Return the cell of a published number: below it its model, its exact interval, its games, and their sd."""
    published = next((one for one in column if place in printed[one]), None)
    if published is None:
        return Cell(NOTHING)
    value, unit = printed[published][place], unit_of(published.metric)
    games, told = published.games(value), [published.produced_by] if len(column) > 1 else []
    told += [_exact(published.metric, value.value, games) if games else "", f"n = {games}" if games else ""]
    told += ["" if value.sd is None else f"sd {write_printed(value.sd, unit)}"]
    return Cell(write_printed(value.value, unit), ", ".join(filter(None, told)))


def _exact(metric: str, share: float, games: int) -> str:
    """Return the exact interval of a share of games if each is a yes or a no, else ""."""
    own, count = metric_or_none(metric), round(share * games)
    if own is None or own.interval != "binary" or abs(share * games - count) > ROUNDING * games:
        return ""
    return write_interval(*exact_share(count, games), own.unit)


PARTS = ("arm", "condition", "bidder")
"""Parts of a side, besides its metric."""


class Sides(NamedTuple):
    """The own parts of each side in words, and the shared parts."""

    of: str
    against: str
    shared: str


def sides_of(of: Side, against: Side, experiment: Experiment) -> Sides:
    """Return the parts in which the sides of a comparison differ, and the shared parts that may vary in another one."""
    named = [{part: _part(side, part, experiment) for part in ("metric", *PARTS)} for side in (of, against)]
    metrics = () if of.metric == against.metric else ("metric",)
    differing = [*metrics, *(part for part in PARTS if named[0][part] != named[1][part])]
    ours, theirs = (", ".join(side[part] for part in differing) for side in named)
    alone = {
        "arm": len((*experiment.arms, *experiment.arms_left_out)) == 1,
        "condition": len(experiment.conditions) == 1,
    }
    shared = [named[0][part] for part in PARTS if part not in differing and named[0][part] and not alone.get(part)]
    return Sides(ours, theirs, ", ".join(shared))


def _part(side: Side, part: str, experiment: Experiment) -> str:
    name = getattr(side, part) or ""
    return name if part in ("metric", "bidder") else label_of(experiment, part, name)
