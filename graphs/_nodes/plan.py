"""Plan: before the first item, give every item a priority.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from harbor._core.thoughts import Planned
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import Plan, covers


async def plan(state: BidderState, context: NodeContext) -> Update:
    """Ask for a plan over all items."""
    view = state["view"]
    known = {"budget": view.budget, "items": facts.items(view, view.lots, listings=True)}
    return await make_plan("plan", state, context, known)


async def make_plan(name: str, state: BidderState, context: NodeContext, known: facts.Row) -> Update:
    """Ask for a plan that covers the items in `known`, each once."""
    view = state["view"]
    known = {**facts.progress(view), **known}
    if view.profiles:
        known = {**known, **facts.rivals(view)}
    names = [row["item"] for row in known["items"]]
    reply = await context.ask(context.prompt(name, view, known), Plan, check=lambda plan: covers(plan, names))
    priorities = {priority.item: priority.priority for priority in reply.priorities}
    return context.emit(Planned(view.name, reply.plan, priorities))
