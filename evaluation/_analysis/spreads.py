"""How much games of one draw differ: the noise of a model, where nothing else is varied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from harbor.evaluation._analysis.comparisons import by_repeat
from harbor.evaluation._analysis.means import Mean, mean_of
from harbor.evaluation._experiments.design import EVERYONE, Side, measured
from harbor.evaluation._experiments.trial_records import Results

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of a metric over the games of a cell, which are all of one draw, with its 95 % interval.

    The interval is that of a chi-square, as if values were normal (None: `note` says why there is none). `bidder` is a
    name, or "everyone": the mean over the bidders of each game, or the value of the game.
    """

    metric: str
    arm: str
    condition: str
    bidder: str
    games: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    note: str = ""


def spreads(results: Results, values: pd.DataFrame) -> Iterator[Spread]:
    """Give the spread of every metric in every cell; nothing for an experiment whose repeats are of different draws.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    if not results.experiment.same_seed:
        return
    for metric in measured(results.experiment):
        own = values[values["metric"] == metric]
        bidders = [EVERYONE, *sorted(set(own["bidder"]) - {EVERYONE, ""})]
        for arm, condition in results.experiment.cells:
            for bidder in bidders:
                side = Side(arm=arm.name, condition=condition.name, bidder=bidder)
                found = mean_of(by_repeat(own, metric, side).to_numpy())
                if found.n or bidder == EVERYONE:
                    low, high = _interval(found)
                    yield Spread(
                        metric, arm.name, condition.name, bidder, found.n, found.mean, found.sd, low, high, found.note
                    )


def _interval(found: Mean) -> tuple[float | None, float | None]:
    if not found.sd:
        return None, None
    free, tail = found.n - 1, (1 - CONFIDENCE) / 2
    low, high = (float(found.sd * np.sqrt(free / stats.chi2.ppf(q, free))) for q in (1 - tail, tail))
    return low, high
