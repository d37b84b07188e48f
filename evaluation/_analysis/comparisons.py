"""Planned comparisons: differences between trials of the same repeat, tested as one family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from harbor.evaluation._analysis.frames import game_values
from harbor.evaluation._analysis.statistics import Method, holm, paired
from harbor.evaluation._experiments.design import EVERYONE, Comparison, Experiment, Side
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.registry import metric_of

ONE_DRAW = "one draw: no pairs"
"""Why arms or conditions are not compared where all repeats have the same seed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A planned comparison: the mean of the paired differences, with its 95 % interval, p and effect size.

    Each side names its arm, condition and metric. `missing` counts repeats that lack a value on a side. `effect` is
    Cohen's d of paired samples, in standard deviations of the differences; `p_holm` is p corrected by Holm over all
    planned comparisons of the experiment, including those that can't be made. `note` says why there is no interval.
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


def differences(results: Results, values: pd.DataFrame) -> tuple[Difference, ...]:
    """Make the planned comparisons.

    Args:
        results: the records.
        values: the `measurements` of their frame.
    """
    found = [_difference(results, values, one) for one in expanded(results.experiment)]
    adjusted = holm([one.p for one in found])
    return tuple(replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True))


def expanded(experiment: Experiment) -> Iterator[Comparison]:
    """Repeat each comparison in all arms and conditions that it leaves open, also in arms that are not run.

    The family is that of the plan: leaving an arm out must not make the other comparisons look more certain.
    """
    for comparison in experiment.comparisons:
        planned = (*experiment.arms, *experiment.arms_left_out)
        arms = [arm.name for arm in planned] if comparison.of.arm is None else [None]
        conditions = [one.name for one in experiment.conditions] if comparison.of.condition is None else [None]
        for arm in arms:
            for condition in conditions:
                filled = {"arm": arm} if arm else {}
                filled |= {"condition": condition} if condition else {}
                of, against = (
                    side.model_copy(update=filled | {"metric": metric})
                    for side, metric in zip((comparison.of, comparison.against), comparison.metrics, strict=True)
                )
                yield Comparison(metric=comparison.metric, of=of, against=against)


def paired_differences(values: pd.DataFrame, comparison: Comparison) -> pd.Series[float]:
    """Give the differences by repeat, over the repeats that have a value on both sides.

    Args:
        values: the `measurements` of a frame.
        comparison: one that leaves nothing open.
    """
    sides = zip(comparison.metrics, (comparison.of, comparison.against), strict=True)
    of, against = (by_repeat(values, metric, side) for metric, side in sides)
    return (of - against).dropna()


def repeats_of(results: Results, comparison: Comparison) -> int:
    """Count the repeats of a comparison's cells, whether they have a value or not."""
    cells = {(side.arm, side.condition) for side in (comparison.of, comparison.against)}
    return len({game.repeat for game in results.records if (game.arm, game.condition) in cells})


def by_repeat(values: pd.DataFrame, metric: str, side: Side) -> pd.Series[float]:
    """Give one value per repeat: that of the whole game, or else the mean over places and subjects.

    A value of the game, which belongs to no bidder, counts as everyone's.
    """
    cell = values[(values["arm"] == side.arm) & (values["condition"] == side.condition) & (values["metric"] == metric)]
    own = cell[cell["bidder"] == side.bidder]
    if side.bidder == EVERYONE and own.empty:
        own = cell[cell["bidder"] == ""]
    whole = own[own["at"].isna() & (own["about"] == "")]
    return game_values(own if whole.empty else whole).groupby("repeat")["value"].mean()


def _difference(results: Results, values: pd.DataFrame, comparison: Comparison) -> Difference:
    pairable = _pairable(results.experiment, comparison)
    found: list[float] = list(paired_differences(values, comparison)) if pairable else []
    test = paired(found, skewed=any(metric_of(metric).interval != "mean" for metric in comparison.metrics))
    mean = test.difference
    left_out = {one.name for one in results.experiment.arms_left_out} & {comparison.of.arm, comparison.against.arm}
    return Difference(
        comparison.metric,
        comparison.of,
        comparison.against,
        pairs=mean.n,
        missing=repeats_of(results, comparison) - mean.n if pairable else 0,
        mean=mean.mean,
        sd=mean.sd,
        low=mean.low,
        high=mean.high,
        effect=test.effect,
        p=None if results.experiment.same_seed and mean.method == "none" else test.p,
        p_holm=None,
        method=mean.method,
        note=f"arm not run: {', '.join(sorted(left_out))}" if left_out else mean.note if pairable else ONE_DRAW,
    )


def _pairable(experiment: Experiment, comparison: Comparison) -> bool:
    """Tell whether repeats are pairs; those of one draw are within a game alone."""
    of, against = ((side.arm, side.condition) for side in (comparison.of, comparison.against))
    return of == against or not experiment.same_seed
