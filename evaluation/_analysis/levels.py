"""The level of tests, and what p they can give at all: plain numbers, so that a design is judged without statistics."""

from __future__ import annotations

from itertools import count

from harbor.evaluation._metrics.measurement import Interval

ALPHA = 0.05
LEAST: dict[Interval, int] = {"mean": 2, "skewed": 3, "binary": 2}
"""The fewest values of a kind that allow an interval and a p."""


def attainable(pairs: int, kind: Interval = "mean") -> float:
    """Give the p that `paired` stays above with so many pairs, however large the effect.

    It is 0 for t and Hall's t from 2 and 3 pairs on: they reach any level. McNemar's exact test has its least p where
    all pairs differ in one direction. 1: there is no test at all.
    """
    if pairs < LEAST[kind]:
        return 1.0
    return 2 * 0.5**pairs if kind == "binary" else 0.0


def least_pairs(kind: Interval, alpha: float) -> int:
    """Give the fewest pairs with which a test can reach its level at all."""
    return next(pairs for pairs in count(1) if attainable(pairs, kind) < alpha)
