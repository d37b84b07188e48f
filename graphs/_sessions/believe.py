"""Believe, in a game of days or runs: forecast what every rival bids next."""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Pause
from harbor._core.thoughts import Expected
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.replies import ForecastReply, names_each
from harbor.graphs._sessions.facts import SessionState, play_of, prompt


async def believe(state: SessionState, context: NodeContext) -> Update:
    """Ask once about all rivals, given what has been shown so far and the forecasts before."""
    view, pause = state["view"], cast(Pause, state["ask"])
    rivals = play_of(context.bidder).outlook(view.name, view.seen).rivals
    reply = await context.ask(
        prompt(context, "contest_believe", view, {"rivals": list(rivals)}),
        ForecastReply,
        check=lambda reply: names_each((forecast.rival for forecast in reply.forecasts), rivals),
    )
    bids = {forecast.rival: forecast.bid for forecast in reply.forecasts}
    return context.emit(Expected(view.name, pause.closed[-1], bids))
