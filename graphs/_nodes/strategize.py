"""Strategize: choose one of the six strategic actions before a bid.

Source: Harbor sec. 3.5, Table 1.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Strategized
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import StrategyReply


async def strategize(state: BidderState, context: NodeContext) -> Update:
    """Ask for an action and its reason."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    reply = await context.ask(context.prompt("strategize", view, facts.call(ask, view)), StrategyReply)
    return context.emit(Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))
