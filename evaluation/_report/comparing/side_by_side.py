"""Compares experiments: findings, differences of results and designs, a verdict and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import inf
from pathlib import Path

import pandas as pd

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.between import Contrast, contrasts, shared_cells, shared_metrics
from harbor.evaluation._experiments.design import measured
from harbor.evaluation._experiments.trial_records import tally
from harbor.evaluation._metrics.measurement import Unit
from harbor.evaluation._report.comparing.compared_runs import SettingApart, designs_apart
from harbor.evaluation._report.page.notebook_view import load
from harbor.evaluation._report.tabular.formatting import NOTHING, in_draws, unit_of, write, write_interval, write_p
from harbor.evaluation._report.tabular.loading import Loaded, Origin, as_frame
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table, columns_of, row_of
from harbor.evaluation._report.tabular.tables import models_of
from harbor.evaluation._running.trial_folder import NOT_SET


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The facts of one of the compared experiments: its games, players, days and costs.

    `began` has the days on which the first and the last game began, in UTC (empty: unknown). `cost` is in dollars, and
    `refused` is the number of refused answers. For a public copy of an experiment, `calls`, the tokens, `cost` and
    `refused` are None.
    """

    experiment: str
    name: str
    games: int
    finished: int
    failed: int
    unfinished: int
    simulated: bool
    public: bool
    players: str
    harbor: str
    python: str
    commit: str
    began: str
    calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    refused: int | None


class Compared:
    """Two or more experiments, each of them compared with the first one; `compare` makes this object.

    Its properties with tables are pandas frames, which are computed when they are first used.

    Args:
        experiments: the experiments, by the names under which tables show them.
        metrics: names of the metrics that are compared; by default, all that an experiment shares with the first one.

    Raises:
        ConfigError: there are fewer than two experiments, or two of them have nothing in common.
    """

    def __init__(self, experiments: Mapping[str, Loaded], metrics: Sequence[str] = ()) -> None:
        if len(experiments) < 2:
            raise ConfigError(f"{len(experiments)} experiment is nothing to compare; give two or more")
        self.experiments = dict(experiments)
        self.contrasts = contrasts({name: one.results for name, one in self.experiments.items()}, metrics)
        self.apart = list(self._apart())
        self.origins_apart = list(self._origins_apart())

    @cached_property
    def sides_compared(self) -> list[ComparedSide]:
        """The facts of each experiment; all other experiments are compared with the first one."""
        return [_side(name, one) for name, one in self.experiments.items()]

    @property
    def sides(self) -> pd.DataFrame:
        """One row per experiment: games, players, versions, days, calls, tokens and cost in dollars."""
        return as_frame(ComparedSide, self.sides_compared)

    @property
    def differences(self) -> pd.DataFrame:
        """One row per metric, bidder, arm and condition of each later experiment, which is compared with the first.

        A row has the mean in the first experiment, the mean in the later one, and their difference with its interval
        and test.
        """
        return as_frame(Contrast, self.contrasts)

    @property
    def settings(self) -> pd.DataFrame:
        """One row per setting in which the design of an experiment differs from the design of the first one.

        Arms, conditions and metrics that only one of the two designs has are rows too.
        """
        return as_frame(SettingApart, self.apart)

    @property
    def versions(self) -> pd.DataFrame:
        """The versions that are not those of the first experiment, one per row.

        The versions are those of Harbor, Python and packages, and the git commit.
        """
        return as_frame(SettingApart, self.origins_apart)

    def as_json(self) -> dict[str, object]:
        """Return the comparison as the JSON object that `harbor compare --json` prints."""
        sides = self.sides_compared
        return {
            "verdict": verdict(self),
            "simulated": any(one.simulated for one in sides),
            "experiments": [asdict(one) for one in sides],
            "differences": [asdict(one) for one in self.contrasts],
            "settings": [asdict(one) for one in self.apart],
            "versions": [asdict(one) for one in self.origins_apart],
        }

    def only_in_one(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield the arms, conditions and metrics that only one of two compared experiments has.

        Each item is the name of that experiment, the kind ("arm", "condition" or "metric"), and the names of that kind.
        """
        (first, reference), *others = self.experiments.items()
        for name, one in others:
            for side, its, others_ in ((name, one, reference), (first, reference, one)):
                for kind, names in _uncompared(its, others_):
                    yield side, kind, names

    def _apart(self) -> Iterator[SettingApart]:
        reference, *others = self.experiments.values()
        for name, one in zip([*self.experiments][1:], others, strict=True):
            yield from designs_apart(name, one.experiment, reference.experiment)

    def _origins_apart(self) -> Iterator[SettingApart]:
        reference, *others = self.experiments.values()
        own = _versions(reference.origin)
        for name, one in zip([*self.experiments][1:], others, strict=True):
            its = _versions(one.origin)
            for what in dict.fromkeys([*own, *its]):
                if own.get(what) != its.get(what):
                    yield SettingApart(name, what, its.get(what) or NOT_SET, own.get(what) or NOT_SET)


def compare(*experiments: str | Path | Loaded, metrics: Sequence[str] = ()) -> Compared:
    """Compare experiments with the first of them.

    In each arm and condition, games of two experiments with the same repeat number are compared as a pair if they have
    the same seed, items and seats. If an arm and condition has no such pair, all its games are compared as
    independent samples.

    Args:
        experiments: two or more folders of experiments, or results of `load`.
        metrics: names of the metrics that are compared; by default, all that an experiment shares with the first one.

    Raises:
        ConfigError: there are fewer than two experiments, an experiment is given twice, or an experiment has nothing in
            common with the first.
        RunFolderError: a folder is not that of an experiment.
    """
    folders = [Path(one) for one in experiments if not isinstance(one, Loaded)]
    for folder, times in Counter(folder.resolve() for folder in folders).items():
        if times > 1:
            raise ConfigError(f"{str(folder)!r} is given {times} times; compare it with another experiment")
    alike = Counter(folder.resolve().name for folder in folders)
    named: dict[str, Loaded] = {}
    for one in experiments:
        if isinstance(one, Loaded):
            name, loaded = one.experiment.name, one
        else:
            folder, loaded = Path(one), load(one)
            name = folder.resolve().name if alike[folder.resolve().name] == 1 else str(folder)
        named[name if name not in named else f"{name} ({len(named) + 1})"] = loaded
    return Compared(named, metrics)


def _side(name: str, loaded: Loaded) -> ComparedSide:
    results, origin, counts = loaded.results, loaded.origin, tally(loaded.results.records)
    days = sorted(moment[:10] for both in loaded.days.values() for moment in both)
    refused = sum(one.refused for game in results.records for one in game.refusals)
    told = not results.public
    return ComparedSide(
        name,
        results.experiment.name,
        counts.games,
        counts.finished,
        counts.failed,
        counts.unfinished,
        results.simulated,
        results.public,
        models_of(results),
        origin.harbor,
        origin.python,
        _commit(origin),
        " to ".join(dict.fromkeys([*days[:1], *days[-1:]])),
        counts.calls if told else None,
        counts.input_tokens if told else None,
        counts.output_tokens if told else None,
        counts.cost_dollars if told else None,
        refused if told else None,
    )


def _commit(origin: Origin) -> str:
    return f"{origin.commit[:12]}{' with changes' if origin.changed else ''}"


def _versions(origin: Origin) -> dict[str, str]:
    own = {"harbor": origin.harbor, "python": origin.python, "git commit": _commit(origin)}
    return {**own, **dict(origin.versions)}


def _uncompared(one: Loaded, other: Loaded) -> Iterator[tuple[str, list[str]]]:
    """Yield the arms, conditions and metrics of an experiment that the other lacks."""
    cells = [ours for ours, _ in shared_cells(one.results, other.results)]
    metrics = shared_metrics(other.results, one.results)
    arms, conditions = ({cell[place].name for cell in cells} for place in (0, 1))
    lacked = {
        "arm": [arm.name for arm in one.experiment.arms if arm.name not in arms],
        "condition": [each.name for each in one.experiment.conditions if each.name not in conditions],
        "metric": [name for name in measured(one.experiment) if name not in metrics],
    }
    yield from ((kind, names) for kind, names in lacked.items() if names)


MOST_TOLD = 3
"""The greatest number of differences that a verdict names."""


def verdict(compared: Compared) -> str:
    """Return one or two sentences on the differences. If none is found, they say that there may be one all the same."""
    found = [one for one in ranked(compared.contrasts) if one.is_found]
    count, tested = len(compared.contrasts), sum(one.p is not None for one in compared.contrasts)
    if count and all(one.is_equal for one in compared.contrasts):
        return f"Equal: {_all(count)} 0 in every pair of games."
    if found:
        named = "; ".join(told(one) for one in found[:MOST_TOLD])
        return f"{len(found)} of {counted(count, 'difference')} found (p after Holm below 0.05): {named}."
    if not tested:
        return f"Nothing can be said: none of {counted(count, 'difference')} can be tested. {_why_untested(compared)}"
    equal = sum(one.is_equal for one in compared.contrasts)
    also = f" {equal} are 0 in every pair of games." if equal else ""
    also += f" {count - tested - equal} could not be tested." if count > tested + equal else ""
    return (
        f"No difference is found among {count} (p after Holm below 0.05; intervals are not corrected).{also}"
        " They may differ all the same."
    )


def _all(count: int) -> str:
    return "the one difference is" if count == 1 else f"all {count} differences are"


def _why_untested(compared: Compared) -> str:
    notes = dict.fromkeys(one.note for one in compared.contrasts if one.note)
    return f"{'; '.join(notes).capitalize()}." if notes else ""


def told(one: Contrast) -> str:
    """Return a difference in words: metric, bidder, arm, size and interval."""
    unit = unit_of(one.metric)
    place = f"{one.arm}, " if one.arm != "all" else ""
    interval = write_interval(one.low, one.high, unit)
    return f"{one.metric} of {one.bidder or 'the game'} ({place}{one.experiment}) {signed(one)} {interval}".rstrip()


def signed(one: Contrast) -> str:
    """Return a difference with its sign, "+" for a positive one."""
    text = write(one.mean, unit_of(one.metric))
    return f"+{text}" if one.mean is not None and one.mean > 0 and text[:1] != "+" else text


def ranked(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Sort differences by their p, the lowest first, and within a p by the size of the effect."""
    return sorted(contrasts, key=lambda one: (inf if one.p is None else one.p, -abs(one.effect or 0)))


def how(compared: Compared) -> str:
    """Return a sentence that says whether games are compared as pairs, and if not, why."""
    pairs = {one.pairs for one in compared.contrasts if one.how == "paired"}
    whys = dict.fromkeys(one.why for one in compared.contrasts if one.how == "independent")
    said = []
    if pairs:
        span = f"{min(pairs)}" if len(pairs) == 1 else f"{min(pairs)} to {max(pairs)}"
        said.append(f"paired by repeat, as seeds, items and seats are shared ({span} pairs)")
    if whys:
        said.append(f"{'the rest ' if pairs else ''}as independent games, not as pairs: {'; '.join(whys)}")
    return f"Compared {', '.join(said)}." if said else "Nothing of it is measured in both."


def warnings(compared: Compared) -> Iterator[str]:
    """Yield the facts that limit a conclusion: public copies, failures, refusals, and parts of one side alone."""
    for one in compared.sides_compared:
        said = [
            "a public copy" if one.public else "",
            f"{counted(one.failed, 'game')} failed" if one.failed else "",
            f"{counted(one.unfinished, 'game')} not finished" if one.unfinished else "",
            f"{counted(one.refused, 'answer')} refused" if one.refused else "",
        ]
        if any(said):
            yield f"{one.experiment}: {', '.join(filter(None, said))} (of {one.games} games)"
    for side, kind, names in compared.only_in_one():
        yield f"only in {side}: {kind} {', '.join(names)}"


def differences_table(compared: Compared, contrasts: Sequence[Contrast], brief: bool = False) -> Table:
    """Return the differences: both means with interval and n (`brief`: the reference's alone), difference and p."""
    names = [*compared.experiments]
    varied = [name for name in ("experiment", "arm", "condition") if _varies(compared.contrasts, name)]
    own = "its mean" if "experiment" in varied else names[1]
    what = ("what",) if brief else ("metric", "bidder")
    means = [names[0]] if brief else [names[0], own]
    heads = (*columns_of([*what, *varied], [*means, "difference"]), Column(Cell("p", "Holm")))
    return Table(heads, tuple(_row(one, varied, brief) for one in contrasts))


def _varies(contrasts: Sequence[Contrast], name: str) -> bool:
    return len({getattr(one, name) for one in contrasts}) > 1


def _row(one: Contrast, varied: Sequence[str], brief: bool) -> tuple[Cell, ...]:
    unit = unit_of(one.metric)
    place = [Cell(str(getattr(one, name))) for name in varied]
    interval = write_interval(one.low, one.high, unit) or one.note
    what = (one.metric.replace("_", " "), one.bidder or "the game")
    ours, theirs = (in_draws(one.n, one.draws), in_draws(one.against_n, one.against_draws))
    against = "" if brief else _n(one.against_low, one.against_high, f"{one.against_n}{theirs}", unit)
    means = (
        Cell(write(one.against, unit), against),
        Cell(write(one.value, unit), _n(one.value_low, one.value_high, f"{one.n}{ours}", unit)),
    )
    return (
        *map(Cell, [f"{what[0]} of {what[1]}"] if brief else what),
        *place,
        *(means[:1] if brief else means),
        Cell(signed(one), interval),
        Cell(write_p(one.p_holm)),
    )


def _n(low: float | None, high: float | None, n: str, unit: Unit) -> str:
    return f"{write_interval(low, high, unit)} n = {n}".strip()


def sides_table(compared: Compared) -> Table:
    """Return the facts of the experiments side by side, one row a fact."""
    sides = compared.sides_compared
    heads = columns_of(["", *(one.experiment for one in sides)])
    facts = [facts_of(one) for one in sides]
    rows = [row_of(name, *(one[name] or NOTHING for one in facts)) for name in facts[0]]
    return Table(heads, tuple(row for row in rows if any(cell.text != NOTHING for cell in row[1:])))


def facts_of(one: ComparedSide) -> dict[str, str]:
    """Return the facts of an experiment by name; "" is unknown."""
    tokens = None if one.input_tokens is None or one.output_tokens is None else one.input_tokens + one.output_tokens
    return {
        "design": one.name,
        "played by": one.players if "simulated" in one.players or not one.simulated else f"{one.players} (simulated)",
        "games": f"{one.finished} of {one.games} finished" + (f", {one.failed} failed" if one.failed else ""),
        "began": one.began,
        "harbor": one.harbor,
        "git": one.commit,
        "calls": "" if one.calls is None else f"{one.calls:,}",
        "tokens": "" if tokens is None else f"{tokens:,}",
        "cost": "" if one.cost is None else write(one.cost, "dollars"),
    }


def apart_table(compared: Compared, apart: Sequence[SettingApart], what: str = "setting") -> Table:
    """Return the settings, or versions, that differ, with a column for each experiment."""
    first, *others = compared.experiments
    many = len(others) > 1
    heads = [*["experiment"] * many, what, first, "there" if many else others[0]]
    rows = ([*[one.experiment] * many, one.setting, one.against, one.value] for one in apart)
    return Table(columns_of(heads), tuple(row_of(*cells) for cells in rows))
