"""Whose answers were refused in the games of an experiment: their numbers beside others' are no choice of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harbor._core.counting import counted
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.refusals import Refusals
from harbor.evaluation._report.tables import Cell, Column, Table, label_of


@dataclass(frozen=True, slots=True)
class ArmRefusals:
    """The refused answers of a bidder in the finished games of an arm in which there are any.

    It was asked `asked` times in these `games`; in `entire` of them all its answers were refused. `by_model` is how
    often its model refused to answer. `alarming` says whether to warn of it, and `first` is the first reason.
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
    """Warn in words of agents whose answers were refused, of models that refused, and of who was never understood."""
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
