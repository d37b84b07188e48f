"""Bid in a game of days or runs: answer the auctioneer with an amount, a number, or a withdrawal."""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import Decided
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.replies import BidReply, complete
from harbor.graphs._sessions.facts import SessionState, game_of, prompt


async def bid(state: SessionState, context: NodeContext) -> Update:
    """Ask for reasons and a decision; an unreadable one is a failed bid, which the auctioneer asks again."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    known = {"item": ask.item, "minimum": ask.minimum, "maximum": ask.maximum, "plan": view.plan}
    if view.out:
        known["out"] = list(view.out)
    if view.expected:
        known["expected"] = view.expected
    if ask.refusal:
        known["refused"] = ask.refusal
    name = game_of(view).replace("-", "_")
    try:
        reply = await context.ask(prompt(context, name, view, known), BidReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    amount = reply.amount if reply.action == "bid" else None
    decided = Decided(view.name, ask.item, ask.round, ask.attempt, reply.reasons, amount)
    return {**context.emit(decided), "answer": Withdraw() if amount is None else Bid(amount)}
