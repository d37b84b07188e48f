"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask
from harbor._core.decisions import BidReply
from harbor._core.thoughts import Decided
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.deciding import decide
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import FusedReply
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import BidderState, NodeContext, Update


async def bid(state: BidderState, context: NodeContext) -> Update:
    """Ask for a decision; it should follow the strategic action, if one was chosen for this call."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    chosen, known = view.strategy, facts.call(ask, view)
    if chosen is None:
        return await decide(ask, context, context.prompt(view, known, memories=True))
    known |= {"strategy": chosen.action, "strategy_reasons": chosen.reasons}
    return await decide(ask, context, context.prompt(view, known, memories=True), action=chosen.action)


async def fused(state: BidderState, context: NodeContext) -> Update:
    """Ask for strategic action and decision in one call, which halves the chain."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    return await decide(ask, context, context.prompt(view, facts.call(ask, view), memories=True), FusedReply)


BID = ThoughtNode(
    name="bid",
    description="answer the auctioneer with a bid or a withdrawal",
    occasions=("call",),
    event=Decided,
    needs=("strategize",),
    view=AuctionView,
    on=lambda mind, _: mind.bidding == "call" and mind.strategy != "fused",
    uses=("bidding", "strategy"),
    answers=True,
    prompt=PROMPTS / "bid.md",
    reply=BidReply,
    answer=answers.bid,
    run=bid,
)
FUSED = ThoughtNode(
    name="fused",
    description="choose a strategic action and answer the auctioneer in one call",
    occasions=("call",),
    event=Decided,
    step="bid",
    view=AuctionView,
    on=lambda mind, _: mind.strategy == "fused",
    uses=("strategy",),
    answers=True,
    prompt=PROMPTS / "fused.md",
    reply=FusedReply,
    answer=answers.fused,
    run=fused,
)
