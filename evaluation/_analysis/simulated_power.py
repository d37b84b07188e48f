"""How often the test of a planned comparison finds an effect, by simulation: pairs are drawn from those of a pilot.

Differences of a yes or no are drawn as -1, 0 and 1. All others are those of the pilot, moved to the effect and spread
as much as asked. Random streams are fixed, so equal data give equal results.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from scipy import stats

from harbor._core.seeding import derive
from harbor.evaluation._analysis.arrays import Floats
from harbor.evaluation._analysis.levels import least_pairs
from harbor.evaluation._analysis.statistics import pairs_needed, rejects
from harbor.evaluation._metrics.measurement import Interval

SAMPLES = 2000
MOST = 100
"""The most pairs that are simulated; with more, the formula of the t test is as good."""
CONFIDENCE = 0.8
"""That of each limit of a pilot's spread. Source: Browne 1995, "On the use of a pilot sample"."""


def spread_limits(differences: Floats, kind: Interval) -> tuple[float, float]:
    """Give the limits of how differences vary, as multiples of the pilot's variance (of a yes or no, of changed pairs).

    The limits of a variance are those by chi-square, as if differences were normal; those of a share are exact.
    """
    pairs, tails = len(differences), np.array([1 - CONFIDENCE, CONFIDENCE])
    if kind == "binary":
        changed = int(np.count_nonzero(differences))
        unchanged = float(max(pairs - changed, 1e-9))  # the limit where all are changed is 1
        low = stats.beta.ppf(tails[0], changed, pairs - changed + 1)
        high = stats.beta.ppf(tails[1], changed + 1, unchanged)
        return float(low * pairs / changed), float(high * pairs / changed)
    divisors = stats.chi2.ppf(tails, pairs - 1)
    return float((pairs - 1) / divisors[1]), float((pairs - 1) / divisors[0])


def draws(differences: Floats, kind: Interval, effect: float, spread: float = 1) -> Floats:
    """Draw samples of pairs whose mean difference is the effect.

    Args:
        differences: those of a pilot.
        kind: how they are tested.
        effect: in the unit of the metric.
        spread: how much they vary, as a multiple of the pilot's variance (of a yes or no, of changed pairs).

    Returns:
        samples by pairs.
    """
    size, random = (SAMPLES, MOST), np.random.default_rng(derive(0, "power"))
    if kind == "binary":
        changed = min(1.0, max(abs(effect), spread * np.count_nonzero(differences) / len(differences)))
        chances = [(changed - effect) / 2, 1 - changed, (changed + effect) / 2]
        return random.choice([-1.0, 0.0, 1.0], size, p=np.clip(chances, 0, 1))
    centred = differences - differences.mean()
    widened = centred * np.sqrt(spread * len(differences) / (len(differences) - 1))
    return effect + random.choice(widened, size)


def power_of(samples: Floats, kind: Interval, effect: float, alpha: float) -> float:
    """Give the share of samples in which the test finds the effect, in its own direction."""
    rightly = np.sign(samples.mean(axis=1)) == np.sign(effect)
    return float((rejects(samples, kind, alpha) & rightly).mean())


def pairs_for(samples: Floats, kind: Interval, effect: float, alpha: float, power: float) -> int:
    """Say how many pairs find an effect this often, and no fewer than can reach the level.

    Args:
        samples: `draws` of differences with this effect.
        kind: how they are tested.
        effect: in the unit of the metric.
        alpha: the level.
        power: how often the effect is to be found.
    """
    least = least_pairs(kind, alpha)

    def found(pairs: int) -> float:
        return power_of(samples[:, :pairs], kind, effect, alpha)

    if found(MOST) >= power:
        return least + bisect_left(range(least, MOST), power, key=found)
    return max(MOST + 1, pairs_needed(effect, float(samples.std()), alpha, power))
