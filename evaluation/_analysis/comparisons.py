"""Planned comparisons: differences between trials of the same repeat, tested as one family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from harbor.evaluation._analysis.frames import game_values
from harbor.evaluation._analysis.levels import ALPHA, attainable
from harbor.evaluation._analysis.means import Method
from harbor.evaluation._analysis.statistics import holm, paired
from harbor.evaluation._experiments.design import EVERYONE, Comparison, Experiment, Side
from harbor.evaluation._experiments.planned import expanded
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.measurement import Interval
from harbor.evaluation._metrics.registry import metric_of

ONE_DRAW = "one draw: no pairs"
"""Why arms or conditions are not compared where all repeats have the same seed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A planned comparison: the mean of the paired differences, with its 95 % interval, p and effect size.

    Each side names its arm, condition and metric. `missing` counts repeats that lack a value on a side. `effect` is
    Cohen's d of paired samples, in standard deviations of the differences; `method` is that of interval and p alike.
    `p_holm` is p corrected by Holm over all planned comparisons of the experiment, including those that can't be made.
    `note` says why there is no interval, or that so few pairs can't reach 5 %.
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
    found = [difference(results, values, one) for one in expanded(results.experiment)]
    adjusted = holm([one.p for one in found])
    return tuple(replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True))


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


def kind_of(metrics: Sequence[str], found: Iterable[float]) -> Interval:
    """Say how differences are distributed: "binary" if all are -1, 0 or 1, else as the more skewed of their metrics.

    Means over bidders of a yes or no are no longer binary.
    """
    kinds = {metric_of(metric).interval for metric in metrics}
    if kinds == {"binary"} and {*found} <= {-1, 0, 1}:
        return "binary"
    return "skewed" if "skewed" in kinds else "mean"


def most_apart(metrics: Sequence[str]) -> float:
    """Give the greatest difference that the bounds of the metrics leave."""
    (least, most), (others_least, others_most) = (metric_of(metric).bounds for metric in metrics)
    return max(most - others_least, others_most - least)


def difference(results: Results, values: pd.DataFrame, comparison: Comparison) -> Difference:
    """Make one comparison, which leaves nothing open and is not corrected for others."""
    pairable = _pairable(results.experiment, comparison)
    found: list[float] = list(paired_differences(values, comparison)) if pairable else []
    kind = kind_of(comparison.metrics, found)
    test = paired(found, kind, most_apart(comparison.metrics))
    mean = test.difference
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
        p=test.p,
        p_holm=None,
        method=mean.method,
        note=_impossible(results.experiment, comparison) or mean.note or unreached(mean.n, kind),
    )


def _impossible(experiment: Experiment, comparison: Comparison) -> str:
    """Say why a comparison can't be made, whatever its games gave; empty if it can."""
    left_out = {one.name for one in experiment.arms_left_out} & {comparison.of.arm, comparison.against.arm}
    if left_out:
        return f"arm not run: {', '.join(sorted(left_out))}"
    return "" if _pairable(experiment, comparison) else ONE_DRAW


def unreached(pairs: int, kind: Interval) -> str:
    """Say that no effect could be found by so few pairs; empty if one could."""
    least = attainable(pairs, kind)
    return f"{pairs} {'pair reaches' if pairs == 1 else 'pairs reach'} no p below {least:.3f}" if least >= ALPHA else ""


def _pairable(experiment: Experiment, comparison: Comparison) -> bool:
    """Tell whether repeats are pairs; those of one draw are within a game alone."""
    of, against = ((side.arm, side.condition) for side in (comparison.of, comparison.against))
    return of == against or not experiment.same_seed
