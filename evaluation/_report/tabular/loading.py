"""The folder of an experiment as pandas frames: games, measurements and their analysis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from harbor._core.faces import __version__
from harbor._runs.manifest import AT, history_in, in_words
from harbor.evaluation._analysis.findings import (
    Analysis,
    Correlation,
    Difference,
    Estimate,
    SkillRating,
    Spread,
    VarianceShare,
    analyse,
)
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.tabular.arm_calls import Days, days_of
from harbor.evaluation._running.experiment_folder import read_manifest, read_results

LONGEST_OPTIONS = 300
"""The greatest number of characters of options that are shown, as the folder may come from somebody else."""
SIDE = ("arm", "condition", "bidder", "metric")
"""Names of a side of a comparison, each a column."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The versions with which an experiment began: Harbor, digest of the design, Python, packages, commit.

    `changed` says whether files differed from the commit; newer manifests leave this out. `options` are the options of
    the experiment's sessions in words, at first and after each change. `mixed` says whether the cache or the lane of
    calls changed between sessions, which may affect replies.
    """

    harbor: str = __version__
    digest: str = ""
    python: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    changed: bool = False
    options: tuple[str, ...] = ()
    mixed: bool = False


UNKNOWN = Origin()
"""Origin of results without a folder."""
UNTOLD = (
    "seed",
    "calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
    "cached_calls",
    "failed_calls",
    "imported_calls",
    "refused_calls",
    "probes",
    "lost",
    "noted",
    "answered_by",
    "refusals",
)
"""Columns of games that a public copy lacks: there they would be 0 though unknown."""


LinkOf = Callable[[str, str, int], str]
"""Returns the address of a game's page by arm, condition and repeat; "" without a page."""


def nowhere(arm: str, condition: str, repeat: int) -> str:
    """Return no link for any game."""
    del arm, condition, repeat
    return ""


class Loaded:
    """An experiment and its results, as pandas frames, which are computed when they are first used.

    A frame has one row per game, measurement, estimate and so on. Its columns are the fields of `TrialRecord`,
    `Measurement`, `Estimate`, `Difference`, `Correlation`, `SkillRating`, `Spread` or `VarianceShare`. Missing numbers
    are NaN; counts and positions have the type `Int64`. `link_of` returns the address of a game's page, to which dots
    in figures link.
    """

    def __init__(self, results: Results, origin: Origin = UNKNOWN, days: Days = MappingProxyType({})) -> None:
        self.results = results
        self.origin = origin
        self.days = days
        self.link_of: LinkOf = nowhere
        self.folder: Path | None = None
        self.view: Callable[[Loaded], str] | None = None

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook; None unless `load` made the object."""
        return self.view(self) if self.view else None

    @property
    def experiment(self) -> Experiment:
        """The design of the experiment."""
        return self.results.experiment

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the results, as data classes. Each kind of result is computed when it is first used."""
        return analyse(self.results)

    @cached_property
    def games(self) -> pd.DataFrame:
        """One row per game, including unfinished and failed ones. `cost` is in dollars.

        `players`, `answered_by`, `refusals` (refused answers by bidder), `probes`, `lost` and `noted` are JSON.
        """
        table = as_frame(TrialRecord, self.results.records).drop(columns="measurements")
        objects = {
            name: [json.dumps(dict(getattr(game, name))) for game in self.results.records]
            for name in ("players", "answered_by")
        }
        refused = [{one.bidder: one.refused for one in game.refusals} for game in self.results.records]
        objects["refusals"] = [json.dumps(one) for one in refused]
        for name in ("probes", "lost"):
            objects[name] = [json.dumps(asdict(getattr(game, name))) for game in self.results.records]
        objects["noted"] = [json.dumps([asdict(one) for one in game.noted]) for game in self.results.records]
        return table.assign(**objects).drop(columns=list(UNTOLD) if self.results.public else [])

    @cached_property
    def measured(self) -> frozenset[str]:
        """The names of the metrics that have at least one value."""
        return frozenset(
            one.metric for game in self.results.records for one in game.measurements if one.value is not None
        )

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One row per measurement of a finished game."""
        return self.analysis.table.copy()  # the caller may write into the copy

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per estimate: the mean of a metric over the games of an arm under a condition.

        The column `why` has the reasons for missing values, joined to one text.
        """
        table = as_frame(Estimate, self.analysis.estimates)
        return table.assign(why=["; ".join(one.why) for one in self.analysis.estimates])

    @cached_property
    def differences(self) -> pd.DataFrame:
        """One row per planned comparison of one side with another.

        Columns such as `of_arm` and `of_bidder` name the side that is compared, and columns such as `against_arm` and
        `against_bidder` the side with which it is compared.
        """
        return _sided(self.analysis.differences)

    @cached_property
    def companions(self) -> pd.DataFrame:
        """One row per difference of a rival or the seller, beside a planned comparison of a bidder with itself.

        Where the design compares a bidder with itself in another arm or condition, these rows tell what the others
        gained or lost.
        """
        return _sided(self.analysis.companions)

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """One row per planned correlation of two metrics, arm and condition."""
        return as_frame(Correlation, self.analysis.correlations)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """One row per bidder, arm and condition, with the bidder's TrueSkill rating."""
        return as_frame(SkillRating, self.analysis.ratings)

    @cached_property
    def spreads(self) -> pd.DataFrame:
        """One row per metric, bidder, arm and condition: the standard deviation over games with the same random draws.

        The frame is empty unless all repeats share their random draws.
        """
        return as_frame(Spread, self.analysis.spreads)

    @cached_property
    def variance(self) -> pd.DataFrame:
        """One row per metric, bidder and source of variance: the share of the variance that the source explains.

        The frame is empty if the design has no factors. `means` is a JSON object.
        """
        means = [json.dumps(dict(one.means)) for one in self.analysis.variance]
        return as_frame(VarianceShare, self.analysis.variance).assign(means=pd.Series(means, dtype="str"))


TYPES = {
    "int": "int64",
    "int | None": "Int64",
    "bool": "bool",
    "float": "float64",
    "float | None": "float64",
    "tuple[str, ...]": "object",
    "tuple[tuple[str, str], ...]": "object",
    "tuple[tuple[str, int], ...]": "object",
    "tuple[tuple[str, float], ...]": "object",
    "tuple[Measurement, ...]": "object",
    "Side": "object",
}
"""Types of columns by the annotations of their fields, so that an empty frame has them too. Others are text."""


def _sided(found: Sequence[Difference]) -> pd.DataFrame:
    """Return differences as a frame, with a column for each name of each of their sides."""
    table = as_frame(Difference, found).drop(columns=["of", "against"])
    for side in ("against", "of"):
        for name in reversed(SIDE):
            values = [getattr(getattr(one, side), name) for one in found]
            table.insert(1, f"{side}_{name}", pd.Series(values, dtype="str"))
    return table


def as_frame(kind: type[Any], rows: Sequence[Any]) -> pd.DataFrame:
    """Return data classes of a kind as a frame: one row each, a column for each field."""
    types = {one.name: TYPES.get(str(one.type), "str") for one in fields(kind)}
    columns = {name: [_sound(getattr(row, name)) for row in rows] for name in types}
    return pd.DataFrame({name: pd.Series(values, dtype=types[name]) for name, values in columns.items()})


def _sound(value: object) -> object:
    """Escape lone surrogates: a cut reply may contain them, but a file can't."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def read_experiment(path: Path) -> Loaded:
    """Read the folder of an experiment, which need not be finished."""
    results = read_results(path)
    loaded = Loaded(results, _origin(path), days_of(path, [arm.name for arm in results.experiment.arms]))
    loaded.folder = path
    return loaded


def _origin(path: Path) -> Origin:
    found, history = read_manifest(path), history_in(path)
    git = found.get("git") or {}
    return Origin(
        found["harbor"],
        found["config_digest"],
        found.get("python", ""),
        tuple((name, version or "not installed") for name, version in found.get("versions", {}).items()),
        git.get("commit", ""),
        git.get("changed", False),
        _options(history),
        len({f"{one.get('cache')} {one.get('lane')}" for one in history}) > 1,
    )


def _options(history: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    since = [f"from {one[AT]} on: " if number and AT in one else "" for number, one in enumerate(history)]
    return tuple(f"{when}{in_words(one)}"[:LONGEST_OPTIONS] for when, one in zip(since, history, strict=True))
