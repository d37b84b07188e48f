"""Replan: after an item, a day or a run, revise the plan.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from dataclasses import replace

from harbor._config.thinking import MindSettings
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.plan import PLAN


def _from_the_truth(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Wait for the belief only if it is not corrected: otherwise the truth is used, whatever the model says."""
    return node if mind.correct_beliefs == "house" else replace(node, needs=(*node.needs, "believe"))


REPLAN = replace(
    PLAN,
    name="replan",
    description="after an item, revise the priorities of the items still to come, or the plan",
    occasions=("closed",),
    needs=("recall", "profile", "mirror", "contest-believe"),
    on=lambda mind, _: mind.planning == "adaptive",
    adapt=_from_the_truth,
    uses=("planning",),
    prompt=PROMPTS / "contest_replan.md",
    keeps="plan",
)
