"""How a bidder decides on a call, in every game: one model call, no repair, and the answer to the auctioneer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import RAISING, Decided, StrategicAction, Strategized
from harbor.graphs._context.replies import BidReply, FusedReply, complete

if TYPE_CHECKING:
    from harbor._models.client import Prompt
    from harbor.graphs._context.context import NodeContext, Update


async def decide(
    ask: Ask,
    context: NodeContext,
    prompt: Prompt,
    kind: type[BidReply] = BidReply,
    action: StrategicAction | None = None,
) -> Update:
    """Ask for a bid or a withdrawal, conclude the decision, and answer with it.

    Args:
        ask: the auctioneer's call.
        context: of the node.
        prompt: the filled prompt.
        kind: the shape of the reply; a `FusedReply` brings its own strategic action.
        action: the strategic action that was chosen before, if any.
    """
    try:
        # No repair: an unreadable reply is a failed bid, which the auctioneer counts and asks again.
        reply = await context.ask(prompt, kind, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    if isinstance(reply, FusedReply):
        action = reply.strategy
        context.emit(Strategized(ask.bidder, ask.item, ask.round, ask.attempt, action, reply.reasons))
    amount = reply.amount if reply.action == "bid" else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    decided = Decided(ask.bidder, ask.item, ask.round, ask.attempt, reply.reasons, amount, contradicts)
    return {**context.emit(decided), "answer": Withdraw() if amount is None else Bid(amount)}
