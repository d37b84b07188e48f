"""Spearman's rank correlation of values that come from games, by scipy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from harbor.evaluation._analysis.statistics import Floats, constant, generator

RESAMPLES = 999
FEWEST_CLUSTERS = 5
"""The fewest games that are resampled: fewer have too few different samples."""


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho over `n` pairs of values from so many games, its p, and an interval."""

    games: int
    n: int
    rho: float | None
    p: float | None
    low: float | None
    high: float | None
    note: str = ""


def spearman(one: ArrayLike, other: ArrayLike, games: ArrayLike) -> RankCorrelation:
    """Correlate the ranks of two series of values, with an interval by resampling whole games.

    `p` is scipy's, which treats pairs as independent, as the published ones do; the interval does not.
    Resamples in which a series is constant have no rho and are left out.

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
    found = stats.spearmanr(x, y)
    rho, p = float(found.statistic), float(found.pvalue)
    if count < FEWEST_CLUSTERS:
        return RankCorrelation(count, len(x), rho, p, None, None, f"fewer than {FEWEST_CLUSTERS} games to resample")
    low, high = _resampled_rho(x, y, games)
    return RankCorrelation(count, len(x), rho, p, low, high)


def _resampled_rho(x: Floats, y: Floats, games: ArrayLike) -> tuple[float, float]:
    """Give the 2.5 and 97.5 % quantiles of rho over resamples of games.

    A game counts as often as it was drawn, and so do its pairs: rho is computed from weighted pairs for all resamples
    at once, which scipy does not offer. Ranking each resample anew would take minutes for a thousand games.
    """
    pairs, which = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    codes = np.unique(np.asarray(games), return_inverse=True)[1]
    counts = sparse.csr_array((np.ones(len(x)), (codes, which.ravel())))  # how often each pair occurs in each game
    count, sides = codes.max() + 1, [np.unique(side, return_inverse=True)[1] for side in pairs.T]

    def rho(drawn: NDArray[np.int64], axis: int) -> Floats:
        times = np.apply_along_axis(np.bincount, axis, drawn, minlength=count)
        return weighted_rho(np.asarray(times @ counts), *sides)

    draws = (np.arange(count),)
    found = stats.bootstrap(
        draws, rho, n_resamples=RESAMPLES, batch=100, vectorized=True, method="percentile", rng=generator()
    )
    spread = found.bootstrap_distribution[np.isfinite(found.bootstrap_distribution)]
    low, high = np.quantile(spread, (0.025, 0.975))
    return float(low), float(high)


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
