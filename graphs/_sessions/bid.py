"""Bid in a game of days or runs: answer the auctioneer with an amount, a number, or a withdrawal."""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.errors import UnreadableReply
from harbor._core.thoughts import Decided
from harbor.graphs._context.context import Thought, Update
from harbor.graphs._context.replies import BidReply, complete
from harbor.graphs._sessions.facts import Playing, game_of, prompt


async def choose(state: Playing, thought: Thought) -> Update:
    """Ask for reasons and a decision; an unreadable one is a failed bid, which the auctioneer asks again."""
    ask, journal = cast(Ask, state["ask"]), state["notebook"]
    known = {"item": ask.item, "minimum": ask.minimum, "maximum": ask.maximum, "plan": journal.plan}
    if journal.out:
        known["out"] = list(journal.out)
    if journal.expected:
        known["expected"] = journal.expected
    if ask.refusal:
        known["refused"] = ask.refusal
    name = game_of(journal).replace("-", "_")
    try:
        reply = await thought.ask(prompt(thought, name, journal, known), BidReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    amount = reply.amount if reply.action == "bid" else None
    decided = Decided(journal.name, ask.item, ask.round, ask.attempt, reply.reasons, amount)
    return {**thought.conclude(decided), "answer": Withdraw() if amount is None else Bid(amount)}
