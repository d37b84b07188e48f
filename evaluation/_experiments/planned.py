"""The planned comparisons of a design, one by one: they are the family that is tested together."""

from __future__ import annotations

from collections.abc import Iterator

from harbor.evaluation._experiments.design import Comparison, Experiment


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
