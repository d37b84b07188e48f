"""Plan and replan in a game of days or runs: a few sentences to go by."""

from __future__ import annotations

from harbor._core.thoughts import Planned
from harbor.graphs._context.context import Thought, Update
from harbor.graphs._context.replies import ContestPlan
from harbor.graphs._sessions.facts import Playing, prompt


async def plan(state: Playing, thought: Thought) -> Update:
    """Ask for a plan before the game begins."""
    return await _make(state, thought, "contest_plan")


async def replan(state: Playing, thought: Thought) -> Update:
    """Ask for a new plan after a day or run."""
    return await _make(state, thought, "contest_replan")


async def _make(state: Playing, thought: Thought, name: str) -> Update:
    journal = state["notebook"]
    known = {"plan": journal.plan, "expected": journal.expected}
    reply = await thought.ask(prompt(thought, name, journal, known), ContestPlan)
    return thought.conclude(Planned(journal.name, reply.plan, {}))
