"""Spearman's rank correlation of values that come from games, by scipy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from harbor.evaluation._analysis.arrays import Floats, constant
from harbor.evaluation._analysis.levels import ALPHA

FEWEST_GAMES = 3
"""The fewest games of which each is left out in turn."""
BLOCK = 100
"""How many games are left out at once; more would take memory and no less time."""
METHOD = "jackknife of games"


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho over `n` pairs of values from so many games, with its interval and a p of the same kind."""

    games: int
    n: int
    rho: float | None
    p: float | None
    low: float | None
    high: float | None
    note: str = ""


def spearman(one: ArrayLike, other: ArrayLike, games: ArrayLike) -> RankCorrelation:
    """Correlate the ranks of two series of values, with an interval and a p that take games as wholes.

    Both are of Student's t of Fisher's z of rho, whose standard error is that of the jackknife: how much z changes
    without each game. So p is below 0.05 exactly where the interval leaves out zero.
    Source: Arvesen 1969; Efron and Tibshirani 1993, ch. 11.

    Args:
        one: one value of each pair.
        other: the other value of each pair.
        games: which game each pair is of.
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
    """Give rho without each game: NaN where a side is then constant.

    It is computed from pairs that count as often as they occur, for many games at once: ranking anew without each of a
    thousand games would take minutes.
    """
    pairs, which = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    codes = np.unique(np.asarray(games), return_inverse=True)[1]
    counts = sparse.csr_array((np.ones(len(x)), (codes, which.ravel())))  # how often each pair occurs in each game
    sides = [np.unique(side, return_inverse=True)[1] for side in pairs.T]
    total: Floats = np.asarray(counts.sum(axis=0))
    blocks = range(0, counts.shape[0], BLOCK)
    return np.concatenate([weighted_rho(total - counts[at : at + BLOCK].toarray(), *sides) for at in blocks])


def weighted_rho(weights: Floats, x: NDArray[np.int64], y: NDArray[np.int64]) -> Floats:
    """Correlate the mean ranks of pairs that count as often as their weights say; NaN where a side is constant.

    Args:
        weights: resamples by pairs.
        x: the rank of each pair's one value among the different ones, from 0.
        y: that of its other value.
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
