"""Limit: decide once per item how far to go; the house raises up to there, as in a proxy auction.

It decides what `bid` decides, and leaves out what `bid` learns from the bids on the item. Source: Harbor's own.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.events import LotOpened
from harbor._core.thoughts import LimitSet
from harbor._games.bidder_view import View
from harbor._games.replies import LimitReply
from harbor.graphs._context.node import ThoughtNode

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def limit(state: ThoughtState, context: NodeContext) -> Update:
    """Answer by the limit that was set for the item; ask for one if there is none, or if something new is known.

    New is that the item is offered again at a lower price, which opens the bidding on it anew, or that the last answer
    was refused. What rivals bid is not new: whoever sets a limit has said what to do at any price.
    """
    ask, view = cast(Ask, state["ask"]), state["view"]
    if not ask.refusal and (already := _set_before(view)):
        return {"answer": within(already.limit, ask)}
    try:  # no repair, as for a bid: the auctioneer counts an unreadable reply as a failed bid, and asks again
        reply = await context.ask(context.prompt(view), LimitReply, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    concluded = LimitSet(view.name, ask.item, ask.round, ask.attempt, reply.reasons, reply.limit)
    return {**context.emit(concluded), "answer": within(reply.limit, ask)}


def _set_before(view: View) -> LimitSet | None:
    """Find the limit that was set since the bidding was last opened."""
    for event in reversed(view.part.events if view.part else ()):
        if isinstance(event, LimitSet):
            return event
        if isinstance(event, LotOpened):
            return None
    return None


def within(limit: Decimal | None, ask: Ask) -> Bid | Withdraw:
    """Bid the least amount that can be bid while it is not above the limit and the budget, else withdraw."""
    goes_on = limit is not None and ask.minimum <= min(limit, ask.maximum)
    return Bid(ask.minimum) if goes_on else Withdraw()


LIMIT = ThoughtNode(
    name="limit",
    description="decide once per item how far to go, and answer every call on it by that",
    occasions=("call",),
    event=LimitSet,
    step="bid",
    on=lambda mind, _: mind.bidding == "limit",
    uses=("bidding", "bounds"),
    answers=True,
    reply=LimitReply,
    run=limit,
)
