"""Tables by arm of the models that answered the calls of an experiment, and of refused answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harbor._core.basics.numbers import counted
from harbor._core.files.layout import GAMES, MANIFEST
from harbor._core.files.safe_files import MOST_SETTINGS, read_sent
from harbor._core.log.events import NO_REQUESTS, Spent
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.calls import Noted, Refusals, dollars_in_all, notes_of, summed
from harbor.evaluation._report.tabular.formatting import NOTHING, write
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table
from harbor.evaluation._report.tabular.tables import label_of

Days = Mapping[str, tuple[str, str]]
"""First and last time at which a game of an arm began, in UTC."""


@dataclass(frozen=True, slots=True)
class ArmCalls:
    """The calls of an arm: all, from a cache, imported (replies from a file), failed for good, and refused.

    `answered_by` counts calls by the model that the provider named: one model name may mean another snapshot each
    month. `probes`, `lost` and `noted` are those of `CallTotals`. `cost` is in dollars, without them. `first` and
    `last` are the times at which the first and the last game began ("": unknown).
    """

    arm: str
    games: int
    calls: int
    cached: int
    imported: int
    failed: int
    games_with_failed: int
    answered_by: dict[str, int]
    refused: int
    probes: Spent
    lost: Spent
    noted: tuple[Noted, ...]
    cost: float | None
    first: str = ""
    last: str = ""

    @property
    def cached_share(self) -> float | None:
        """Return the share of calls that were answered from a cache; None without calls."""
        return self.cached / self.calls if self.calls else None


def days_of(folder: Path, arms: Sequence[str]) -> Days:
    """Return the first and last beginning of games by arm. Unreadable manifests are left out."""
    return {arm: (min(found), max(found)) for arm in arms if (found := _beginnings(folder / GAMES / arm))}


def _beginnings(arm: Path) -> list[str]:
    found = []
    for path in arm.glob(f"*/*/{MANIFEST}"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if path.parent.name.isdecimal():
                found.append(str(json.loads(read_sent(path, MOST_SETTINGS))["began"]))
    return found


def calls_by_arm(results: Results, days: Days) -> list[ArmCalls]:
    """Count the calls of each arm, in the order of the design."""
    return [
        _of_arm(arm.name, [one for one in results.records if one.arm == arm.name], *days.get(arm.name, ("", "")))
        for arm in results.experiment.arms
    ]


def _of_arm(arm: str, found: Sequence[TrialRecord], first: str, last: str) -> ArmCalls:
    answered = Counter[str]()
    for one in found:
        answered.update(dict(one.answered_by))
    return ArmCalls(
        arm,
        sum(one.status != "unfinished" for one in found),
        sum(one.calls for one in found),
        sum(one.cached_calls for one in found),
        sum(one.imported_calls for one in found),
        sum(one.failed_calls for one in found),
        sum(one.failed_calls > 0 for one in found),
        dict(answered.most_common()),
        sum(one.refused_calls for one in found),
        sum((one.probes for one in found), NO_REQUESTS),
        sum((one.lost for one in found), NO_REQUESTS),
        summed(one.noted for one in found),
        dollars_in_all(one.cost for one in found if one.calls),
        first,
        last,
    )


def calls_table(results: Results, days: Days) -> Table:
    """List the calls of each arm. Refusals of models get a column if there are any."""
    arms = calls_by_arm(results, days)
    refusing = any(one.refused for one in arms)
    counts = (Cell("games"), Cell("calls"), Cell("cached", "share"), Cell("failed", "for good"))
    heads = (
        Column(Cell("arm"), numeric=False),
        *(Column(head) for head in (*counts, *([Cell("refused", "by the model")] if refusing else []))),
        *(Column(Cell(head), numeric=False) for head in ("answered by", "games began")),
    )
    return Table(heads, tuple(_row(results, one, refusing) for one in arms))


def call_notes(results: Results) -> list[str]:
    """Return notes on the calls of each arm: requests without a reply, odd replies, keys, fallback models."""
    return [
        f"{label_of(results.experiment, 'arm', one.arm)}: {'; '.join(notes)}."
        for one in calls_by_arm(results, {})
        if (notes := list(notes_of(one.noted, one.probes, one.lost, one.cost)))
    ]


def _row(results: Results, one: ArmCalls, refusing: bool) -> tuple[Cell, ...]:
    named = ", ".join(f"{model} ({count:,})" for model, count in one.answered_by.items())
    spoiled = f"in {one.games_with_failed} games" if one.failed else ""
    return (
        Cell(label_of(results.experiment, "arm", one.arm)),
        Cell(str(one.games)),
        Cell(f"{one.calls:,}"),
        Cell(write(one.cached_share, "share"), f"{one.imported:,} imported" if one.imported else ""),
        Cell(f"{one.failed:,}", spoiled),
        *([Cell(f"{one.refused:,}")] if refusing else []),
        Cell(named or NOTHING),
        Cell(" to ".join(dict.fromkeys(moment[:10] for moment in (one.first, one.last))) or NOTHING),
    )


@dataclass(frozen=True, slots=True)
class ArmRefusals:
    """The refused answers of a bidder in the finished games of an arm in which it has any.

    The bidder was asked `asked` times in these `games`; in `entire` of them all its answers were refused. `by_model`
    counts refusals by its model. `alarming` says whether to warn, and `first` is the first reason.
    """

    arm: str
    bidder: str
    refused: int
    asked: int
    games: int
    entire: int
    by_model: int
    alarming: bool
    first: str


def refusals_by_arm(results: Results) -> list[ArmRefusals]:
    """Add up the refused answers of each bidder in each arm, in the order of the design."""
    found: dict[tuple[str, str], list[Refusals]] = {}
    for arm in results.experiment.arms:
        for game in results.of("finished"):
            for one in game.refusals if game.arm == arm.name else ():
                found.setdefault((arm.name, one.bidder), []).append(one)
    return [
        ArmRefusals(
            arm,
            bidder,
            refused=sum(one.refused for one in games),
            asked=sum(one.asked for one in games),
            games=len(games),
            entire=sum(one.entire for one in games),
            by_model=sum(one.by_model for one in games),
            alarming=any(one.alarming for one in games),
            first=next((one.first for one in games if one.by_model), games[0].first),
        )
        for (arm, bidder), games in found.items()
    ]


def refusals_told(results: Results) -> Iterator[str]:
    """Warn of bidders with alarming refusals: refused answers of agents, refusing models, or no accepted answer."""
    for one in refusals_by_arm(results):
        if one.alarming:
            how_often = f"{one.bidder} was asked {counted(one.asked, 'time')} in {counted(one.games, 'game')}"
            refused = f"its answers were refused {counted(one.refused, 'time')}"
            entire = f" ({counted(one.entire, 'game')} without any that was taken)" if one.entire else ""
            own = f"; its model refused to answer {counted(one.by_model, 'time')}" if one.by_model else ""
            yield f"{_arm(results, one)}: {how_often}, and {refused}{entire}{own}; the first time: {one.first}"


def refusals_table(results: Results) -> Table:
    """List refused answers by arm and bidder."""
    heads = [Column(Cell(head), numeric=False) for head in ("arm", "bidder")]
    heads += [Column(Cell("refused", "answers")), Column(Cell("asked", "times")), Column(Cell("games"))]
    heads += [Column(Cell("all refused", "games")), Column(Cell("the first reason"), numeric=False)]
    rows = []
    for one in refusals_by_arm(results):
        counts = (one.refused, one.asked, one.games, one.entire)
        texts = (_arm(results, one), one.bidder, *(f"{count:,}" for count in counts), one.first)
        rows.append(tuple(Cell(text) for text in texts))
    return Table(tuple(heads), tuple(rows))


def _arm(results: Results, one: ArmRefusals) -> str:
    return label_of(results.experiment, "arm", one.arm)
