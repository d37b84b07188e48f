"""Replan: after an item, revise the priorities of the items still to come.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._nodes.plan import make_plan


async def replan(state: BidderState, context: NodeContext) -> Update:
    """Ask for a new plan over the remaining items, from the current belief."""
    view = state["view"]
    believed = facts.belief(facts.current_belief(view, context.switches))
    known = {
        **believed,
        "plan": view.plan,
        "items": facts.items(view, view.coming, listings=True),
    }
    return await make_plan("replan", state, context, known)
