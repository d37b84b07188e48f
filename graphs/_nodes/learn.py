"""Learn: after an auction, write an updated short list of general learnings.

Source: Chen et al. 2023, sec. 3.2 and B.3.
"""

from __future__ import annotations

from harbor._core.thoughts import Learned
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import LearnReply


async def learn(state: BidderState, context: NodeContext) -> Update:
    """Ask what this auction taught, given the learnings so far."""
    view = state["view"]
    known = {
        "results": facts.results(view),
        "profits": facts.belief(view.truth())["profits"],
        "learnings": await context.memory.learnings(),
    }
    reply = await context.ask(context.prompt("learn", view, known), LearnReply)
    return context.emit(Learned(view.name, tuple(reply.learnings)))
