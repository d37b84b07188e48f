"""Planned comparisons test paired differences between trials as one family; companions describe other bidders.

If a bidder is compared with itself in another arm or condition, the comparison has companions: the gains or losses of
its rivals and of the seller. They are not planned, so they are in no family of tests and have no p.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

import pandas as pd

from harbor._core.basics.numbers import counted
from harbor.evaluation._analysis.frames import game_values
from harbor.evaluation._analysis.levels import ALPHA, attainable
from harbor.evaluation._analysis.means import Method, per_draw
from harbor.evaluation._analysis.pivots import constant
from harbor.evaluation._analysis.statistics import Tested, holm, paired
from harbor.evaluation._experiments.design import EVERYONE, Comparison, Experiment, Side, expanded
from harbor.evaluation._experiments.draws import draws_of, turns_of
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.measurement import Bounds, Interval, metric_of


class Gaps(NamedTuple):
    """The number of repeats without a value on each side, and the worst-case limits of the mean difference.

    There are limits only if these two numbers differ, and the values of both sides have bounds.
    """

    of: int
    against: int
    low: float | None = None
    high: float | None = None


def gaps(of: pd.Series[float], against: pd.Series[float], repeats: Collection[int], bounds: Sequence[Bounds]) -> Gaps:
    """Count the missing values, and compute the mean difference with each missing value at its worst bound.

    Args:
        of: values of one side, by repeat.
        against: values of the other side.
        repeats: all planned repeats.
        bounds: the least and the greatest value of each side.

    Source: Horowitz and Manski 2000, worst-case bounds.
    """
    index = sorted(repeats)
    sides = of.reindex(index), against.reindex(index)
    ours, theirs = (int(side.isna().sum()) for side in sides)
    if ours == theirs or not all(isfinite(end) for pair in bounds for end in pair):
        return Gaps(ours, theirs)
    (least, most), (others_least, others_most) = bounds
    low = (sides[0].fillna(least) - sides[1].fillna(others_most)).mean()
    high = (sides[0].fillna(most) - sides[1].fillna(others_least)).mean()
    return Gaps(ours, theirs, float(low), float(high))


ONE_DRAW = "one draw: no pairs"
"""Reason why arms or conditions are not compared if all repeats have the same seed."""
COPIES = "repeats of one seed that differ alike are copies of one draw"
ONE_DRAW_ONLY = "all games are of one draw, which has no spread"


@dataclass(frozen=True, slots=True)
class Difference:
    """A planned comparison: the mean of the paired differences, with its 95 % interval, p and effect size.

    The sides `of` and `against` each name an arm, a condition and a metric. `pairs` is the number of repeats with a
    value on both sides, and `draws` the number of their independent random draws, which are the unit of the interval,
    `p`, `sd` and `effect`. `missing` is the number of repeats without a value on at least one side; `missing_of` and
    `missing_against` count those without a value on that side. If these two differ and the metric has bounds,
    `worst_low` and `worst_high` are the worst-case limits of the mean. `effect` is Hedges' g, in standard deviations of
    the differences, with its interval. `method` is the method of the interval and of `p`. `p_holm` is `p` corrected by
    Holm for all planned comparisons of the experiment, including those that can't be made. `note` says why there is no
    interval, or that the pairs are too few for a p below 5 %.
    """

    metric: str
    of: Side
    against: Side
    pairs: int
    missing: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    effect: float | None
    p: float | None
    p_holm: float | None
    method: Method
    note: str = ""
    draws: int = 0
    missing_of: int = 0
    missing_against: int = 0
    worst_low: float | None = None
    worst_high: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None


def differences(results: Results, values: pd.DataFrame) -> tuple[Difference, ...]:
    """Test the planned comparisons of an experiment.

    Args:
        results: the records of the experiment.
        values: their `measurements`.
    """
    found = [difference(results, values, one) for one in expanded(results.experiment)]
    adjusted = holm([one.p for one in found])
    return tuple(replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True))


def paired_differences(values: pd.DataFrame, comparison: Comparison) -> pd.Series[float]:
    """Return the differences by repeat, over the repeats that have a value on both sides.

    Args:
        values: the `measurements` of a frame.
        comparison: a comparison whose sides name arm, condition and bidder.
    """
    of, against = both_sides(values, comparison)
    return (of - against).dropna()


def both_sides(values: pd.DataFrame, comparison: Comparison) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return the values of the side `of` and those of the side `against`, each by repeat."""
    sides = zip(comparison.metrics, (comparison.of, comparison.against), strict=True)
    of, against = (by_repeat(values, metric, side) for metric, side in sides)
    return of, against


def repeats_of(results: Results, comparison: Comparison) -> set[int]:
    """Return the repeats that both sides of a comparison have, with or without a value.

    If one side has no repeats, return those of the other side.
    """
    cells = {(side.arm, side.condition) for side in (comparison.of, comparison.against)}
    planned = [{game.repeat for game in results.records if (game.arm, game.condition) == cell} for cell in cells]
    return set.intersection(*filter(None, planned)) if any(planned) else set()


def by_repeat(values: pd.DataFrame, metric: str, side: Side) -> pd.Series[float]:
    """Return one value per repeat: that of the whole game, or else the mean over positions and subjects.

    A value of the game, without a bidder, counts as the value of "everyone".
    """
    cell = values[(values["arm"] == side.arm) & (values["condition"] == side.condition) & (values["metric"] == metric)]
    own = cell[cell["bidder"] == side.bidder]
    if side.bidder == EVERYONE and own.empty:
        own = cell[cell["bidder"] == ""]
    whole = own[own["at"].isna() & (own["about"] == "")]
    return game_values(own if whole.empty else whole).groupby("repeat")["value"].mean()


def kind_of(metrics: Sequence[str], found: Iterable[float], turns: int = 1) -> Interval:
    """Return the kind of differences: "binary" if all are -1, 0 or 1, else that of the more skewed metric.

    Means of yes or no over bidders, or over several games (`turns`) of one draw, are not binary.
    """
    kinds = {metric_of(metric).interval for metric in metrics}
    if kinds == {"binary"} and turns == 1 and {*found} <= {-1, 0, 1}:
        return "binary"
    return "skewed" if "skewed" in kinds else "mean"


def most_apart(bounds: Sequence[Bounds]) -> float:
    """Return the greatest difference between two values that the bounds of the two sides allow."""
    (least, most), (others_least, others_most) = bounds
    return max(most - others_least, others_most - least)


def bounds_in(results: Results, metric: str, arm: str | None, condition: str | None) -> Bounds:
    """Return the least and the greatest possible value of a metric in an arm under a condition.

    A rank is at most the number of bidders.
    """
    least, most = metric_of(metric).bounds
    if metric_of(metric).unit != "rank":
        return least, most
    cell = (game.measurements for game in results.records if (game.arm, game.condition) == (arm, condition))
    bidders = {one.bidder for game in cell for one in game if one.metric == metric} - {""}
    return least, len(bidders) or most


def difference(results: Results, values: pd.DataFrame, comparison: Comparison) -> Difference:
    """Return one comparison, which leaves nothing open, without a correction for others."""
    of, against = both_sides(values, comparison)
    if not _pairable(results.experiment, comparison):
        of = against = of[:0]
    apart = (of - against).dropna()
    sides = zip(comparison.metrics, (comparison.of, comparison.against), strict=True)
    bounds = [bounds_in(results, metric, side.arm, side.condition) for metric, side in sides]
    test, kind = tested(results.experiment, comparison.metrics, apart, bounds)
    mean = test.difference
    repeats = repeats_of(results, comparison) if _pairable(results.experiment, comparison) else set()
    lacking = gaps(of, against, repeats, bounds)
    return Difference(
        comparison.metric,
        comparison.of,
        comparison.against,
        pairs=len(apart),
        missing=len(repeats) - len(apart),
        mean=mean.mean,
        sd=mean.sd,
        low=mean.low,
        high=mean.high,
        effect=test.effect,
        p=test.p,
        p_holm=None,
        method=mean.method,
        note=_impossible(results.experiment, comparison) or mean.note or unreached(mean.n, kind, len(apart)),
        draws=mean.n,
        missing_of=lacking.of,
        missing_against=lacking.against,
        worst_low=lacking.low,
        worst_high=lacking.high,
        effect_low=test.effect_low,
        effect_high=test.effect_high,
    )


def tested(
    experiment: Experiment, metrics: Sequence[str], apart: pd.Series[float], bounds: Sequence[Bounds]
) -> tuple[Tested, Interval]:
    """Test paired differences (by repeat) with draws as the unit, and return their kind too."""
    found = per_draw(apart.to_numpy(), draws_of(experiment, map(int, apart.index)))
    kind = kind_of(metrics, found, turns_of(experiment))
    test = paired(found, kind, most_apart(bounds))
    if experiment.same_seed and found.any() and (test.test == "sign flips" or constant(found)):
        none = replace(test.difference, low=None, high=None, method="none", note=COPIES)
        test = Tested(none, None, None)  # repeats without noise are no evidence of a direction
    if len(apart) > test.difference.n == 1:
        test = replace(test, difference=replace(test.difference, note=ONE_DRAW_ONLY))
    return test, kind


def _impossible(experiment: Experiment, comparison: Comparison) -> str:
    """Say why a comparison can't be made, whatever the values are; empty if it can."""
    left_out = {one.name for one in experiment.arms_left_out} & {comparison.of.arm, comparison.against.arm}
    if left_out:
        return f"arm not run: {', '.join(sorted(left_out))}"
    return "" if _pairable(experiment, comparison) else ONE_DRAW


def unreached(draws: int, kind: Interval, pairs: int) -> str:
    """Say that the pairs, or the draws that pairs share, are too few for significance; empty if they are enough."""
    least, unit = attainable(draws, kind), "draw" if draws < pairs else "pair"
    return f"{counted(draws, unit)} reach{'es' * (draws == 1)} no p below {least:.3f}" if least >= ALPHA else ""


def _pairable(experiment: Experiment, comparison: Comparison) -> bool:
    """Say whether repeats are pairs; repeats of one draw are pairs only within a cell."""
    of, against = ((side.arm, side.condition) for side in (comparison.of, comparison.against))
    return of == against or not experiment.same_seed


REVENUE = "revenue"
SELLER = "the seller"


def companions(results: Results, values: pd.DataFrame) -> tuple[Difference, ...]:
    """Return, for each comparison of a bidder with itself, the same difference for its rivals and for the seller.

    Args:
        results: the records of the experiment.
        values: their `measurements`. The seller's values are those of the metric "revenue", if it is measured.
    """
    found: dict[Comparison, Difference] = {}
    for planned in expanded(results.experiment):
        if _across_cells(planned):
            for one, others in _beside(planned, values):
                found.setdefault(one, difference(results, others, one))
    return tuple(replace(one, p=None) for one in found.values() if one.pairs)


def _across_cells(planned: Comparison) -> bool:
    """Say whether one bidder is compared between arms or conditions."""
    (of, own), (against, other) = (((side.arm, side.condition), side.bidder) for side in (planned.of, planned.against))
    return own == other != EVERYONE and of != against


def _beside(planned: Comparison, values: pd.DataFrame) -> Iterator[tuple[Comparison, pd.DataFrame]]:
    name = planned.of.bidder
    rivals = values[values["metric"].isin(planned.metrics) & ~values["bidder"].isin(["", EVERYONE, name])]
    label = f"rivals of {name}"
    yield _of(label, planned), game_values(game_values(rivals).assign(bidder=label))
    revenue = values[(values["metric"] == REVENUE) & (values["bidder"] == "")]
    yield _of(SELLER, planned, REVENUE), revenue.assign(bidder=SELLER)


def _of(bidder: str, planned: Comparison, metric: str | None = None) -> Comparison:
    sides = (
        side.model_copy(update={"bidder": bidder, "metric": metric or own})
        for side, own in zip((planned.of, planned.against), planned.metrics, strict=True)
    )
    of, against = sides
    return Comparison(metric=metric or planned.metric, of=of, against=against)
