"""Plan: before the first item, give the items a priority, as many as prompts list; the later ones wait for a new plan.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.thoughts import Planned
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import Plan, covers
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def plan(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for a plan over the items."""
    return await make_plan(state, context, {})


async def make_plan(state: ThoughtState, context: NodeContext, known: facts.Row) -> Update:
    """Ask for a plan that covers the next items, each once, from what is `known` besides."""
    view = state["view"]
    known = {**facts.coming(view), **facts.progress(view), "budget": view.budget, **known}
    if view.profiles:
        known = {**known, **facts.rivals(view)}
    names = [row["item"] for row in known["items"]]
    prompt = context.prompt(view, known, catalog=bool(view.profiles), memories=True)
    reply = await context.ask(prompt, Plan, check=lambda plan: covers(plan, names))
    priorities = {priority.item: priority.priority for priority in reply.priorities}
    return context.emit(Planned(view.name, reply.plan, priorities))


PLAN = ThoughtNode(
    name="plan",
    description="before the first item, give every item a priority",
    occasions=("opening",),
    event=Planned,
    needs=("recall",),
    view=AuctionView,
    on=lambda mind, _: mind.planning != "none",
    uses=("planning",),
    prompt=PROMPTS / "plan.md",
    reply=Plan,
    answer=answers.plan,
    run=plan,
)
