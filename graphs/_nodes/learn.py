"""Learn: after a game, write an updated short list of general learnings.

Source: Chen et al. 2023, sec. 3.2 and B.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harbor._core.thoughts import Learned
from harbor._games.answering import Row
from harbor._games.bidder_view import View
from harbor._games.part import Part
from harbor._games.replies import LearnReply
from harbor._games.types_of_play import learn as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import MOST_RECORDS

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def learn(state: ThoughtState, context: NodeContext) -> Update:
    """Ask what this game taught, given the learnings so far."""
    view = state["view"]
    reply = await context.reply(view, await context.memory.learnings())
    return context.emit(Learned(view.name, tuple(reply.learnings)))


def facts(view: View, learnings: Sequence[str]) -> Row:
    """Tell what came of each part, and what was learned before."""
    return {"results": [outcome(view, part) for part in view.results[-MOST_RECORDS:]], "learnings": learnings}


def outcome(view: View, part: Part) -> Row:
    """Tell what came of a part, as far as it was told: the highest bids, who got it, what each paid."""
    highest = {name: bid for name in view.bidders if (bid := part.highest_bid(name)) is not None}
    worth = view.estimates.get(part.item)
    return {
        "item": part.item,
        "highest_bids": highest,
        "winners": list(part.got),
        "payments": dict(part.paid),
        **({} if worth is None else {"worth_to_you": worth}),
    }


LEARN = ThoughtNode(
    name="learn",
    description="after an auction, update the list of general learnings",
    occasions=("end",),
    event=Learned,
    on=lambda mind, memory: mind.learning and not memory.frozen,  # nothing is written, so nothing is learned either
    uses=("learning",),
    prompt=PROMPTS / "learn.md",
    facts=facts,
    reply=LearnReply,
    fold=lambda _, event: event.learnings,
    tells=None,
    answer=answer,
    run=learn,
)
