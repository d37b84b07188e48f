"""How a bidder decides on a call, in every game: one model call, no repair, and the answer to the auctioneer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.asks import Ask, Unreadable
from harbor._core.decisions import BidReply, Decision
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import RAISING, Decided, DecidedInWords, StrategicAction, Strategized
from harbor.graphs._context.replies import FusedReply

if TYPE_CHECKING:
    from harbor._models.prompt import Prompt
    from harbor.graphs._context.context import NodeContext, Update


async def decide(
    ask: Ask,
    context: NodeContext,
    prompt: Prompt,
    kind: type[Decision] | None = None,
    action: StrategicAction | None = None,
) -> Update:
    """Ask for an action, conclude the decision, and answer with it.

    Args:
        ask: the auctioneer's call.
        context: of the node.
        prompt: the filled prompt.
        kind: the shape of the reply (None: that of the action space); a `FusedReply` brings its own strategic action.
        action: the strategic action that was chosen before, if any.
    """
    try:
        # No repair: an unreadable reply is a failed bid, which the auctioneer counts and asks again.
        reply = await context.ask(prompt, kind or ask.space.reply, check=lambda reply: reply.missing(), repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    if isinstance(reply, FusedReply):
        action = reply.strategy
        context.emit(Strategized(ask.bidder, ask.item, ask.round, ask.attempt, action, reply.reasons))
    return {**context.emit(_decided(ask, reply, action)), "answer": reply.taken()}


def _decided(ask: Ask, reply: Decision, action: StrategicAction | None) -> Decided | DecidedInWords:
    if not isinstance(reply, BidReply):
        words = ask.space.say(reply.taken())
        return DecidedInWords(ask.bidder, ask.item, ask.round, ask.attempt, reply.reasons, words)
    amount = reply.amount if reply.action == "bid" else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    return Decided(ask.bidder, ask.item, ask.round, ask.attempt, reply.reasons, amount, contradicts)
