"""Replan: after an item, revise the priorities of the items still to come.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._nodes.plan import make_plan


async def replan(state: Thinking, thought: Thought) -> Update:
    """Ask for a new plan over the remaining items, from the belief now held."""
    notebook = state["notebook"]
    held = facts.held(notebook, thought.switches)
    known = {
        "budget": held.budget,
        "mean_estimate": facts.mean_estimate(notebook),
        "belief": facts.belief(held),
        "plan": notebook.plan,
        "items": facts.items(notebook, notebook.coming, listings=True),
    }
    return await make_plan("replan", state, thought, known)
