"""Bid in a game of days or runs: answer the auctioneer with an action that it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Decided
from harbor.graphs._context.answering import refusal
from harbor.graphs._context.deciding import decide
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._context.session_prompts import bid_prompt
from harbor.memory._bidder.session_view import SessionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, Update
    from harbor.graphs._context.session_prompts import SessionState


async def bid(state: SessionState, context: NodeContext) -> Update:
    """Ask for a decision, with the prompt that is named after the game."""
    ask, view, mind = cast(Ask, state["ask"]), state["view"], context.switches
    known: dict[str, object] = {**ask.space.facts()} if mind.bounds == "told" or ask.minimum == ask.maximum else {}
    return await decide(ask, context, bid_prompt(context, view, known | refusal(ask.refusal, ask.attempt), ask))


BID = ThoughtNode(
    name="contest-bid",
    description="answer the auctioneer with an amount, a number, or a withdrawal",
    occasions=("call",),
    event=Decided,
    step="bid",
    view=SessionView,
    uses=("context", "bounds"),
    answers=True,
    run=bid,
)
