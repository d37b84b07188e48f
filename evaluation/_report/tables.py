"""The tables of a report that show our numbers beside the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import compress

from harbor.evaluation._analysis.findings import Analysis, Correlation, Estimate, SkillRating
from harbor.evaluation._experiments.design import OWN_NOISE, Experiment, Published, PublishedValue, measured
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.measurement import Unit
from harbor.evaluation._report.formatting import NOTHING, unit_of, write, write_interval, write_printed

TRUESKILL = "trueskill"
FEW = 5
VARIED = ("arm", "condition", "bidder", "about", "at")
"""What tells places apart; what is equal for all needs no column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, and a smaller line below it."""

    text: str
    below: str = ""

    @property
    def is_interval(self) -> bool:
        """Whether the line below is an interval, which brackets set apart already."""
        return self.below.startswith("[")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, a smaller line below it, and whether it contains numbers."""

    head: Cell
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table, ready to be written."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """What a number is of; an estimate and a published number are matched by it."""

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
    missing: int = 0
    why: tuple[str, ...] = ()
    note: str = ""


def findings(metric: str, analysis: Analysis) -> list[Finding]:
    """List the findings on a metric, on a correlation "a ~ b", or on trueskill."""
    if metric == TRUESKILL:
        return [_of_rating(one) for one in analysis.ratings]
    return [_of_estimate(one) for one in analysis.estimates if one.metric == metric] + [
        _of_correlation(one) for one in analysis.correlations if one.name == metric
    ]


def _of_estimate(one: Estimate) -> Finding:
    place = Place(one.arm, one.condition, one.bidder, one.about, one.at)
    return Finding(place, one.mean, one.low, one.high, one.games, one.missing, one.why, one.note)


def _of_correlation(one: Correlation) -> Finding:
    return Finding(Place(one.arm, one.condition, one.bidder), one.rho, one.low, one.high, one.games, note=one.note)


def _of_rating(one: SkillRating) -> Finding:
    """Give mu without an interval: its spread over orders of the games does not show the uncertainty of few games."""
    note = f"sigma {write(one.sigma, 'number')}; {write_spread(one)}"
    return Finding(Place(one.arm, one.condition, one.bidder), one.mu, None, None, one.games, note=note)


def write_spread(one: SkillRating) -> str:
    """Write how far mu spreads over orders of the games."""
    return f"{write(one.mu_low, 'number')} to {write(one.mu_high, 'number')} over orders"


def models_of(results: Results) -> str:
    """Name what played: the models, and the rules and people beside them."""
    players = {player for game in results.records for _, player in game.players}
    return ", ".join(sorted(players or set(results.experiment.models)))


def few_games(results: Results) -> str:
    """Warn of arms under conditions with too few finished games for a good interval."""
    finished = Counter((game.arm, game.condition) for game in results.of("finished"))
    few = sorted({count for count in finished.values() if count < FEW})
    return f"n = {', '.join(map(str, few))}: intervals of so few games say little" if few else ""


def own_noise(results: Results) -> str:
    """Say what intervals are of if all repeats are of one draw; empty if they are not."""
    if not results.experiment.same_seed:
        return ""
    return OWN_NOISE + (" The built-in model has no noise of its own." if results.simulated else "")


def played_on(results: Results) -> str:
    """Say in which games calls failed for good and the bidders played on, by arm; empty if in none."""
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
    """Name what is measured, and what is published of correlations and ratings."""
    return tuple(dict.fromkeys((*measured(experiment), *(one.metric for one in experiment.published))))


def parted(
    found: Sequence[Finding], printed: Mapping[Published, Mapping[Place, PublishedValue]]
) -> tuple[list[Finding], list[Finding]]:
    """Separate findings on whole games, or with a published number, from those by item, day or rival."""
    beside = {place for values in printed.values() for place in values}
    shown = [one.place in beside or (one.place.at is None and not one.place.about) for one in found]
    return list(compress(found, shown)), [one for one, first in zip(found, shown, strict=True) if not first]


def published_numbers(
    metric: str, found: Sequence[Finding], experiment: Experiment
) -> dict[Published, dict[Place, PublishedValue]]:
    """Find the published numbers of a metric, and the place of ours that each belongs to."""
    own = {finding.place for finding in found}
    return {one: _places(one, experiment, own) for one in experiment.published if one.metric == metric}


def beside_published(
    metric: str,
    found: Sequence[Finding],
    printed: Mapping[Published, Mapping[Place, PublishedValue]],
    results: Results,
) -> Table:
    """Put our numbers beside the published ones; every column names its model and source."""
    own, experiment = {finding.place: finding for finding in found}, results.experiment
    places = list(dict.fromkeys([*own, *(place for values in printed.values() for place in values)]))
    varied = [name for name in VARIED if len({getattr(place, name) for place in places}) > 1] or ["arm"]
    with_missing = any(finding.missing for finding in found)
    heads = [Column(Cell(name), numeric=name == "at") for name in varied]
    heads += [Column(Cell("this experiment", models_of(results))), Column(Cell("n", "games"))]
    heads += [Column(Cell("missing", "games"), numeric=False)] if with_missing else []
    heads += [Column(Cell(one.source, one.model)) for one in printed]
    unit = unit_of(metric)
    spoiled = Counter((one.arm, one.condition) for one in results.of("finished") if one.failed_calls)
    rows = []
    for place in places:
        row = [_named(experiment, place, name) for name in varied]
        row += _own_cells(own.get(place), unit, with_missing, spoiled[place.arm, place.condition])
        row += [_published_cell(values.get(place), unit) for values in printed.values()]
        rows.append(tuple(row))
    return Table(tuple(heads), tuple(rows))


def _places(published: Published, experiment: Experiment, own: Set[Place]) -> dict[Place, PublishedValue]:
    """Find the places of published numbers: without arm or condition, each; everyone's is the game's if ours is."""
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
    """Give the label of an arm or a condition, by default its name."""
    arms = (*experiment.arms, *experiment.arms_left_out)
    variations = arms if kind == "arm" else experiment.conditions
    return next((one.label for one in variations if one.name == name and one.label), name)


def _own_cells(found: Finding | None, unit: Unit, with_missing: bool, spoiled: int) -> list[Cell]:
    if found is None:
        return [Cell(NOTHING)] * (3 if with_missing else 2)
    interval = write_interval(found.low, found.high, unit) or found.note
    cells = [Cell(write(found.value, unit), interval)]
    cells += [Cell(str(found.games), f"{spoiled} with failed calls" if spoiled else "")]
    return cells + ([Cell(str(found.missing), "; ".join(found.why))] if with_missing else [])


def _published_cell(value: PublishedValue | None, unit: Unit) -> Cell:
    if value is None:
        return Cell(NOTHING)
    return Cell(write_printed(value.value, unit), "" if value.sd is None else f"sd {write_printed(value.sd, unit)}")
