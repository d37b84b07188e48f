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
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def strategize(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for an action and its reason, from the call and from what is known of the rivals."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    known = {name: fact for name, fact in facts.call(ask, view, context.switches).items() if name != "in_words"}
    known |= facts.profiles(view)
    prompt = context.prompt(view, known, catalog=bool(view.profiles), memories=True)
    reply = await context.ask(prompt, StrategyReply)
    return context.emit(Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons))


STRATEGIZE = ThoughtNode(
    name="strategize",
    description="choose one of the six strategic actions before a bid",
    occasions=("call",),
    event=Strategized,
    view=AuctionView,
    on=lambda mind, _: mind.strategy == "on",
    uses=("strategy", "bounds"),
    prompt=PROMPTS / "strategize.md",
    reply=StrategyReply,
    answer=answers.strategize,
    run=strategize,
)
