"""How far raters agree: Krippendorff's alpha for ordinal scores, with an interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harbor.errors import RatingError
from harbor.seeding import derive

RESAMPLES = 500
SEEDS = 2**32


@dataclass(frozen=True, slots=True)
class Rated:
    """One rater's score of one record."""

    rater: str
    record: str
    score: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of the records that two raters or more have rated; None says why in `undefined`.

    1 is full agreement, 0 as much as chance gives, below 0 less. `low` and `high` bound the 95 % interval from
    resampled records (None: too few of them).
    """

    raters: int
    records: int
    alpha: float | None
    low: float | None
    high: float | None
    undefined: str = ""


def agreement(ratings: Iterable[Rated]) -> Agreement:
    """Measure how far raters agree.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", with the ordinal metric difference.

    Raises:
        RatingError: nltk, which has the formula, is not installed.
    """
    by_record: dict[str, list[Rated]] = defaultdict(list)
    for rated in ratings:
        by_record[rated.record].append(rated)
    pairable = [rated for rated in by_record.values() if len(rated) > 1]
    raters = len({one.rater for rated in pairable for one in rated})
    if not pairable:
        return Agreement(raters, 0, None, None, None, "no record was rated by two raters")
    if len({one.score for rated in pairable for one in rated}) == 1:
        return Agreement(
            raters, len(pairable), None, None, None, "all scores are equal: nothing tells chance from skill"
        )
    return Agreement(raters, len(pairable), _alpha(pairable), *_interval(pairable))


def _alpha(records: Sequence[Sequence[Rated]]) -> float:
    try:
        from nltk.metrics.agreement import AnnotationTask
    except ImportError as error:
        raise RatingError("agreement between raters needs nltk; run: pip install 'harbor-auctions[rating]'") from error

    scores = Counter(one.score for rated in records for one in rated)
    triples = [(one.rater, place, one.score) for place, rated in enumerate(records) for one in rated]
    return float(AnnotationTask(triples, distance=ordinal(scores)).alpha())


def ordinal(scores: Counter[int]) -> Callable[[int, int], float]:
    """Make the ordinal difference of two scores: the scores that lie between them, squared, ends counting half."""

    def difference(one: int, other: int) -> float:
        low, high = sorted((one, other))
        between = sum(count for score, count in scores.items() if low <= score <= high)
        return (between - (scores[low] + scores[high]) / 2) ** 2

    return difference


def _interval(records: Sequence[Sequence[Rated]]) -> tuple[float | None, float | None]:
    """Resample records; a resample in which all scores are equal has no alpha, and makes the interval unknown."""
    import numpy as np
    from scipy.stats import bootstrap

    def of(places: Sequence[int]) -> float:
        drawn = [records[place] for place in places]
        varied = len({one.score for rated in drawn for one in rated}) > 1
        return _alpha(drawn) if varied else float("nan")

    if len(records) < 2:
        return None, None
    chance = np.random.default_rng(derive(0, "agreement") % SEEDS)
    found = bootstrap(
        (range(len(records)),), of, n_resamples=RESAMPLES, vectorized=False, method="percentile", random_state=chance
    )
    drawn = found.bootstrap_distribution
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return (float(low), float(high)) if np.isfinite(drawn).mean() > 0.95 else (None, None)
