"""Strategize: choose one of the six strategic actions before a bid.

Source: Harbor sec. 3.5, Table 1.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Strategized
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import StrategyReply


async def strategize(state: Thinking, thought: Thought) -> Update:
    """Ask for an action and its reason."""
    ask, notebook = cast(Ask, state["ask"]), state["notebook"]
    reply = await thought.ask(thought.prompt("strategize", notebook, facts.call(ask, notebook)), StrategyReply)
    return thought.conclude(Strategized(notebook.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))
