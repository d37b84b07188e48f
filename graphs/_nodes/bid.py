"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import RAISING, Decided, StrategicAction, Strategized
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import BidReply, FusedReply, complete


async def bid(state: BidderState, context: NodeContext) -> Update:
    """Ask for reasons and a decision; it should follow the strategic action, if one was chosen for this call.

    There is no repair here: an unreadable bid is a failed bid, and the auctioneer asks again.
    """
    ask, view = cast(Ask, state["ask"]), state["view"]
    chosen = view.strategy
    known = facts.call(ask, view)
    if chosen is not None:
        known |= {"strategy": chosen.action, "strategy_reasons": chosen.reasons}
    try:
        reply = await context.ask(context.prompt("bid", view, known), BidReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    return decide(state, context, reply, chosen.action if chosen is not None else None)


async def fused(state: BidderState, context: NodeContext) -> Update:
    """Ask for strategic action and decision in one call, which halves the chain."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    prompt = context.prompt("fused", view, facts.call(ask, view))
    try:
        reply = await context.ask(prompt, FusedReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    context.emit(Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))
    return decide(state, context, reply, reply.strategy)


def decide(state: BidderState, context: NodeContext, reply: BidReply, action: StrategicAction | None) -> Update:
    """Conclude a decision, and answer with it."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    amount = reply.amount if reply.action == "bid" else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    decided = Decided(view.name, ask.item, ask.round, ask.attempt, reply.reasons, amount, contradicts)
    return {**context.emit(decided), "answer": Withdraw() if amount is None else Bid(amount)}
