"""Replan: after an item, revise the priorities of the next items.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harbor._config.auction import MindSettings
from harbor._core.thoughts import Planned
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import Plan
from harbor.graphs._nodes.plan import make_plan
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def replan(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for a new plan over the next items, from the current belief."""
    view = state["view"]
    believed = facts.belief(facts.current_belief(view, context.switches), facts.long_over(view.results))
    return await make_plan(state, context, {"plan": view.plan, **believed})


def _from_the_truth(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Wait for the belief only if it is not corrected: otherwise the truth is used, whatever the model says."""
    return replace(node, needs=("recall", "profile", "mirror")) if mind.correct_beliefs == "house" else node


REPLAN = ThoughtNode(
    name="replan",
    description="after an item, revise the priorities of the items still to come",
    occasions=("closed",),
    event=Planned,
    needs=("recall", "profile", "mirror", "believe"),
    view=AuctionView,
    on=lambda mind, _: mind.planning == "adaptive",
    adapt=_from_the_truth,
    uses=("planning", "correct_beliefs"),
    when=lambda view, _: facts.any_affordable(view),
    prompt=PROMPTS / "replan.md",
    reply=Plan,
    answer=answers.plan,
    run=replan,
)
