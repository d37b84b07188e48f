"""Coverage of intervals and error rates of tests: laws from which games are drawn, and rates over many samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, sqrt

import numpy as np
from scipy import stats

from harbor.evaluation._analysis.correlations import spearman
from harbor.evaluation._analysis.means import UNBOUNDED, counted_share, mean_of, per_draw, share_of
from harbor.evaluation._analysis.pivots import limits, p_values, untestable
from harbor.evaluation._analysis.statistics import rejects

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
TURNS = 3
"""Games per draw."""
FAMILY = 4
"""Tests against one control."""


@dataclass(frozen=True)
class Law:
    """A distribution of games' values, their mean, and the kind and bounds of a metric with such values."""

    draw: Draw
    mean: float
    kind: str = "skewed"
    bounds: tuple[float, float] = UNBOUNDED


@dataclass(frozen=True)
class Rate:
    """A rate of `hits` among the samples that have an answer. Some of all `samples` may have none."""

    hits: int
    of: int
    samples: int

    @property
    def share(self) -> float:
        return self.hits / self.of if self.of else 1.0

    def __str__(self) -> str:
        without = 1 - self.of / self.samples
        return f"{self.share:.3f}" + (f" ({without:.2f} without)" if without else "")


def _zeros(share: float) -> Draw:
    return lambda rng, shape: np.where(rng.random(shape) < share, 0, rng.exponential(size=shape))


def _rare(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.85, 0, rng.beta(2, 6, shape))


def _exponentials(scale: float) -> Draw:
    return lambda rng, shape: rng.exponential(size=shape) - scale * rng.exponential(size=shape) - (1 - scale)


LAWS = {
    "normal, t": Law(lambda rng, shape: rng.normal(size=shape), 0, "mean"),
    "normal": Law(lambda rng, shape: rng.normal(size=shape), 0),
    "heavy ties": Law(lambda rng, shape: rng.choice([1.0, 2, 3], shape, p=[0.6, 0.3, 0.1]), 1.5, "mean", (1, 3)),
    "exponential": Law(lambda rng, shape: rng.exponential(size=shape), 1, bounds=(0, inf)),
    "lognormal(1)": Law(lambda rng, shape: rng.lognormal(size=shape), exp(0.5), bounds=(0, inf)),
    "60 % zeros": Law(_zeros(0.6), 0.4, bounds=(0, inf)),
    "70 % zeros": Law(_zeros(0.7), 0.3, bounds=(0, inf)),
    "85 % zeros": Law(_zeros(0.85), 0.15, bounds=(0, inf)),
    "85 % zeros, others within 0 and 1": Law(_rare, 0.15 / 4, bounds=(0, 1)),
    "30 % yes": Law(lambda rng, shape: (rng.random(shape) < 0.3) * 1.0, 0.3, "binary"),
}
NULLS = {
    "exponential - exponential": Law(_exponentials(1), 0),
    "exponential - 0.3 exponential": Law(_exponentials(0.3), 0),
    "yes or no, half change": Law(lambda rng, shape: rng.choice([-1.0, 0, 0, 1], shape), 0, "binary"),
    "yes or no, all change": Law(lambda rng, shape: rng.choice([-1.0, 1], shape), 0, "binary"),
}
"""Differences whose mean is zero."""


def covered(rows: np.ndarray, law: Law) -> Rate:
    """Count the samples whose interval, if they have one, covers the mean of the law."""
    low, high = intervals(rows, law)
    given = ~np.isnan(low)
    return Rate(int(((low <= law.mean) & (law.mean <= high)).sum()), int(given.sum()), len(rows))


def intervals(rows: np.ndarray, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of `mean_of` for many samples, most of them at once. NaN means no interval."""
    low, high = np.full((2, len(rows)), np.nan)
    plain = ~untestable(rows, law.kind)
    if plain.any():
        low[plain], high[plain] = limits(rows[plain], law.kind)
    for at in np.flatnonzero(~plain):
        found = mean_of(rows[at], law.kind, law.bounds)
        low[at], high[at] = (np.nan if end is None else end for end in (found.low, found.high))
    return np.maximum(low, law.bounds[0]), np.minimum(high, law.bounds[1])


def of_means(law: Law, games: int, samples: int, seed: int = 1) -> Rate:
    """Return the coverage for the mean of a law, with one value per game."""
    return covered(law.draw(np.random.default_rng(seed), (samples, games)), law)


def of_shares(share: float, games: int, samples: int, seed: int = 2) -> Rate:
    """Return the coverage for a share, with a yes or no per game."""
    found = [share_of(np.arange(games) < yes) for yes in range(games + 1)]
    holds = np.array([one.low <= share <= one.high for one in found])
    hits = holds[np.random.default_rng(seed).binomial(games, share, samples)]
    return Rate(int(hits.sum()), samples, samples)


def of_counts(share: float, likeness: float, games: int, samples: int, seed: int = 3) -> Rate:
    """Return the coverage for a share of 10 to 40 counts per game. `likeness` is their correlation within a game."""
    rng = np.random.default_rng(seed)
    counts, spread = rng.integers(10, 41, (samples, games)), 1 / likeness - 1
    hits = rng.binomial(counts, rng.beta(share * spread, (1 - share) * spread, (samples, games)))
    found = [counted_share(*one) for one in zip(hits / counts, counts, strict=True)]
    given = [one for one in found if one.low is not None]
    return Rate(sum(one.low <= share <= one.high for one in given), len(given), samples)


def of_clusters(kind: str, games: int, samples: int, seed: int = 4) -> Rate:
    """Return the coverage for a mean of 1 to 10 values per game that share a part: normal, or exponential if skewed."""
    rng, rows = np.random.default_rng(seed), np.empty((samples, games))
    for at in range(samples):
        which = np.repeat(np.arange(games), rng.integers(1, 11, games))
        if kind == "skewed":
            values = (rng.exponential(size=games)[which] + rng.exponential(size=len(which))) / 2
        else:
            values = 1 + sqrt(0.3) * rng.normal(size=games)[which] + sqrt(0.7) * rng.normal(size=len(which))
        rows[at] = per_draw(values, which)
    return covered(rows, Law(None, 1.0, kind))


def of_informative_sizes(games: int, samples: int, seed: int = 5) -> Rate:
    """Return how often the interval of all values covers the mean of games. Games with more values have larger ones."""
    rng, rows = np.random.default_rng(seed), np.empty((samples, games))
    for at in range(samples):
        own = rng.normal(size=games)
        which = np.repeat(np.arange(games), np.maximum(1, rng.poisson(np.exp(0.8 + own / 2))))
        rows[at] = per_draw(sqrt(0.3) * own[which] + sqrt(0.7) * rng.normal(size=len(which)), which)
    return covered(rows, Law(None, 0.0, "mean"))


def of_draws(
    likeness: float, draws: int, samples: int, seed: int = 6, lacking: float = 0, unit: Callable = per_draw
) -> Rate:
    """Return the coverage for the mean of normal values of 3 games per draw, with correlation `likeness`.

    Args:
        likeness: the share of the variance that games of a draw share.
        draws: number of draws.
        samples: number of samples.
        seed: seed of the samples.
        lacking: share of missing games. The first game of each draw is never missing.
        unit: returns independent values for games and draws.
    """
    rng = np.random.default_rng(seed)
    shared = sqrt(likeness) * rng.normal(size=(samples, draws, 1))
    values = (shared + sqrt(1 - likeness) * rng.normal(size=(samples, draws, TURNS))).reshape(samples, -1)
    kept = rng.random(values.shape) >= lacking
    kept[:, ::TURNS] = True
    which = np.repeat(np.arange(draws), TURNS)
    rows = np.array([unit(row[has], which[has]) for row, has in zip(values, kept, strict=True)])
    return covered(rows, Law(None, 0.0, "mean"))


def of_rho(slope: float, games: int, samples: int, seed: int = 7) -> Rate:
    """Return the coverage for rho of 20 pairs per game, of three levels with a skewed count; games differ in both."""
    truth = stats.spearmanr(*_pairs(np.random.default_rng(0), slope, 20_000)[:2]).statistic
    found = _rhos(slope, games, samples, seed)
    return Rate(sum(one.low <= truth <= one.high for one in found), len(found), samples)


def found_rhos(games: int, samples: int, seed: int = 7) -> Rate:
    """Return how often a test finds a correlation if there is none."""
    found = _rhos(0, games, samples, seed)
    return Rate(sum(one.p < 0.05 for one in found), len(found), samples)


def _rhos(slope: float, games: int, samples: int, seed: int) -> list:
    rng = np.random.default_rng(seed)
    found = (spearman(*_pairs(rng, slope, games)) for _ in range(samples))
    return [one for one in found if one.low is not None]


def _pairs(rng: np.random.Generator, slope: float, games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    which = np.repeat(np.arange(games), 20)
    levels, counts = (rng.normal(0, 0.3, games)[which] for _ in range(2))
    one = rng.normal(size=len(which))
    other = slope * one + sqrt(1 - slope**2) * rng.normal(size=len(which))
    values = np.maximum(0, np.floor(2 * np.exp(0.6 * other + counts) - 0.8))
    return np.digitize(one + levels, [-0.5, 0.7]), values, which


def found_differences(law: Law, games: int, samples: int, seed: int = 8, effect: float = 0) -> Rate:
    """Return how often a test finds a difference from zero. Differences follow the law, with `effect` as their mean."""
    rows = law.draw(np.random.default_rng(seed), (samples, games)) - law.mean + effect
    return Rate(int(rejects(rows, law.kind).sum()), samples, samples)


def found_in_family(law: Law, games: int, samples: int, seed: int = 9) -> Rate:
    """Return how often the first of Holm's tests against one control finds a difference if there is none."""
    rows = [rejects(one, law.kind, 0.05 / FAMILY) for one in _family(law, games, samples, seed)]
    return Rate(int(np.logical_or.reduce(rows).sum()), samples, samples)


def disagreeing(law: Law, games: int, samples: int, seed: int = 9) -> Rate:
    """Return how often an interval excludes zero and its p-value does not, or the reverse."""
    rows = np.concatenate(_family(law, games, samples, seed))
    rows = rows[~untestable(rows, law.kind)]
    if not len(rows):
        return Rate(0, 0, samples * FAMILY)
    low, high = limits(rows, law.kind)
    apart = ((low > 0) | (high < 0)) != (p_values(rows, law.kind) < 0.05)
    return Rate(int(apart.sum()), len(rows), samples * FAMILY)


def _family(law: Law, games: int, samples: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    control = law.draw(rng, (samples, games))
    return [law.draw(rng, (samples, games)) - control for _ in range(FAMILY)]
