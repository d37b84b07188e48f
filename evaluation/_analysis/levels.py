"""Checks of a design without a statistics library: the level of tests, the desired power, attainable p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor.evaluation._experiments.design import EVERYONE, Comparison, Experiment, expanded
from harbor.evaluation._experiments.draws import turns_of
from harbor.evaluation._experiments.trials import planned_repeats
from harbor.evaluation._metrics.measurement import Interval, metric_of

ALPHA = 0.05
"""Level of all tests: the probability of a false positive in a family of comparisons."""
LEAST: dict[Interval, int] = {"mean": 2, "skewed": 3, "binary": 2}
"""The fewest values that allow an interval and a p, by kind of values."""


def is_found(p_holm: float | None) -> bool:
    """Return whether a difference with this p, corrected by Holm, is significant at the level `ALPHA`."""
    return p_holm is not None and p_holm < ALPHA


def attainable(pairs: int, kind: Interval = "mean") -> float:
    """Return the smallest p that `paired` can give with this number of pairs, however large the effect is.

    For Student's t with 2 or more pairs and Hall's t with 3 or more pairs this is 0, because they reach any level.
    McNemar's exact test has its smallest p if all pairs differ in the same direction. If the pairs are too few for a
    test, the result is 1.
    """
    if pairs < LEAST[kind]:
        return 1.0
    return 2 * 0.5**pairs if kind == "binary" else 0.0


def least_pairs(kind: Interval, alpha: float) -> int:
    """Return the fewest pairs with which a test can reach this level."""
    return next(pairs for pairs in count(1) if attainable(pairs, kind) < alpha)


@dataclass(frozen=True, slots=True)
class Question:
    """The effect that an experiment shall find, in the unit of the metric.

    `power` is the probability with which it shall be found, and `alpha` the level of the test.
    """

    effect: float
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.effect == 0 or not abs(self.effect) < float("inf"):
            raise ConfigError(f"effect {self.effect!r}: no number of games finds that; give a difference other than 0")
        if not 0 < self.alpha < self.power < 1:
            raise ConfigError(
                f"alpha {self.alpha!r}, power {self.power!r}: give an alpha above 0, and a power above it and below 1"
            )


def unreachable(experiment: Experiment, alpha: float = ALPHA) -> str:
    """Say which planned comparisons can't reach a level by Holm, however large their effects.

    These are the comparisons whose least possible p is too large in the family. Comparisons that are not run count in
    the family, but are not named.

    Returns:
        a sentence with a sufficient number of repeats; empty if all can reach it.
    """
    turns = turns_of(experiment)
    plan = [(one, _kind(one, turns), _pairs(experiment, one, turns)) for one in expanded(experiment)]
    unit = "pair" if turns == 1 else "draw"
    beyond = _beyond([attainable(pairs, kind) for _, kind, pairs in plan], alpha)
    told = [
        f"{one.metric} ({counted(pairs, unit)})"
        for (one, _, pairs), lost in zip(plan, beyond, strict=True)
        if lost and pairs
    ]
    if not told:
        return ""
    kinds = [kind if pairs else None for _, kind, pairs in plan]
    run = len(plan) - kinds.count(None)
    family = "" if run == len(plan) else f" that are run, in a family of {len(plan)},"
    return (
        f"{len(told)} of {run} planned comparisons{family} can't reach p < {alpha:g} by Holm, whatever is found:"
        f" {', '.join(dict.fromkeys(told))}; give --repeats {turns * _enough(kinds, alpha)} or more, or plan fewer"
        " comparisons"
    )


def _beyond(least: Sequence[float], alpha: float) -> list[bool]:
    """Say which of these least p's Holm would not reject: the first that is too large for its place and all later."""
    places = sorted(range(len(least)), key=least.__getitem__)
    reached = 0
    while reached < len(least) and least[places[reached]] < alpha / (len(least) - reached):
        reached += 1
    return [place in places[reached:] for place in range(len(least))]


def _enough(kinds: Sequence[Interval | None], alpha: float) -> int:
    """Return the number of draws with which every comparison can reach the level; None marks one that is not run."""
    for repeats in count(2):
        beyond = _beyond([attainable(repeats, kind) if kind else 1.0 for kind in kinds], alpha)
        if not any(lost and kind for lost, kind in zip(beyond, kinds, strict=True)):
            return repeats
    raise AssertionError


def _kind(comparison: Comparison, turns: int) -> Interval:
    """Return the kind of a comparison's test: averages of yes or no, over bidders or a draw, are not binary."""
    kinds = {metric_of(metric).interval for metric in comparison.metrics}
    averaged = turns > 1 or EVERYONE in (comparison.of.bidder, comparison.against.bidder)
    if kinds == {"binary"} and not averaged:
        return "binary"
    return "skewed" if "skewed" in kinds else "mean"


def _pairs(experiment: Experiment, comparison: Comparison, turns: int) -> int:
    """Count the draws of a comparison if no game fails: 0 if an arm is left out, or all games are of one draw."""
    repeats = planned_repeats(experiment)
    of, against = ((str(side.arm), str(side.condition)) for side in (comparison.of, comparison.against))
    if experiment.same_seed and of != against:
        return 0
    return -(-min(repeats.get(cell, 0) for cell in (of, against)) // turns)
