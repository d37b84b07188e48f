"""Plan and replan in a game of days or runs: a few sentences to go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.thoughts import Planned
from harbor._models.simulated import answers
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import ContestPlan
from harbor.graphs._context.session_prompts import prompt
from harbor.memory._bidder.session_view import SessionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, Update
    from harbor.graphs._context.session_prompts import SessionState


async def plan(state: SessionState, context: NodeContext) -> Update:
    """Ask for a plan, before the game begins or for the days or runs that are left."""
    view = state["view"]
    reply = await context.ask(prompt(context, view), ContestPlan)
    return context.emit(Planned(view.name, reply.plan, {}))


PLAN = ThoughtNode(
    name="contest-plan",
    description="before the game begins, plan how to play it",
    occasions=("opening",),
    event=Planned,
    step="plan",
    view=SessionView,
    on=lambda mind, _: mind.planning != "none",
    uses=("planning",),
    when=lambda view, _: bool(view.goes_on),
    prompt=PROMPTS / "contest_plan.md",
    reply=ContestPlan,
    answer=answers.contest_plan,
    run=plan,
)
REPLAN = ThoughtNode(
    name="contest-replan",
    description="after a day or run, revise the plan",
    occasions=("closed",),
    event=Planned,
    step="replan",
    needs=("believe",),
    view=SessionView,
    on=lambda mind, _: mind.planning == "adaptive",
    uses=("planning",),
    when=lambda view, _: bool(view.goes_on),
    prompt=PROMPTS / "contest_replan.md",
    reply=ContestPlan,
    answer=answers.contest_plan,
    run=plan,
)
