"""Bid: answer the auctioneer with a bid or a withdrawal.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from typing import cast

from harbor.errors import UnreadableReply
from harbor.events import Ask, Bid, Decided, Unreadable, Withdraw
from harbor.graphs import facts
from harbor.graphs.replies import BidReply, complete
from harbor.graphs.state import Thinking, Thought, Update
from harbor.memory.notebook import Notebook


async def bid(state: Thinking, thought: Thought) -> Update:
    """Ask for reasons and a decision.

    There is no repair here: an unreadable bid is a failed bid, and the auctioneer asks again.
    """
    ask, notebook = cast(Ask, state["ask"]), state["notebook"]
    prompt = thought.prompt("bid", notebook, _known(ask, notebook))
    try:
        reply = await thought.model.ask(prompt, BidReply, check=complete, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    amount = reply.amount if reply.action == "bid" else None
    decided = Decided(notebook.name, ask.item, ask.round, ask.attempt, reply.reasons, amount)
    return {**thought.conclude(decided), "answer": Withdraw() if amount is None else Bid(amount)}


def _known(ask: Ask, notebook: Notebook) -> facts.Row:
    """Give what a decision needs: the call, the bids so far, this item in full and the later ones in brief."""
    here, *later = notebook.coming
    known: facts.Row = {
        "budget": ask.maximum,
        "least": ask.minimum,
        "mean_estimate": facts.mean_estimate(notebook),
        "plan": notebook.plan,
        "items": [
            *facts.items(notebook, (here,), listings=True),
            *facts.items(notebook, tuple(later), listings=False),
        ],
        "bids": notebook.hammer.bids if notebook.hammer else (),
    }
    if ask.refusal:
        known["refused"] = ask.refusal
    return known
