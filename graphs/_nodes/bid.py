"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.deciding import decide
from harbor.graphs._context.replies import FusedReply


async def bid(state: BidderState, context: NodeContext) -> Update:
    """Ask for a decision; it should follow the strategic action, if one was chosen for this call."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    chosen, known = view.strategy, facts.call(ask, view)
    if chosen is None:
        return await decide(ask, context, context.prompt("bid", view, known))
    known |= {"strategy": chosen.action, "strategy_reasons": chosen.reasons}
    return await decide(ask, context, context.prompt("bid", view, known), action=chosen.action)


async def fused(state: BidderState, context: NodeContext) -> Update:
    """Ask for strategic action and decision in one call, which halves the chain."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    return await decide(ask, context, context.prompt("fused", view, facts.call(ask, view)), FusedReply)
