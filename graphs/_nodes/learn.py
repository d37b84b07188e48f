"""Learn: after an auction, write an updated short list of general learnings.

Source: Chen et al. 2023, sec. 3.2 and B.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.thoughts import Learned
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import LearnReply
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def learn(state: ThoughtState, context: NodeContext) -> Update:
    """Ask what this auction taught, given the learnings so far."""
    view = state["view"]
    known = {
        "history": [facts.history(result) for result in view.results],
        "results": facts.results(view),
        "profits": facts.belief(view.truth())["profits"],
        "learnings": await context.memory.learnings(),
    }
    reply = await context.ask(context.prompt(view, known), LearnReply)
    return context.emit(Learned(view.name, tuple(reply.learnings)))


LEARN = ThoughtNode(
    name="learn",
    description="after an auction, update the list of general learnings",
    occasions=("end",),
    event=Learned,
    view=AuctionView,
    on=lambda mind, memory: mind.learning and not memory.frozen,  # nothing is written, so nothing is learned either
    uses=("learning",),
    prompt=PROMPTS / "learn.md",
    reply=LearnReply,
    answer=answers.learn,
    run=learn,
)
