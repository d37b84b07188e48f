"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask
from harbor._core.decisions import BidReply
from harbor._core.thoughts import Decided
from harbor._models.simulated import answers
from harbor.graphs._context import answering, facts
from harbor.graphs._context.deciding import decide
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import FusedReply
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def bid(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for a decision; it should follow the strategic action, if one was chosen for this call."""
    ask, view, mind = cast(Ask, state["ask"]), state["view"], context.switches
    chosen, earlier = view.strategy, facts.turns(ask, view, mind)
    known = {**facts.call(ask, view, mind, earlier), **answering.chosen(chosen)}
    prompt = context.prompt(view, known, memories=True, earlier=earlier)
    return await decide(ask, context, prompt, action=chosen.action if chosen else None)


async def fused(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for strategic action and decision in one call, which halves the chain."""
    ask, view, mind = cast(Ask, state["ask"]), state["view"], context.switches
    earlier = facts.turns(ask, view, mind)
    known = {**facts.call(ask, view, mind, earlier), **facts.profiles(view)}
    prompt = context.prompt(view, known, catalog=bool(view.profiles), memories=True, earlier=earlier)
    return await decide(ask, context, prompt, FusedReply)


BID = ThoughtNode(
    name="bid",
    description="answer the auctioneer with a bid or a withdrawal",
    occasions=("call",),
    event=Decided,
    needs=("strategize",),
    view=AuctionView,
    on=lambda mind, _: mind.bidding == "call" and mind.strategy != "fused",
    uses=("bidding", "strategy", "context", "bounds"),
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
    uses=("strategy", "context", "bounds"),
    answers=True,
    prompt=PROMPTS / "fused.md",
    reply=FusedReply,
    answer=answers.fused,
    run=fused,
)
