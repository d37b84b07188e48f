"""How well raters agree: Krippendorff's alpha for ordinal scores, with an interval."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harbor._core.errors import RatingError

RESAMPLES = 500
SEED = 0
MOST_UNDEFINED = 0.05
"""No interval is given if a larger share of the resamples has no alpha."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One rater's score of one record."""

    rater: str
    record: str
    score: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of the records with two ratings or more (None: `undefined` says why).

    1 is full agreement, 0 agreement by chance, below 0 less. `low` and `high` bound the 95 % interval from
    resampled records (None: too few of them).
    """

    raters: int
    records: int
    alpha: float | None
    low: float | None
    high: float | None
    undefined: str = ""


def agreement(ratings: Iterable[Rated]) -> Agreement:
    """Measure how well raters agree.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", with the ordinal metric difference.

    Raises:
        RatingError: nltk, which computes alpha, is not installed.
    """
    by_record: dict[str, list[Rated]] = defaultdict(list)
    for rated in ratings:
        by_record[rated.record].append(rated)
    pairable = [rated for rated in by_record.values() if len(rated) > 1]
    raters = len({one.rater for rated in pairable for one in rated})
    if not pairable:
        return Agreement(raters, 0, None, None, None, "no record was rated by two raters")
    if not _varied(pairable):
        return Agreement(
            raters, len(pairable), None, None, None, "all scores are equal: nothing tells chance from skill"
        )
    return Agreement(raters, len(pairable), alpha(pairable), *_interval(pairable))


def alpha(records: Sequence[Sequence[Rated]]) -> float:
    """Give Krippendorff's alpha of records that have two ratings or more, not all of them equal.

    Raises:
        RatingError: nltk, which computes alpha, is not installed.
    """
    try:
        from nltk.metrics.agreement import AnnotationTask
    except ImportError as error:
        raise RatingError("agreement between raters needs nltk; run: pip install 'harbor-auctions[rating]'") from error

    scores = Counter(one.score for rated in records for one in rated)
    triples = [(one.rater, place, one.score) for place, rated in enumerate(records) for one in rated]
    return float(AnnotationTask(triples, distance=ordinal(scores)).alpha())


def ordinal(scores: Counter[int]) -> Callable[[int, int], float]:
    """Make the ordinal difference: the number of scores between two levels, both ends counting half, squared."""

    def difference(one: int, other: int) -> float:
        low, high = sorted((one, other))
        between = sum(count for score, count in scores.items() if low <= score <= high)
        return (between - (scores[low] + scores[high]) / 2) ** 2

    return difference


def _interval(records: Sequence[Sequence[Rated]]) -> tuple[float | None, float | None]:
    """Resample records; if more than one resample in twenty has all scores equal, and so no alpha, give no interval."""
    import numpy as np
    from scipy.stats import bootstrap

    def of(places: Sequence[int]) -> float:
        drawn = [records[place] for place in places]
        return alpha(drawn) if _varied(drawn) else float("nan")

    if len(records) < 2:
        return None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scipy, on resamples that have no alpha: they are counted below
        places, chance = (range(len(records)),), np.random.default_rng(SEED)
        found = bootstrap(places, of, n_resamples=RESAMPLES, vectorized=False, method="percentile", random_state=chance)
    drawn = found.bootstrap_distribution
    if np.isnan(drawn).mean() > MOST_UNDEFINED:
        return None, None
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def _varied(records: Sequence[Sequence[Rated]]) -> bool:
    return len({one.score for rated in records for one in rated}) > 1
