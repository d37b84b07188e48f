"""Runs as the logs of Inspect: one of a run or a series, and one for each arm of an experiment.

Inspect's viewer lists logs, and in a log samples by epoch. So a seat is a sample, a repeat (or an auction of a series)
an epoch, and an arm a log: its list then shows arms side by side, each with the means of its scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import fmean

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
)
from inspect_ai.model import ModelUsage

from harbor._core.version import __version__
from harbor._packs.inspect_sample import Game, samples
from harbor.evaluation._metrics.lineup import players


def inspect_log(task: str, games: Sequence[Game], complete: bool) -> EvalLog:
    """Give the log of games of one kind.

    Args:
        task: the name that it is shown by.
        games: one or more.
        complete: whether all of them came to their end; else the log is one that was cut off.
    """
    seats = [sample for game in games for sample in samples(game)]
    began = min(game.began for game in games)
    models = dict.fromkeys(player for game in games for player in players(game.entries).values())
    ids: list[int | str] = list(dict.fromkeys(sample.id for sample in seats))
    return EvalLog(
        status="success" if complete else "cancelled",
        eval=EvalSpec(
            created=began.isoformat(),
            task=task,
            dataset=EvalDataset(name=task, samples=len(ids), sample_ids=[str(one) for one in ids]),
            model=", ".join(models) or "unknown",
            config=EvalConfig(epochs=max(game.epoch for game in games)),
            packages={"harbor-auctions": __version__},
            metadata={"simulated": any((sample.metadata or {})["simulated"] for sample in seats)},
        ),
        results=EvalResults(
            total_samples=len(seats), completed_samples=len(seats), scores=list(_means(seats)), metadata=None
        ),
        stats=_stats(seats, began),
        samples=seats,
    )


def _means(seats: Sequence[EvalSample]) -> Iterator[EvalScore]:
    """Give the mean of each metric over all samples."""
    names = dict.fromkeys(name for sample in seats for name in sample.scores or {})
    for name in names:
        values = [(sample.scores or {})[name].as_float() for sample in seats if name in (sample.scores or {})]
        mean = EvalMetric(name="mean", value=fmean(values))
        yield EvalScore(name=name, scorer=name, scored_samples=len(values), metrics={"mean": mean})


def _stats(seats: Sequence[EvalSample], began: datetime) -> EvalStats:
    used: dict[str, ModelUsage] = {}
    for sample in seats:
        for model, usage in sample.model_usage.items():
            used[model] = used.get(model, ModelUsage()) + usage
    ended = max((sample.completed_at or "" for sample in seats), default="")
    return EvalStats(started_at=began.isoformat(), completed_at=ended, model_usage=used)
