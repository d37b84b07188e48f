"""The statistics of games: numbers in, frozen records out, formulas by scipy and statsmodels where these have them.

An interval and its p are of one kind: p is below 0.05 exactly where the interval leaves out zero. Where data allow
neither, both are None and the note of the mean says why.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from harbor.evaluation._analysis.arrays import Bools, constant
from harbor.evaluation._analysis.levels import ALPHA
from harbor.evaluation._analysis.means import Mean, Method, mean_between
from harbor.evaluation._analysis.pivots import p_values, untestable
from harbor.evaluation._metrics.measurement import Interval


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference of means with its interval, two-sided p, and effect size (Cohen's d; None: no spread)."""

    difference: Mean
    effect: float | None
    p: float | None

    @property
    def test(self) -> Method:
        """Name the test, which is that of the interval."""
        return self.difference.method


def paired(differences: ArrayLike, kind: Interval = "mean", most: float = inf) -> Tested:
    """Test whether the mean of paired differences is zero.

    Args:
        differences: one per pair.
        kind: "mean" takes Student's t. "skewed" takes the wider interval and the greater p of Student's t and Hall's.
            "binary", for differences of -1, 0 and 1, takes those of Student's t and McNemar's exact test.
        most: the greatest difference that is possible.
    """
    sample = np.asarray(differences, dtype=float)
    found = mean_between(sample, kind, (-most, most), at_end=ALPHA / 2)
    if found.method == "none":
        return Tested(found, None, None)
    effect = None if constant(sample) else float(sample.mean() / sample.std(ddof=1))
    if found.method == "Clopper-Pearson":
        return Tested(found, effect, min(1.0, 2 * float(most / (most + abs(sample[0]))) ** len(sample)))
    return Tested(found, effect, float(p_values(sample[np.newaxis], kind)[0]))


def rejects(samples: ArrayLike, kind: Interval = "mean", alpha: float = ALPHA) -> Bools:
    """Tell for each row of differences whether `paired` finds their mean to differ from zero: whether p is below alpha.

    Args:
        samples: samples by pairs.
        kind: as of `paired`; differences have no known bounds.
        alpha: the level.
    """
    rows = np.asarray(samples, dtype=float)
    found: Bools = ~untestable(rows, kind)
    if found.any():
        found[found] = p_values(rows[found], kind) < alpha
    return found


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family by Holm's method; a missing p counts as 1 and stays missing."""
    if not ps:
        return []
    adjusted = multipletests([1.0 if p is None else p for p in ps], method="holm")[1]
    return [None if p is None else float(corrected) for p, corrected in zip(ps, adjusted, strict=True)]


def pairs_needed(effect: float, sd: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Say how many pairs a two-sided paired t test needs to find a mean difference of `effect`.

    Args:
        effect: the difference, in the unit of the values; its sign does not matter.
        sd: the standard deviation of the differences; above zero.
        alpha: the probability of finding a difference where there is none.
        power: the probability of finding the difference.

    Raises:
        ValueError: an argument is out of range.
    """
    if not (np.isfinite(effect) and effect and np.isfinite(sd) and sd > 0 and 0 < alpha < power < 1):
        raise ValueError(f"effect {effect!r}, sd {sd!r}, alpha {alpha!r}, power {power!r}: no number of pairs")

    def found(pairs: int) -> float:
        """The probability of finding it, in its own direction."""
        return float(TTestPower().power(abs(effect) / sd, pairs, alpha / 2, alternative="larger"))

    enough = 2  # TTestPower's own solver does not converge where a few pairs are enough
    while found(enough) < power:  # NaN, for what is all but certain, ends the search as it should
        enough *= 2
    return 2 + bisect_left(range(2, enough), power, key=found)
