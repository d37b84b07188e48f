"""Planned correlations of metrics that are measured per item: Spearman's rank correlation, by scipy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from harbor.evaluation._analysis.frames import GAME, game_values
from harbor.evaluation._analysis.levels import ALPHA
from harbor.evaluation._analysis.pivots import Floats, constant
from harbor.evaluation._experiments.design import EVERYONE
from harbor.evaluation._experiments.trial_records import Results

FEWEST_GAMES = 3
"""Fewest games for a jackknife."""
BLOCK = 100
"""Number of games left out at once; more would take memory and save no time."""
METHOD = "jackknife of games"


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho over `n` pairs of values of `games` games, with an interval and a p from one standard error."""

    games: int
    n: int
    rho: float | None
    p: float | None
    low: float | None
    high: float | None
    note: str = ""


def spearman(one: ArrayLike, other: ArrayLike, games: ArrayLike) -> RankCorrelation:
    """Correlate the ranks of two series of values, with an interval and a p that take games as wholes.

    Both use Student's t for Fisher's z of rho. The standard error of z is that of the jackknife over games. So p is
    below 0.05 exactly if the interval leaves out zero.
    Source: Arvesen 1969; Efron and Tibshirani 1993, ch. 11.

    Args:
        one: one value of each pair.
        other: the other value of each pair.
        games: the game of each pair.
    """
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    count = np.unique(np.asarray(games)).size
    if len(x) < 3:
        return RankCorrelation(count, len(x), None, None, None, None, "fewer than 3 pairs")
    if constant(x) or constant(y):
        return RankCorrelation(count, len(x), None, None, None, None, "the values of one side are all equal")
    rho = float(stats.spearmanr(x, y).statistic)
    if count < FEWEST_GAMES:
        return RankCorrelation(count, len(x), rho, None, None, None, f"fewer than {FEWEST_GAMES} games to leave out")
    every = np.append(_without_each(x, y, games), rho)
    if not (np.abs(every) < 1 - 1e-12).all():
        return RankCorrelation(count, len(x), rho, None, None, None, "rho is 1 or -1, or rests on one game")
    *without, z = np.arctanh(every)
    error = float(np.std(without) * np.sqrt(count - 1))
    if error < 1e-12:
        return RankCorrelation(count, len(x), rho, None, None, None, "rho is the same without any one game")
    reach = stats.t.isf(ALPHA / 2, count - 1) * error
    p = 2 * stats.t.sf(abs(z) / error, count - 1)
    return RankCorrelation(count, len(x), rho, float(p), float(np.tanh(z - reach)), float(np.tanh(z + reach)))


def _without_each(x: Floats, y: Floats, games: ArrayLike) -> Floats:
    """Return rho without each game; NaN if a side is then constant.

    Equal pairs are counted once with weights, for many games at once. A new ranking without each of a thousand games
    would take minutes.
    """
    pairs, which = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    codes = np.unique(np.asarray(games), return_inverse=True)[1]
    counts = sparse.csr_array((np.ones(len(x)), (codes, which.ravel())))  # how often each pair occurs in each game
    sides = [np.unique(side, return_inverse=True)[1] for side in pairs.T]
    total: Floats = np.asarray(counts.sum(axis=0))
    blocks = range(0, counts.shape[0], BLOCK)
    return np.concatenate([weighted_rho(total - counts[at : at + BLOCK].toarray(), *sides) for at in blocks])


def weighted_rho(weights: Floats, x: NDArray[np.int64], y: NDArray[np.int64]) -> Floats:
    """Correlate the mean ranks of weighted pairs; NaN if a side is constant.

    Args:
        weights: resamples by pairs.
        x: rank of each pair's first value among the distinct values, from 0.
        y: rank of its second value.
    """
    spans = []
    for side in (x, y):
        ties = np.asarray(weights @ sparse.csr_array((np.ones(len(side)), (np.arange(len(side)), side))))
        ranks = np.cumsum(ties, axis=-1) - (ties - 1) / 2
        spans.append(ranks[..., side] - (weights.sum(axis=-1, keepdims=True) + 1) / 2)
    one, other = spans
    together = (weights * one * other).sum(axis=-1)
    apart = np.sqrt((weights * one**2).sum(axis=-1) * (weights * other**2).sum(axis=-1))
    rho: Floats = np.divide(together, apart, out=np.full_like(together, np.nan), where=apart > 0)
    return rho


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho of two metrics over bidders and items, with a 95 % interval and a p.

    The interval and the p come from a jackknife (`method`) that leaves out one random draw at a time; each game is a
    draw of its own unless games share one. `pairs` counts each bidder and item of each game once. `note` says why there
    is no rho, or why there are no interval and p.
    """

    name: str
    arm: str
    condition: str
    bidder: str
    games: int
    pairs: int
    rho: float | None
    p: float | None
    low: float | None
    high: float | None
    method: str
    note: str = ""
    draws: int = 0


def correlations(results: Results, values: pd.DataFrame) -> Iterator[Correlation]:
    """Correlate each planned pair of metrics in every cell, over all bidders and, if there are several, for each.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    own = game_values(values[values["bidder"] != EVERYONE])
    for one, other in results.experiment.correlations:
        on = ["arm", "condition", "bidder", "about", "at", *GAME]
        sides = (own[own["metric"] == metric].drop(columns="metric") for metric in (one, other))
        joined = next(sides).merge(next(sides), on=on)
        for arm, condition in results.experiment.cells:
            cell = joined[(joined["arm"] == arm.name) & (joined["condition"] == condition.name)]
            bidders = sorted(set(cell["bidder"]))
            yield _correlation(f"{one} ~ {other}", arm.name, condition.name, EVERYONE, cell)
            for bidder in bidders if len(bidders) > 1 else []:
                rows = cell[cell["bidder"] == bidder]
                yield _correlation(f"{one} ~ {other}", arm.name, condition.name, bidder, rows)


def _correlation(name: str, arm: str, condition: str, bidder: str, rows: pd.DataFrame) -> Correlation:
    found = spearman(rows["value_x"].to_numpy(), rows["value_y"].to_numpy(), rows["draw"].tolist())
    rank = (rows["repeat"].nunique(), found.n, found.rho, found.p, found.low, found.high)
    method = "none" if found.low is None else METHOD
    return Correlation(name, arm, condition, bidder, *rank, method, found.note, found.games)
