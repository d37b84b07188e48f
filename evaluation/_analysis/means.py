"""Means over games with their 95 % intervals.

If data allow no interval (too few values, or all equal), it is None and `note` says why. It is never NaN, and never has
zero width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from harbor.evaluation._analysis.levels import ALPHA, LEAST
from harbor.evaluation._analysis.pivots import FEW_NONZERO, Floats, constant, limits, mostly_zero
from harbor.evaluation._metrics.measurement import UNBOUNDED, Bounds, Interval

Method = Literal[
    "t",
    "t and Hall's t",
    "t and McNemar",
    "cluster-robust t",
    "cluster-robust t and Hall's t",
    "Wilson",
    "Clopper-Pearson",
    "Korn-Graubard",
    "Welch",
    "Agresti-Caffo",
    "sign flips",
    "none",
]
METHODS: dict[Interval, Method] = {"mean": "t", "skewed": "t and Hall's t", "binary": "t and McNemar"}
CLUSTERED: dict[Interval, Method] = {"mean": "cluster-robust t", "skewed": "cluster-robust t and Hall's t"}


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of `n` values, their standard deviation, and the 95 % interval of the mean, in the unit of the values.

    If there is no interval, `low` and `high` are None and `note` says why.
    """

    n: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    method: Method
    note: str = ""


def mean_of(values: ArrayLike, kind: Interval = "mean", bounds: Bounds = UNBOUNDED) -> Mean:
    """Return the mean of independent values with its interval.

    If all values are equal, known bounds still allow an interval: Clopper and Pearson limit the share of other values,
    each set to a bound.

    Args:
        values: one value per game.
        kind: "mean" uses the interval by Student's t. "skewed" uses the wider one of the intervals by Student's t and
            by Hall's t, which is corrected for skewness; `make studies` reports the coverage of each.
        bounds: the least and the greatest possible value; no interval goes beyond them.
    """
    return mean_between(_floats(values), kind, bounds)


def per_draw(values: ArrayLike, draws: ArrayLike) -> Floats:
    """Return one value per draw, whose mean is that of all values: the independent values of games that share draws.

    For draws of equal size these are their means. Otherwise they are the linear part of a ratio, of the sums of draws
    to their sizes (Liang and Zeger 1986). Values that are mostly zero stay so: their sums over the mean size.

    Args:
        values: the values, one or more per draw.
        draws: the draw of each value; if every value has a draw of its own, the values are returned as they are.
    """
    sample, codes = _floats(values), np.unique(np.asarray(draws), return_inverse=True)[1]
    if not len(sample) or codes.max() + 1 == len(sample):
        return sample
    sizes, sums = np.bincount(codes).astype(float), np.bincount(codes, sample).astype(float)
    linear = sums if mostly_zero(sums) else sums - sample.mean() * (sizes - sizes.mean())
    found: Floats = linear / sizes.mean()
    return found


def share_of(values: ArrayLike) -> Mean:
    """Return a share, the mean of zeros and ones, with its interval.

    The interval is Wilson's; if all values are 0 or all are 1, it is that of Clopper and Pearson.

    Raises:
        ValueError: a value is neither 0 nor 1.
    """
    sample = _floats(values)
    if not np.isin(sample, (0, 1)).all():
        raise ValueError("a share needs values of 0 and 1; take mean_of of others")
    found = mean_of(sample, bounds=(0, 1))
    if found.method != "t":
        return found
    low, high = proportion_confint(sample.sum(), found.n, method="wilson")
    return _with_interval(found, low, high, "Wilson")


def clustered_mean(values: ArrayLike, groups: ArrayLike, kind: Interval = "mean", bounds: Bounds = UNBOUNDED) -> Mean:
    """Return the mean of values that come in groups (the bids of one game), with a cluster-robust interval.

    Every value counts once, and `per_draw` returns the independent values. The correction for few groups is Student's t
    with one degree of freedom less than there are groups. `sd` is that of the values.
    """
    sample = _floats(values)
    if len(sample) < 2 or len(np.unique(np.asarray(groups))) < 2:
        found = _mean(sample, "mean", UNBOUNDED)
        return replace(found, low=None, high=None, method="none", note=found.note or "too few games")
    found = _mean(per_draw(sample, groups), kind, bounds)
    spread = 0.0 if constant(sample) else float(sample.std(ddof=1))
    method = CLUSTERED[kind] if found.method == METHODS[kind] else found.method
    return _bounded(replace(found, n=len(sample), mean=float(sample.mean()), sd=spread, method=method), bounds)


def counted_share(shares: ArrayLike, counts: ArrayLike) -> Mean:
    """Return the share of all that was counted, in groups of different sizes, with an interval for counts.

    Groups differ by more than chance. So the total count is divided by their design effect, and Clopper and Pearson's
    interval is taken for that effective count (Korn and Graubard 1998). If nothing or everything was found, no design
    effect shows, so each group counts as one.

    Args:
        shares: the share in each group; `sd` of the result is the standard deviation of these.
        counts: the number that was counted in each group, above zero.
    """
    share, count = _floats(shares), _floats(counts)
    if len(share) < 2:
        return mean_of(share)
    pooled, total, groups = float((share * count).sum() / count.sum()), float(count.sum()), len(share)
    found = replace(_without(share, ""), mean=pooled)
    if pooled in (0, 1) and constant(share):
        return replace(mean_of(share, bounds=(0, 1)), mean=pooled)
    linear = (share - pooled) * count / count.mean()
    variance = float(linear.var(ddof=1) / groups)
    free = (stats.t.isf(ALPHA / 2, max(total - 1, 1)) / stats.t.isf(ALPHA / 2, groups - 1)) ** 2
    effective = min(total, pooled * (1 - pooled) / variance * free if variance else inf)
    hits = pooled * effective
    low = stats.beta.ppf(ALPHA / 2, hits, effective - hits + 1)
    high = stats.beta.isf(ALPHA / 2, hits + 1, effective - hits)
    return _with_interval(found, low, high, "Korn-Graubard")


def exact_share(successes: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval of the share `successes` / `n`; it is one-sided for 0 and for `n` successes.

    Source: Clopper and Pearson 1934.
    """
    one_sided = successes in (0, n)
    low, high = proportion_confint(successes, n, alpha=2 * ALPHA if one_sided else ALPHA, method="beta")
    return float(low), float(high)


def mean_between(sample: Floats, kind: Interval, bounds: Bounds, at_end: float = ALPHA) -> Mean:
    """Return the mean and its confidence interval.

    If all values equal one bound of their range, `at_end` is the probability that the interval misses the true mean.
    """
    return _bounded(_mean(sample, kind, bounds, at_end), bounds)


def _mean(sample: Floats, kind: Interval, bounds: Bounds, at_end: float = ALPHA) -> Mean:
    if len(sample) < LEAST[kind]:
        return _without(sample, _too_few(len(sample)))
    found = _without(sample, "")
    if kind == "skewed" and mostly_zero(sample) and not constant(sample):
        return _of_rare(found, sample, bounds)
    if kind != "binary" and constant(sample):
        return _of_equal(found, bounds, at_end if sample[0] in bounds else ALPHA / 2)
    (low,), (high,) = limits(sample[np.newaxis], kind)
    return _with_interval(found, low, high, METHODS[kind])


def _of_equal(found: Mean, bounds: Bounds, tail: float) -> Mean:
    """Return the interval of a mean of equal values, if the bounds of other values are known."""
    if found.mean is None or not all(map(isfinite, bounds)):
        return replace(found, note=f"all {found.n} values are equal")
    others = 1 - tail ** (1 / found.n)
    low, high = (found.mean + others * (bound - found.mean) for bound in bounds)
    return _with_interval(found, low, high, "Clopper-Pearson")


def _of_rare(found: Mean, sample: Floats, bounds: Bounds) -> Mean:
    """Return the interval of a mean of values that are mostly zero, if bounds are known.

    On each side of zero, Clopper and Pearson limit the number of other values, and each is set to the bound. The
    interval covers too often rather than too seldom.
    """
    if not all(map(isfinite, bounds)):
        return replace(found, note=_too_few_nonzero())
    below, above = (int((side > 0).sum()) for side in (-sample, sample))
    low, high = (
        bound * float(stats.beta.isf(ALPHA / 2, others + 1, found.n - others))
        for bound, others in zip(bounds, (below, above), strict=True)
    )
    return _with_interval(found, low, high, "Clopper-Pearson")


def _bounded(found: Mean, bounds: Bounds) -> Mean:
    """Cut an interval at the bounds of the mean, which does not change its coverage."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=float(max(bounds[0], found.low)), high=float(min(bounds[1], found.high)))


def _without(sample: Floats, note: str) -> Mean:
    """Return mean and standard deviation without an interval."""
    if len(sample) < 2:
        return Mean(len(sample), float(sample[0]) if len(sample) else None, None, None, None, "none", note)
    sd = 0.0 if constant(sample) else float(sample.std(ddof=1))
    return Mean(len(sample), float(sample.mean()), sd, None, None, "none", note)


def _with_interval(found: Mean, low: float, high: float, method: Method) -> Mean:
    return Mean(found.n, found.mean, found.sd, float(low), float(high), method)


def _too_few(count: int) -> str:
    return ("no values", "one value has no spread", "two values do not show how skewed they are")[count]


def _too_few_nonzero() -> str:
    return f"mostly zero, and fewer than {FEW_NONZERO} values are not"


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=float)
