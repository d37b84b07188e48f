"""The analysis of an experiment: estimates with intervals, planned comparisons, correlations, ratings.

The game is the unit: values of several bidders, items or days of one game are averaged, or taken as one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from harbor.evaluation._analysis.companions import companions
from harbor.evaluation._analysis.comparisons import Difference, differences
from harbor.evaluation._analysis.correlations import Correlation, correlations
from harbor.evaluation._analysis.estimates import Estimate, estimates
from harbor.evaluation._analysis.frames import frame, measurements
from harbor.evaluation._analysis.ratings import SkillRating, ratings
from harbor.evaluation._analysis.spreads import Spread, spreads
from harbor.evaluation._analysis.variance import VarianceShare, variance_shares
from harbor.evaluation._experiments.trial_records import Results

__all__ = ["Analysis", "Correlation", "Difference", "Estimate", "SkillRating", "Spread", "VarianceShare", "analyse"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """All statistics of an experiment; `companions` are what others gain or lose beside the planned `differences`."""

    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    ratings: tuple[SkillRating, ...]
    spreads: tuple[Spread, ...] = ()
    companions: tuple[Difference, ...] = ()
    variance: tuple[VarianceShare, ...] = ()


def analyse(results: Results) -> Analysis:
    """Analyse the finished games of an experiment; failed and unfinished ones are counted as missing.

    It does not depend on the order of the records.
    """
    table = frame(results)
    values = measurements(table)
    return Analysis(
        tuple(estimates(results, table, values)),
        differences(results, values),
        tuple(correlations(results, values)),
        tuple(ratings(results, values)),
        tuple(spreads(results, values)),
        companions(results, values),
        tuple(variance_shares(results, values)),
    )
