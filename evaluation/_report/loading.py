"""The folder of an experiment as pandas frames: games, measurements and their analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from harbor._core.version import __version__
from harbor.evaluation._analysis.findings import (
    Analysis,
    Correlation,
    Difference,
    Estimate,
    SkillRating,
    Spread,
    analyse,
)
from harbor.evaluation._analysis.frames import frame
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.arm_calls import Days, days_of
from harbor.evaluation._running.experiment_folder import read_manifest, read_results

SIDE = ("arm", "condition", "bidder", "metric")


@dataclass(frozen=True, slots=True)
class Origin:
    """What an experiment was begun with: Harbor's version, digest of the design, packages, state of git."""

    harbor: str = __version__
    digest: str = ""
    python: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    changed: bool = False


UNKNOWN = Origin()


class Loaded:
    """An experiment and its results; each frame is made when it is first asked for.

    Frames have one row per game, measurement, estimate and so on, and the columns of `TrialRecord`, `Measurement`,
    `Estimate`, `Difference`, `Correlation`, `SkillRating` and `Spread`; missing numbers are NaN, counts and places
    are `Int64`.
    """

    def __init__(self, results: Results, origin: Origin = UNKNOWN, days: Days = MappingProxyType({})) -> None:
        self.results = results
        self.origin = origin
        self.days = days

    @property
    def experiment(self) -> Experiment:
        """The design."""
        return self.results.experiment

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the results, as data classes."""
        return analyse(self.results)

    @cached_property
    def games(self) -> pd.DataFrame:
        """One row per game, including unfinished and failed ones; `cost` is dollars.

        `players` and `answered_by` are JSON objects.
        """
        table = _table(TrialRecord, self.results.records).drop(columns="measurements")
        objects = {
            name: [json.dumps(dict(getattr(game, name))) for game in self.results.records]
            for name in ("players", "answered_by")
        }
        return table.assign(**objects)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One row per measurement of a finished game."""
        return frame(self.results)

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per estimate; the reasons in `why` are joined."""
        table = _table(Estimate, self.analysis.estimates)
        return table.assign(why=["; ".join(one.why) for one in self.analysis.estimates])

    @cached_property
    def differences(self) -> pd.DataFrame:
        """One row per planned comparison; its sides are `of_arm`, `of_condition`, `of_bidder`, `of_metric` etc."""
        table = _table(Difference, self.analysis.differences).drop(columns=["of", "against"])
        for side in ("against", "of"):
            for name in reversed(SIDE):
                values = [getattr(getattr(one, side), name) for one in self.analysis.differences]
                table.insert(1, f"{side}_{name}", pd.Series(values, dtype="str"))
        return table

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """One row per correlation in an arm under a condition."""
        return _table(Correlation, self.analysis.correlations)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """One row per bidder in an arm under a condition, rated by TrueSkill."""
        return _table(SkillRating, self.analysis.ratings)

    @cached_property
    def spreads(self) -> pd.DataFrame:
        """One row per metric, bidder, arm and condition, if all repeats are of one draw."""
        return _table(Spread, self.analysis.spreads)


TYPES = {
    "int": "int64",
    "int | None": "Int64",
    "float": "float64",
    "float | None": "float64",
    "tuple[str, ...]": "object",
    "tuple[tuple[str, str], ...]": "object",
    "tuple[tuple[str, int], ...]": "object",
    "tuple[Measurement, ...]": "object",
    "Side": "object",
}
"""Types of columns by the annotations of their fields, so that an empty table has them too; others are text."""


def _table(kind: type[Any], rows: Sequence[Any]) -> pd.DataFrame:
    types = {one.name: TYPES.get(str(one.type), "str") for one in fields(kind)}
    columns = {name: [_sound(getattr(row, name)) for row in rows] for name in types}
    return pd.DataFrame({name: pd.Series(values, dtype=types[name]) for name, values in columns.items()})


def _sound(value: object) -> object:
    """Escape lone surrogates, which a cut reply may contain and no file can."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def load(path: str | Path) -> Loaded:
    """Read the folder of an experiment, finished or not.

    Raises:
        RunFolderError: it is no folder of an experiment, or its design was changed.
        LogError: the log of a game was edited.
    """
    results = read_results(Path(path))
    return Loaded(results, _origin(Path(path)), days_of(Path(path), [arm.name for arm in results.experiment.arms]))


def _origin(path: Path) -> Origin:
    found = read_manifest(path)
    git = found.get("git") or {}
    return Origin(
        found["harbor"],
        found["config_digest"],
        found.get("python", ""),
        tuple((name, version or "not installed") for name, version in found.get("versions", {}).items()),
        git.get("commit", ""),
        git.get("changed", False),
    )
