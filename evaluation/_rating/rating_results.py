"""The results of merged ratings: the scores of each criterion by kind of rater and arm, and the agreement of raters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harbor.evaluation._rating.agreement import Agreement, Rated, agreement
from harbor.evaluation._rating.merging import Merged, Rating
from harbor.evaluation._rating.rubric import LEVELS, rubric


@dataclass(frozen=True, slots=True)
class CriterionScores:
    """How a criterion was scored by one kind of rater ("people", or a judge model), in an arm ("": all).

    `low` and `high` bound the 95 % interval of the mean, cluster-robust by game, as the scores of one game,
    by several raters or of several bidders, are correlated (None: fewer than two games, or all scores equal).
    """

    criterion: str
    source: str
    arm: str
    players: tuple[str, ...]
    scores: int
    records: int
    games: int
    first_quartile: float
    median: float
    third_quartile: float
    mean: float
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """How well the raters of one kind agree on a criterion ("all": people and judges together)."""

    criterion: str
    source: str
    agreement: Agreement


def scores(merged: Merged) -> list[CriterionScores]:
    """Describe the scores of each criterion, by kind of rater, in all and per arm."""
    cells: dict[tuple[str, str, str], list[Rating]] = defaultdict(list)
    for rating in merged.ratings:
        for arm in dict.fromkeys(("", rating.of.arm)):
            cells[rating.criterion, rating.source, arm].append(rating)
    order = [criterion.id for criterion in rubric().criteria]
    return [_described(*cell, cells[cell]) for cell in sorted(cells, key=lambda cell: (order.index(cell[0]), cell[1:]))]


def _described(criterion: str, source: str, arm: str, ratings: Sequence[Rating]) -> CriterionScores:
    import numpy as np

    from harbor.evaluation._analysis.means import clustered_mean

    values = [rating.score for rating in ratings]
    games = [rating.of.game for rating in ratings]
    first, median, third = (float(found) for found in np.quantile(values, [0.25, 0.5, 0.75]))
    found = clustered_mean(values, games, bounds=(1, LEVELS))
    return CriterionScores(
        criterion,
        source,
        arm,
        players=tuple(sorted({rating.of.player for rating in ratings})),
        scores=len(ratings),
        records=len({rating.record for rating in ratings}),
        games=len(set(games)),
        first_quartile=first,
        median=median,
        third_quartile=third,
        mean=float(np.mean(values)),
        sd=found.sd,
        low=found.low,
        high=found.high,
    )


def agreements(merged: Merged) -> list[CriterionAgreement]:
    """Measure how well raters agree on each criterion, per kind of rater and, if there are several, over all."""
    return [CriterionAgreement(*cell, agreement(rated)) for cell, rated in _rated(merged.ratings)]


def _rated(ratings: Sequence[Rating]) -> Iterator[tuple[tuple[str, str], list[Rated]]]:
    sources = sorted({rating.source for rating in ratings})
    for criterion in rubric().criteria:
        own = [rating for rating in ratings if rating.criterion == criterion.id]
        for source in (*sources, "all") if len(sources) > 1 else sources:
            chosen = [rating for rating in own if source in (rating.source, "all")]
            if chosen:
                yield (criterion.id, source), [Rated(one.rater, one.record, one.score) for one in chosen]
