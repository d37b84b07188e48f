"""Experiments side by side: what each found, how they differ, and what in their designs and versions does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from harbor._core.errors import ConfigError
from harbor.evaluation._analysis.between import Contrast, contrasts, shared_cells, shared_metrics
from harbor.evaluation._experiments.design import measured
from harbor.evaluation._report.loading import Loaded, Origin, as_frame, load
from harbor.evaluation._report.tables import models_of
from harbor.evaluation._running.designs_apart import SettingApart, designs_apart
from harbor.evaluation._running.differences import NOT_SET
from harbor.evaluation._running.tally import tally


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One of the experiments that are compared: its games, what played them and when, and what they took.

    `began` is when its first and its last game began, in UTC (empty: unknown). `cost` is in dollars, and `refused`
    counts answers; these, calls and tokens are None of a public copy, which does not tell them.
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
    """Two experiments or more, each compared with the first; frames are made when they are first asked for.

    Args:
        experiments: by the names that they are shown by.
        metrics: which to compare; all that both of two are measured by, by default.

    Raises:
        ConfigError: two have nothing in common, or there are not two.
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
        """The experiments, the one that the others are compared with first."""
        return [_side(name, one) for name, one in self.experiments.items()]

    @property
    def sides(self) -> pd.DataFrame:
        """One row per experiment: games, players, versions, when it was begun, and what it took."""
        return as_frame(ComparedSide, self.sides_compared)

    @property
    def differences(self) -> pd.DataFrame:
        """One row per metric, bidder, arm and condition: both means, and their difference with interval and test."""
        return as_frame(Contrast, self.contrasts)

    @property
    def settings(self) -> pd.DataFrame:
        """One row per setting of the designs that differs, and per arm, condition or metric that only one has."""
        return as_frame(SettingApart, self.apart)

    @property
    def versions(self) -> pd.DataFrame:
        """One row per version that differs: of Harbor, Python, packages and git."""
        return as_frame(SettingApart, self.origins_apart)

    def as_json(self) -> dict[str, object]:
        """Give the object that `--json` prints."""
        from harbor.evaluation._report.compared_words import verdict

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
        """Give an experiment, a kind of thing, and its names that the one that it is compared with lacks; and back."""
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
    """Compare experiments with the first of them, paired by repeat where they share seeds, items and seats.

    Args:
        experiments: their folders, or what `load` gave of them; two or more.
        metrics: which to compare; all that both of two are measured by, by default.

    Raises:
        ConfigError: there are not two, one is given twice, or two have nothing in common.
        RunFolderError: one is no folder of an experiment.
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
    """List the arms, conditions and metrics of an experiment that the other lacks."""
    cells = [ours for ours, _ in shared_cells(one.results, other.results)]
    metrics = shared_metrics(other.results, one.results)
    arms, conditions = ({cell[place].name for cell in cells} for place in (0, 1))
    lacked = {
        "arm": [arm.name for arm in one.experiment.arms if arm.name not in arms],
        "condition": [each.name for each in one.experiment.conditions if each.name not in conditions],
        "metric": [name for name in measured(one.experiment) if name not in metrics],
    }
    yield from ((kind, names) for kind, names in lacked.items() if names)
