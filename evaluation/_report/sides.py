"""The two sides of a planned comparison in words: what differs between them, and what they share."""

from __future__ import annotations

from typing import NamedTuple

from harbor.evaluation._experiments.design import Experiment, Side
from harbor.evaluation._report.tables import label_of

PARTS = ("arm", "condition", "bidder")


class Sides(NamedTuple):
    """Each side by what it has of its own, and what both have."""

    of: str
    against: str
    shared: str


def sides_of(of: Side, against: Side, experiment: Experiment) -> Sides:
    """Name what differs between the sides of a comparison, and what they share if another comparison might not."""
    named = [{part: _part(side, part, experiment) for part in ("metric", *PARTS)} for side in (of, against)]
    metrics = () if of.metric == against.metric else ("metric",)
    differing = [*metrics, *(part for part in PARTS if named[0][part] != named[1][part])]
    ours, theirs = (", ".join(side[part] for part in differing) for side in named)
    alone = {
        "arm": len((*experiment.arms, *experiment.arms_left_out)) == 1,
        "condition": len(experiment.conditions) == 1,
    }
    shared = [named[0][part] for part in PARTS if part not in differing and named[0][part] and not alone.get(part)]
    return Sides(ours, theirs, ", ".join(shared))


def _part(side: Side, part: str, experiment: Experiment) -> str:
    name = getattr(side, part) or ""
    return name if part in ("metric", "bidder") else label_of(experiment, part, name)
