"""Ratings of records, and the agreement of raters, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harbor._cli.display.render import Table
from harbor.evaluation._rating.sheets import PublishedGroup, published, rubric

if TYPE_CHECKING:
    from harbor.evaluation._rating.rating_results import Agreement, CriterionAgreement, CriterionScores, Merged


def rating_tables(
    merged: Merged, described: Sequence[CriterionScores], agreed: Sequence[CriterionAgreement]
) -> Iterator[Table | str]:
    """Yield scores by source and arm, the published ones, and the agreement of the raters by source."""
    for source, arm in dict.fromkeys((one.source, one.arm) for one in described):
        own = [one for one in described if (one.source, one.arm) == (source, arm)]
        players = ", ".join(dict.fromkeys(player for one in own for player in one.players))
        where = f", arm {arm}" if arm else ""
        yield Table(f"Rated by {source}{where}: {players}", [_scores(one) for one in own])
    for group in published().groups:
        rows = [_published(group, name) for name in group.mean]
        yield Table(f"Published ratings of {group.rated} ({group.model})", rows)
    for source in dict.fromkeys(one.source for one in agreed):
        yield _agreement(source, [one for one in agreed if one.source == source])
    gaps = sum(len(gap.criteria) for gap in merged.missing)
    yield f"{len(merged.ratings)} scores, {gaps} not filled in yet. Intervals of means take the game as the unit."
    yield f"Published: {published().source}; other records were rated, so the numbers are not pooled."
    if merged.simulated:
        yield "Simulated results: the built-in model played or judged."


def _scores(one: CriterionScores) -> dict[str, object]:
    figures = (one.first_quartile, one.median, one.third_quartile, one.mean, one.sd)
    counts = {"criterion": _name(one.criterion), "n": one.scores, "games": one.games}
    return counts | _figures(*figures) | {"95 %": _ends(one)}


def _published(group: PublishedGroup, name: str) -> dict[str, object]:
    figures = (of[name] for of in (group.first_quartile, group.median, group.third_quartile, group.mean, group.sd))
    return {"criterion": _name(name), "n": group.scores[name], **_figures(*figures)}


def _agreement(source: str, own: Sequence[CriterionAgreement]) -> Table | str:
    """Return the agreement by criterion, or the reason if all agreement is undefined for one reason."""
    reasons = {one.agreement.undefined for one in own}
    if len(reasons) == 1 and (reason := reasons.pop()):
        return f"Agreement of {source}: {reason}"
    rows = [
        {
            "criterion": _name(one.criterion),
            "raters": one.agreement.raters,
            "records": one.agreement.records,
            "alpha": one.agreement.undefined if one.agreement.alpha is None else one.agreement.alpha,
            "95 %": _ends(one.agreement),
        }
        for one in own
    ]
    return Table(f"Agreement of {source}: Krippendorff's alpha, ordinal", rows)


def _name(criterion: str) -> str:
    return next(one.name for one in rubric().criteria if one.id == criterion)


def _ends(found: CriterionScores | Agreement) -> str:
    return "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}"


def _figures(*figures: float | None) -> dict[str, object]:
    names = ("Q1", "median", "Q3", "mean", "sd")
    return {name: value if value is None else f"{value:.2f}" for name, value in zip(names, figures, strict=True)}
