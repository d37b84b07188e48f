"""Plan: before the first item, give every item a priority.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from harbor._core.thoughts import Planned
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import Plan, covers


async def plan(state: Thinking, thought: Thought) -> Update:
    """Ask for a plan over all items."""
    notebook = state["notebook"]
    known = {
        "budget": notebook.budget,
        "mean_estimate": facts.mean_estimate(notebook),
        "items": facts.items(notebook, notebook.lots, listings=True),
    }
    return await make_plan("plan", state, thought, known)


async def make_plan(name: str, state: Thinking, thought: Thought, known: facts.Row) -> Update:
    """Ask for a plan that covers the items in `known`, each once."""
    notebook = state["notebook"]
    known = {"gone": len(notebook.results), **known}
    if notebook.profiles:
        known = {**known, **facts.rivals(notebook)}
    names = [row["item"] for row in known["items"]]
    reply = await thought.ask(thought.prompt(name, notebook, known), Plan, check=lambda plan: covers(plan, names))
    priorities = {priority.item: priority.priority for priority in reply.priorities}
    return thought.conclude(Planned(notebook.name, reply.plan, priorities))
