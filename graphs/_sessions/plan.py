"""Plan and replan in a game of days or runs: a few sentences to go by."""

from __future__ import annotations

from harbor._core.thoughts import Planned
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.replies import ContestPlan
from harbor.graphs._sessions.facts import SessionState, prompt


async def plan(state: SessionState, context: NodeContext) -> Update:
    """Ask for a plan before the game begins."""
    return await _make(state, context, "contest_plan")


async def replan(state: SessionState, context: NodeContext) -> Update:
    """Ask for a new plan after a day or run."""
    return await _make(state, context, "contest_replan")


async def _make(state: SessionState, context: NodeContext, name: str) -> Update:
    view = state["view"]
    reply = await context.ask(prompt(context, name, view), ContestPlan)
    return context.emit(Planned(view.name, reply.plan, {}))
