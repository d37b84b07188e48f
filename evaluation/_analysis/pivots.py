"""Pivots compute intervals and tests of means, by kind, for many samples at once: arrays in, arrays out.

A kind has one or two methods. Its interval is the wider and its p the greater of theirs. So p is below 0.05 exactly if
the 95 % interval leaves out zero. Samples are rows. A sample without spread has an interval of zero width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from harbor.evaluation._analysis.levels import ALPHA, LEAST
from harbor.evaluation._metrics.measurement import Interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def constant(values: Floats) -> Bools:
    """Return which samples have equal values, up to rounding, or values too small to be squared."""
    found: Bools = np.ptp(values, axis=-1) <= np.maximum(1e-12 * np.abs(values).max(axis=-1), 1e-150)
    return found


FEW_NONZERO = 5
"""Fewest nonzero values, among mostly zeros, that show how large such values can be."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """A method: its limits of the mean at level alpha, and its two-sided p for a zero mean."""

    limits: Callable[[Floats, float], tuple[Floats, Floats]]
    p: Callable[[Floats], Floats]


def limits(samples: Floats, kind: Interval, alpha: float = ALPHA) -> tuple[Floats, Floats]:
    """Return the limits of the mean of each sample."""
    low, high = zip(*(pivot.limits(samples, alpha) for pivot in PIVOTS[kind]), strict=True)
    return np.minimum.reduce(low), np.maximum.reduce(high)


def p_values(samples: Floats, kind: Interval) -> Floats:
    """Return the two-sided p of each sample."""
    found: Floats = np.maximum.reduce([pivot.p(samples) for pivot in PIVOTS[kind]])
    return found


def flippable(samples: Floats, kind: Interval) -> Bools:
    """Return which samples have neither a t nor a p of their kind, but a p by sign flips: not all values are 0.

    Their values are mostly zero, or equal. Equal values of a skewed kind are excluded, because they say nothing of rare
    great values on the other side: for such a law with mean zero the sign test finds a difference in 27 % of samples of
    ten draws.
    """
    found: Bools = untestable(samples, kind) & samples.any(axis=-1) & (samples.shape[1] >= LEAST[kind])
    return found & ~constant(samples) if kind == "skewed" and found.any() else found


def sign_flip_p(sample: Floats) -> float:
    """Return the exact two-sided p that values are as likely as their opposites, for a `flippable` sample.

    It is the share of all sign patterns whose sum is at least as far from zero; zeros have no sign. For equal values it
    is that of the sign test, 2^(1 - n). Source: Fisher 1935, The Design of Experiments, sec. 21.

    >>> sign_flip_p(np.array([100.0, 100.0, 100.0, 100.0, 100.0]))
    0.0625
    """
    if constant(sample):
        return float(2.0 ** (1 - len(sample)))
    others = sample[sample != 0]  # fewer than `FEW_NONZERO`
    sums = np.abs(np.array(list(product((-1, 1), repeat=len(others)))) @ others)
    least = abs(others.sum()) - 1e-9 * np.abs(others).sum()  # rounding must not separate equal sums, also those of 0
    return float((sums >= least).mean())


def untestable(samples: Floats, kind: Interval) -> Bools:
    """Return which samples have neither interval nor p, unless the scale of their values has known bounds."""
    if samples.shape[1] < LEAST[kind]:
        return np.full(len(samples), True)
    if kind == "binary":
        return np.full(len(samples), False)
    return constant(samples) | (mostly_zero(samples) if kind == "skewed" else False)


def mostly_zero(samples: Floats) -> Bools:
    """Return which samples have at least half zeros, and fewer than `FEW_NONZERO` other values."""
    others = np.count_nonzero(samples, axis=-1)
    found: Bools = (others < FEW_NONZERO) & (2 * others <= samples.shape[-1])
    return found


def _t_limits(samples: Floats, alpha: float) -> tuple[Floats, Floats]:
    count, mean = samples.shape[1], samples.mean(axis=1)
    half = -special.stdtrit(count - 1, alpha / 2) * _error(samples) if count > 1 else 0 * mean
    return mean - half, mean + half


def _t_p(samples: Floats) -> Floats:
    return _two_sided(samples.mean(axis=1), _error(samples), samples.shape[1] - 1)


def _hall_limits(samples: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Invert Hall's cubic of t, which has less skewness than t.

    Its quantiles are Student's with n - 2 degrees of freedom, because skewness is estimated too; Hall takes normal
    quantiles. Source: Hall 1992, "On the removal of skewness by transformation", with the skewness corrected for bias.
    """
    count, mean, error = samples.shape[1], samples.mean(axis=1), _error(samples)
    skewness = _skewness(samples) / np.sqrt(count)
    bound = -float(special.stdtrit(count - 2, alpha / 2))
    low, high = (mean - error * _uncubed(at, skewness) for at in (bound, -bound))
    return low, high


def _hall_p(samples: Floats) -> Floats:
    mean, error, skewness = samples.mean(axis=1), _error(samples), _skewness(samples) / np.sqrt(samples.shape[1])
    t = np.divide(mean, error, out=np.zeros_like(mean), where=error > 0)
    cubed = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    return np.where(error > 0, 2 * special.stdtr(samples.shape[1] - 2, -np.abs(cubed)), _two_sided(mean, error, 1))


def _uncubed(cubed: float, skewness: Floats) -> Floats:
    """Return the t with this cubic; `skewness` is divided by the root of n."""
    safe = np.where(np.abs(skewness) < 1e-9, 1, skewness)
    return np.where(safe == skewness, 3 / safe * (np.cbrt(1 + safe * (cubed - safe / 6)) - 1), cubed)


def _mcnemar_limits(samples: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return exact limits of changed pairs' balance (Clopper and Pearson 1934), times the share of changed pairs."""
    up, down, count = _changes(samples)
    changed = (up + down) / count
    low = 2 * np.where(up > 0, stats.beta.ppf(alpha / 2, np.maximum(up, 1), down + 1), 0) - 1
    high = 2 * np.where(down > 0, stats.beta.isf(alpha / 2, up + 1, np.maximum(down, 1)), 1) - 1
    none = 1 - (alpha / 2) ** (1 / count)
    return np.where(changed > 0, low * changed, -none), np.where(changed > 0, high * changed, none)


def _mcnemar_p(samples: Floats) -> Floats:
    up, down, _ = _changes(samples)
    found: Floats = np.minimum(1, 2 * stats.binom.cdf(np.minimum(up, down), up + down, 0.5))
    return found


def _changes(samples: Floats) -> tuple[Floats, Floats, int]:
    return (samples > 0).sum(axis=1), (samples < 0).sum(axis=1), samples.shape[1]


def _error(samples: Floats) -> Floats:
    """Return the standard error of each mean: 0 without spread."""
    if (count := samples.shape[1]) < 2:
        return np.zeros(len(samples))
    return np.where(constant(samples), 0, samples.std(axis=1, ddof=1) / np.sqrt(count))


def _skewness(samples: Floats) -> Floats:
    """Return the skewness of each sample, corrected for bias; scipy's takes ten times as long for one sample."""
    count, apart = samples.shape[1], samples - samples.mean(axis=1, keepdims=True)
    spread = np.where(constant(samples), 1, np.sqrt((apart**2).mean(axis=1)))
    correction = np.sqrt(count * (count - 1)) / (count - 2)
    found: Floats = np.where(constant(samples), 0, correction * ((apart / spread[:, np.newaxis]) ** 3).mean(axis=1))
    return found


def _two_sided(mean: Floats, error: Floats, free: int) -> Floats:
    """Return Student's p; without spread, 0 for a mean that is not zero."""
    t = np.divide(mean, error, out=np.where(mean == 0, 0, np.inf), where=error > 0)
    found: Floats = 2 * special.stdtr(max(free, 1), -np.abs(t))
    return found


_T = Pivot(_t_limits, _t_p)
PIVOTS: dict[Interval, tuple[Pivot, ...]] = {
    "mean": (_T,),
    "skewed": (_T, Pivot(_hall_limits, _hall_p)),
    "binary": (_T, Pivot(_mcnemar_limits, _mcnemar_p)),
}
