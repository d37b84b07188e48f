"""How often intervals cover the truth and tests err: laws to draw games from, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import exp, inf

import numpy as np
from scipy import stats

from harbor.evaluation._analysis.means import UNBOUNDED, clustered_mean, counted_share, mean_of, share_of
from harbor.evaluation._analysis.rank_correlation import spearman
from harbor.evaluation._analysis.statistics import rejects

SIZES = (5, 10, 20, 50)
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True)
class Law:
    """Values of games, their mean, and the kind and bounds that a metric of such values would tell."""

    draw: Draw
    mean: float
    kind: str = "skewed"
    bounds: tuple[float, float] = UNBOUNDED


@dataclass(frozen=True)
class Coverage:
    """Shares of samples: covered, covered of those with an interval, and without one; and the median width."""

    covered: float
    where_given: float
    without: float
    width: float

    def __str__(self) -> str:
        return (
            f"{self.covered:.3f} of all, {self.where_given:.3f} where given, {self.without:.2f} without,"
            f" width {self.width:.2f}"
        )


def _zeros(share: float) -> Draw:
    return lambda rng, shape: rng.exponential(size=shape) * (rng.random(shape) >= share)


def _ranks(*shares: float) -> Draw:
    return lambda rng, shape: rng.choice(np.arange(len(shares)) + 1.0, shape, p=shares)


def _exponentials(scale: float) -> Draw:
    return lambda rng, shape: rng.exponential(size=shape) - scale * rng.exponential(size=shape) - (1 - scale)


LAWS = {
    "normal, t": Law(lambda rng, shape: rng.normal(size=shape), 0, "mean"),
    "normal": Law(lambda rng, shape: rng.normal(size=shape), 0),
    "ranks .6 .3 .1": Law(_ranks(0.6, 0.3, 0.1), 1.5, bounds=(1, 3)),
    "ranks .1 .2 .7": Law(_ranks(0.1, 0.2, 0.7), 2.6, bounds=(1, 3)),
    "exponential": Law(lambda rng, shape: rng.exponential(size=shape), 1, bounds=(0, inf)),
    "lognormal(1)": Law(lambda rng, shape: rng.lognormal(size=shape), exp(0.5), bounds=(0, inf)),
    "60 % zeros": Law(_zeros(0.6), 0.4, bounds=(0, inf)),
    "85 % zeros": Law(_zeros(0.85), 0.15, bounds=(0, inf)),
}
NULLS: dict[str, tuple[Draw, str]] = {
    "normal, t": (lambda rng, shape: rng.normal(size=shape), "mean"),
    "exponential - exponential": (_exponentials(1), "skewed"),
    "exponential - 0.3 exponential": (_exponentials(0.3), "skewed"),
    "exponential - its mean": (lambda rng, shape: rng.exponential(size=shape) - 1, "skewed"),
    "yes or no, half change": (lambda rng, shape: rng.choice([-1.0, 0, 0, 1], shape), "binary"),
    "yes or no, all change": (lambda rng, shape: rng.choice([-1.0, 1], shape), "binary"),
}
"""Differences whose mean is zero, and their kind."""


def coverage(intervals: Iterable[object], truth: float) -> Coverage:
    """Count the intervals that hold the truth."""
    found = list(intervals)
    given = [one for one in found if one.low is not None]
    held = sum(one.low <= truth <= one.high for one in given)
    width = float(np.median([one.high - one.low for one in given])) if given else 0.0
    return Coverage(held / len(found), held / max(1, len(given)), 1 - len(given) / len(found), width)


def of_means(law: Law, games: int, samples: int) -> Coverage:
    """The mean of a law, from one value a game."""
    rows = law.draw(np.random.default_rng(1), (samples, games))
    return coverage((mean_of(row, law.kind, law.bounds) for row in rows), law.mean)


def of_shares(share: float, games: int, samples: int) -> Coverage:
    """A share, from a yes or no a game."""
    rows = np.random.default_rng(2).random((samples, games)) < share
    return coverage(map(share_of, rows), share)


def of_counts(share: float, likeness: float, games: int, samples: int) -> Coverage:
    """A share of 6 to 29 counts a game, where games differ: `likeness` is the correlation of two counts of one game."""
    rng = np.random.default_rng(3)
    counts, spread = rng.integers(6, 30, (samples, games)), 1 / likeness - 1
    hits = rng.binomial(counts, rng.beta(share * spread, (1 - share) * spread, (samples, games)))
    return coverage(map(counted_share, hits / counts, counts), share)


def of_clusters(kind: str, games: int, samples: int) -> Coverage:
    """A mean of 1 to 10 values a game, a third of whose variance is the game's: normal, or exponential if skewed."""
    rng, found, truth = np.random.default_rng(4), [], 1.0
    for _ in range(samples):
        which = np.repeat(np.arange(games), rng.integers(1, 11, games))
        if kind == "skewed":
            values = rng.exponential(0.5, games)[which] + rng.exponential(0.5, len(which))
        else:
            values = 1 + rng.normal(size=games)[which] / 2**0.5 + rng.normal(size=len(which))
        found.append(clustered_mean(values, which, kind))
    return coverage(found, truth)


def of_rho(slope: float, games: int, samples: int) -> Coverage:
    """Rho of 20 pairs a game, of three levels with a skewed value, where games differ in both."""
    rng = np.random.default_rng(5)
    truth = stats.spearmanr(*_pairs(rng, slope, 3000)[:2]).statistic
    return coverage((spearman(*_pairs(rng, slope, games)) for _ in range(samples)), truth)


def _pairs(rng: np.random.Generator, slope: float, games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    which = np.repeat(np.arange(games), 20)
    one = rng.normal(size=len(which)) + rng.normal(0, 0.5, games)[which]
    other = slope * one + rng.normal(size=len(which)) + rng.normal(0, 0.5, games)[which]
    return np.digitize(one, [-0.5, 0.5]), np.exp(other), which


def false_alarms(null: str, games: int, samples: int) -> float:
    """How often a test finds a difference where there is none."""
    draw, kind = NULLS[null]
    return float(rejects(draw(np.random.default_rng(6), (samples, games)), kind).mean())


def false_families(draw: Draw, kind: str, games: int, samples: int, tests: int = 4) -> float:
    """How often Holm's first of some tests with one control finds a difference where there is none."""
    rng = np.random.default_rng(7)
    control = draw(rng, (samples, games))
    found = [rejects(draw(rng, (samples, games)) - control, kind, 0.05 / tests) for _ in range(tests)]
    return float(np.logical_or.reduce(found).mean())
