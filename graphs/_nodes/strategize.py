"""Strategize: choose one of the six strategic actions before a bid.

Source: Harbor sec. 3.5, Table 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Strategized
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import StrategyReply
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import BidderState, NodeContext, Update


async def strategize(state: BidderState, context: NodeContext) -> Update:
    """Ask for an action and its reason."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    reply = await context.ask(context.prompt(view, facts.call(ask, view), memories=True), StrategyReply)
    return context.emit(Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))


STRATEGIZE = ThoughtNode(
    name="strategize",
    description="choose one of the six strategic actions before a bid",
    occasions=("call",),
    event=Strategized,
    view=AuctionView,
    on=lambda mind, _: mind.strategy == "on",
    uses=("strategy",),
    prompt=PROMPTS / "strategize.md",
    reply=StrategyReply,
    answer=answers.strategize,
    run=strategize,
)
