"""Compares two runs by their logs alone, and lists the settings in which two designs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from harbor._core.basics.numbers import as_number
from harbor._core.files.layout import log_of
from harbor._core.log.events import LogOpened
from harbor._core.log.log import difference, is_public, of_type, read_log
from harbor._core.log.log_entries import Entry
from harbor._house.compared_log import differing as verdict_on
from harbor._runs.folder import read_config
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._metrics.calls import is_simulated, players
from harbor.evaluation._metrics.summary import is_series, summarise, summarise_series
from harbor.evaluation._running.trial_folder import Json, differing, short

WORDS = frozenset({"title", "question", "source", "note", "published", "deviations", "stand_ins"})
"""Fields of a design that describe it and change no game."""


@dataclass(frozen=True, slots=True)
class SettingApart:
    """A setting that differs in `experiment`, with its value there and in the reference, in words."""

    experiment: str
    setting: str
    value: str
    against: str


def designs_apart(name: str, of: Experiment, against: Experiment) -> Iterator[SettingApart]:
    """Yield the settings of a design, shown by `name`, that differ from those of another."""
    ours, theirs = (_by_name(one.model_dump(mode="json", exclude=set(WORDS))) for one in (of, against))
    for setting, its, own in differing("", theirs, ours):
        yield SettingApart(name, setting, short(own), short(its))


def _by_name(value: Json) -> Json:
    """Turn lists of named parts into tables by name, so that an arm is compared with its namesake at any place."""
    if isinstance(value, list) and value and all(isinstance(one, dict) and "name" in one for one in value):
        return {str(one["name"]): _by_name(one) for one in value if isinstance(one, dict)}
    return {key: _by_name(one) for key, one in value.items()} if isinstance(value, dict) else value


Standing = dict[str, dict[str, object]]
"""The final figures of each bidder, by the name of the figure."""


@dataclass(frozen=True, slots=True)
class RunSide:
    """A run: its seed (None: a public copy), standings, players, number of events, and whether it is over."""

    run: str
    seed: int | None
    standings: Standing
    players: dict[str, str]
    simulated: bool
    events: int
    complete: bool


@dataclass(frozen=True, slots=True)
class FirstApart:
    """The first event that differs: its line in the logs, its type, and its two versions, as JSON or in words."""

    line: int
    event: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Two runs. `event` is None if events differ in clocks alone. `untold` names parts that can't be compared."""

    sides: tuple[RunSide, RunSide]
    settings: tuple[SettingApart, ...]
    event: FirstApart | None
    untold: str = ""

    @property
    def verdict(self) -> str:
        """Return a sentence on whether they are the same game, and up to which line."""
        if self.event is not None:
            return f"They are the same up to line {self.event.line} of their logs: {self.event.event}."
        return f"They are the same game: none of {self.sides[0].events} events differs but in clocks."

    def as_json(self) -> dict[str, object]:
        """Return the object that `--json` prints."""
        simulated = any(side.simulated for side in self.sides)
        return {"verdict": self.verdict, "simulated": simulated, **asdict(self)}


def compare_runs(first: Path, second: Path) -> ComparedRuns:
    """Compare two runs, or two series.

    Raises:
        RunFolderError: one is no folder of a run, or its settings were changed.
        LogError: a log can't be read.
    """
    logs = [read_log(log_of(folder)) for folder in (first, second)]
    one, other = (reading.entries for reading in logs)
    sides = [
        _side(str(folder), reading.entries, reading.complete)
        for folder, reading in zip((first, second), logs, strict=True)
    ]
    public = [str(folder) for folder, entries in ((first, one), (second, other)) if is_public(entries)]
    settings = () if public else tuple(_settings(first, second))
    untold = f"settings are not told by a public copy: {', '.join(public)}" if public else ""
    return ComparedRuns((sides[0], sides[1]), settings, _first_apart(one, other), untold)


def _side(run: str, entries: Sequence[Entry], complete: bool) -> RunSide:
    seed = of_type(entries, LogOpened)[0].seed
    return RunSide(run, seed, _standings(entries), players(entries), is_simulated(entries), len(entries), complete)


def _standings(entries: Sequence[Entry]) -> Standing:
    if is_series(entries):
        series = summarise_series(entries)
        profits = series.total_profits
        return {
            bidder: {"mean rank": rank, "total profit": as_number(profits[bidder])}
            for bidder, rank in series.mean_ranks.items()
        }
    rows = summarise(entries).as_json()["standings"]
    return {str(row.pop("bidder", number)): row for number, row in enumerate(rows, start=1)}


def _settings(first: Path, second: Path) -> Iterator[SettingApart]:
    """Yield the settings that differ, except the name: it changes nothing in a run."""
    one, other = (read_config(folder).model_dump(mode="json", exclude={"name"}) for folder in (first, second))
    for setting, its, own in differing("", one, other):
        yield SettingApart(str(second), setting, short(own), short(its))


def _first_apart(one: Sequence[Entry], other: Sequence[Entry]) -> FirstApart | None:
    """Find the first event that differs in more than clocks, after the first lines, which name the runs."""
    if (pair := first_pair(one[1:], other[1:])) is None:
        return None
    line = next(entry.seq for entry in pair if entry) + 1
    found = verdict_on("deep", line, *(entry.event if entry else None for entry in pair))
    return FirstApart(line, found.event, found.expected, found.found)


def first_pair(one: Sequence[Entry], other: Sequence[Entry]) -> tuple[Entry | None, Entry | None] | None:
    """Return the first two entries at one place that differ in more than clocks. None in the pair: the log ended."""
    for its, own in zip_longest(one, other):
        if its is None or own is None or difference(its.event, own.event):
            return its, own
    return None
