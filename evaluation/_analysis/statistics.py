"""Tests that compare games, paired or independent, with formulas by scipy and statsmodels, as frozen records.

An interval and its p are of one kind: p is below 0.05 exactly if the interval leaves out zero. If data allow no
interval, it is None and the note of the mean says why. The p is then that of sign flips, or None for lack of values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from harbor.evaluation._analysis.levels import ALPHA
from harbor.evaluation._analysis.means import Mean, Method, mean_between
from harbor.evaluation._analysis.pivots import Bools, Floats, constant, flippable, p_values, sign_flip_p, untestable
from harbor.evaluation._metrics.measurement import UNBOUNDED, Interval

LARGE_T = 300.0
"""The size of t above which an interval takes the chi-square part of noncentral t alone.

Above it the normal part is below 0.1 %, and scipy's inverse is slow.
"""


class Effect(NamedTuple):
    """Hedges' g with its 95 % interval: a difference in standard deviations, corrected for the bias of few values."""

    g: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference of means with its interval, two-sided p, and effect size.

    `effect` is Hedges' g, and `effect_low` and `effect_high` are its 95 % interval; all three are None if the values
    have no spread or are too few.
    """

    difference: Mean
    effect: float | None
    p: float | None
    effect_low: float | None = None
    effect_high: float | None = None

    @property
    def test(self) -> Method:
        """The name of the test, which is that of the interval."""
        return self.difference.method


def paired(differences: ArrayLike, kind: Interval = "mean", most: float = inf) -> Tested:
    """Test whether the mean of paired differences is zero.

    Args:
        differences: one difference per pair, or one per draw if several pairs share a draw.
        kind: the method. "mean" uses Student's t. "skewed" uses the wider interval and the greater p of Student's t and
            Hall's t. "binary", for differences of -1, 0 and 1, uses the wider interval and the greater p of Student's t
            and McNemar's exact test.
        most: the greatest possible difference.
    """
    sample = np.asarray(differences, dtype=float)
    found = mean_between(sample, kind, (-most, most), at_end=ALPHA / 2)
    effect = hedges_g(found.mean, found.sd, found.n, found.n - 1)
    if found.method == "Clopper-Pearson" and constant(sample):
        if kind == "skewed" or not 0 < abs(sample[0]) < most:  # at zero and at the bound, take the sign test
            return sized(found, min(1.0, 2 * float(most / (most + abs(sample[0]))) ** found.n), effect)
        found = mean_between(sample, kind, UNBOUNDED)  # bounds alone would hide a constant difference
    if flippable(sample[np.newaxis], kind)[0]:
        return sized(replace(found, method="sign flips"), sign_flip_p(sample), effect)
    return sized(found, None if found.method == "none" else float(p_values(sample[np.newaxis], kind)[0]), effect)


def sized(found: Mean, p: float | None, effect: Effect | None) -> Tested:
    """Return a difference with its p and its effect size."""
    return Tested(found, None, p) if effect is None else Tested(found, effect.g, p, effect.low, effect.high)


def hedges_g(mean: float | None, sd: float | None, size: float, freedom: int) -> Effect | None:
    """Return the effect size of a mean, with the interval of a noncentral t.

    Args:
        mean: the difference.
        sd: the standard deviation that serves as the unit of the effect size.
        size: the number of pairs, or half the harmonic mean of the sizes of two samples.
        freedom: degrees of freedom of the standard deviation; below 2 there is no effect size.

    Source: Hedges 1981 (correction 1 - 3 / (4 df - 1)); Steiger and Fouladi 1997 (interval).
    """
    if mean is None or not sd or freedom < 2:
        return None
    correction, d = 1 - 3 / (4 * freedom - 1), mean / sd
    low, high = (end / np.sqrt(size) for end in _noncentralities(d * np.sqrt(size), freedom))
    return Effect(correction * d, float(correction * low), float(correction * high))


def _noncentralities(t: float, freedom: int) -> list[float]:
    """Return the noncentralities of which t is the upper and the lower 2.5 % point."""
    tails = np.array([ALPHA / 2, 1 - ALPHA / 2])
    if abs(t) > LARGE_T:
        return sorted(t * np.sqrt(special.chdtri(freedom, tails) / freedom))
    return sorted(special.nctdtrinc(freedom, tails, t))


def rejects(samples: ArrayLike, kind: Interval = "mean", alpha: float = ALPHA) -> Bools:
    """Return for each row of differences whether `paired` rejects a zero mean: whether p is below alpha.

    Args:
        samples: samples by pairs.
        kind: as in `paired`; differences have no known bounds.
        alpha: the level.
    """
    rows = np.asarray(samples, dtype=float)
    flipped, found = flippable(rows, kind), ~untestable(rows, kind)
    if found.any():
        found[found] = p_values(rows[found], kind) < alpha
    found[flipped] = [sign_flip_p(row) < alpha for row in rows[flipped]]
    return found


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family by Holm's method; a missing p counts as 1 and stays missing."""
    if not ps:
        return []
    adjusted = multipletests([1.0 if p is None else p for p in ps], method="holm")[1]
    return [None if p is None else float(corrected) for p, corrected in zip(ps, adjusted, strict=True)]


def pairs_needed(effect: float, sd: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the number of pairs with which a two-sided paired t test finds a mean difference of `effect`.

    Args:
        effect: the difference, in the unit of the values; its sign does not matter.
        sd: the standard deviation of the differences; above zero.
        alpha: the probability of finding a difference if there is none.
        power: the probability of finding the difference.

    Raises:
        ValueError: an argument is out of range.
    """
    if not (np.isfinite(effect) and effect and np.isfinite(sd) and sd > 0 and 0 < alpha < power < 1):
        raise ValueError(f"effect {effect!r}, sd {sd!r}, alpha {alpha!r}, power {power!r}: no number of pairs")

    def found(pairs: int) -> float:
        """Return the probability of finding the effect, in its own direction."""
        return float(TTestPower().power(abs(effect) / sd, pairs, alpha / 2, alternative="larger"))

    enough = 2  # TTestPower's own solver does not converge where a few pairs are enough
    while found(enough) < power:  # NaN, for near certainty, rightly ends the search
        enough *= 2
    return 2 + bisect_left(range(2, enough), power, key=found)


_SHARES = "agresti-caffo"


def independent(of: ArrayLike, against: ArrayLike, kind: Interval = "mean", most: float = inf) -> Tested:
    """Test whether two independent samples have the same mean: that of `of` minus that of `against`.

    Args:
        of: the first sample, one value per game.
        against: the second sample, one value per game; no game is in both samples.
        kind: the method. "mean" and "skewed" use Welch's t, because the skewness of two similar samples cancels in
            their difference. "binary", for zeros and ones, uses the interval of Agresti and Caffo and its test, which
            are valid also for few games.
        most: the greatest possible difference.

    Returns:
        the test, with all values of both samples as its n, and the standard deviation within a sample.
    """
    one, other = np.asarray(of, dtype=float), np.asarray(against, dtype=float)
    if not len(one) or not len(other):
        return Tested(_untested(one, other, "no values"), None, None)
    binary = kind == "binary" and np.isin(np.concatenate([one, other]), (0, 1)).all()
    if min(len(one), len(other)) < 2:
        return Tested(_untested(one, other, "one value has no spread"), None, None)
    if not binary and constant(one) and constant(other):
        return Tested(_untested(one, other, "all values of each are equal"), None, None)
    low, high, p = _shares(one, other) if binary else _welch(one, other)
    method: Method = "Agresti-Caffo" if binary else "Welch"
    apart, spread = float(one.mean() - other.mean()), _spread(one, other)
    found = Mean(len(one) + len(other), apart, spread, max(-most, low), min(most, high), method)
    size = len(one) * len(other) / found.n
    return sized(found, p, hedges_g(apart, spread, size, found.n - 2))


def _welch(one: Floats, other: Floats) -> tuple[float, float, float]:
    both = CompareMeans(DescrStatsW(one), DescrStatsW(other))
    low, high = both.tconfint_diff(usevar="unequal")
    return float(low), float(high), float(both.ttest_ind(usevar="unequal")[1])


def _shares(one: Floats, other: Floats) -> tuple[float, float, float]:
    counts = (int(one.sum()), len(one), int(other.sum()), len(other))
    with np.errstate(all="ignore"):  # it also divides one share by the other, which may be zero
        low, high = confint_proportions_2indep(*counts, method=_SHARES, compare="diff")
        p = test_proportions_2indep(*counts, method=_SHARES, compare="diff").pvalue
    return float(low), float(high), float(p)


def _spread(one: Floats, other: Floats) -> float:
    """Return the root of the mean of both variances."""
    return 0.0 if constant(one) and constant(other) else float(np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2))


def _untested(one: Floats, other: Floats, why: str) -> Mean:
    apart = float(one.mean() - other.mean()) if len(one) and len(other) else None
    return Mean(len(one) + len(other), apart, None, None, None, "none", why)
