"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import RAISING, Decided, StrategicAction, Strategized
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import BidReply, FusedReply, complete


async def bid(state: Thinking, thought: Thought) -> Update:
    """Ask for reasons and a decision; it should follow the strategic action, if one was chosen for this call.

    There is no repair here: an unreadable bid is a failed bid, and the auctioneer asks again.
    """
    ask, notebook = cast(Ask, state["ask"]), state["notebook"]
    chosen = notebook.strategy
    known = facts.call(ask, notebook)
    if chosen is not None:
        known |= {"strategy": chosen.action, "strategy_reasons": chosen.reasons}
    try:
        reply = await thought.ask(thought.prompt("bid", notebook, known), BidReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    return decide(state, thought, reply, chosen.action if chosen is not None else None)


async def fused(state: Thinking, thought: Thought) -> Update:
    """Ask for strategic action and decision in one call, which halves the chain."""
    ask, notebook = cast(Ask, state["ask"]), state["notebook"]
    prompt = thought.prompt("fused", notebook, facts.call(ask, notebook))
    try:
        reply = await thought.ask(prompt, FusedReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    thought.conclude(Strategized(notebook.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))
    return decide(state, thought, reply, reply.strategy)


def decide(state: Thinking, thought: Thought, reply: BidReply, action: StrategicAction | None) -> Update:
    """Conclude a decision, and answer with it."""
    ask, notebook = cast(Ask, state["ask"]), state["notebook"]
    amount = reply.amount if reply.action == "bid" else None
    contradicts = action is not None and (action in RAISING) != (amount is not None)
    decided = Decided(notebook.name, ask.item, ask.round, ask.attempt, reply.reasons, amount, contradicts)
    return {**thought.conclude(decided), "answer": Withdraw() if amount is None else Bid(amount)}
