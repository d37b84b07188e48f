"""Bid: answer the auctioneer, in one call with the strategic action if the bidder is to choose one so.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Decided
from harbor._games.replies import FusedReply
from harbor.graphs._context.deciding import decide, decide_in_form
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._context.words import own_form, standing

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def bid(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for a decision; it should follow the strategic action, if one was chosen for this call."""
    ask, view, game = cast(Ask, state["ask"]), state["view"], context.bidder.table
    chosen = view.notes.get("strategize") if context.switches.strategy == "on" else None
    action, told, prompt = chosen["action"] if chosen else None, standing(game, view), context.prompt(view)
    if form := own_form(game, view, told):
        return await decide_in_form(ask, view, context, prompt, form, told, action)
    return await decide(ask, context, prompt, context.words.reply, action)


BID = ThoughtNode(
    name="bid",
    description="answer the auctioneer with a bid, another act that it asks for, or a withdrawal",
    occasions=("call",),
    event=Decided,
    needs=("strategize",),
    on=lambda mind, _: mind.bidding == "call" and mind.strategy != "fused",
    uses=("bidding", "context", "bounds"),
    answers=True,
    run=bid,
)
FUSED = ThoughtNode(
    name="fused",
    description="choose a strategic action and answer the auctioneer in one call",
    occasions=("call",),
    event=Decided,
    step="bid",
    on=lambda mind, _: mind.strategy == "fused",
    uses=("strategy", "context", "bounds"),
    answers=True,
    reply=FusedReply,
    run=bid,
)
