"""Bid in a game of days or runs: answer the auctioneer with an action that it asks for."""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.deciding import decide
from harbor.graphs._sessions.facts import SessionState, game_of, play_of, prompt


async def bid(state: SessionState, context: NodeContext) -> Update:
    """Ask for a decision, with the prompt that is named after the game."""
    ask, view = cast(Ask, state["ask"]), state["view"]
    known: dict[str, object] = {**ask.space.facts()}
    if ask.refusal:
        known |= {"refused": ask.refusal, "attempt": ask.attempt}  # so that no two prompts of a sale are equal
    name, body = game_of(context.bidder).name.replace("-", "_"), play_of(context.bidder).prompt
    return await decide(ask, context, prompt(context, name, view, known, body))
