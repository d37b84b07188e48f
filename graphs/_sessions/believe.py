"""Believe, in a game of days or runs: forecast what every rival bids next."""

from __future__ import annotations

from harbor._core.thoughts import Expected
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.replies import ForecastReply, names_each
from harbor.graphs._sessions.facts import SessionState, prompt


async def believe(state: SessionState, context: NodeContext) -> Update:
    """Ask once about all rivals, given what has been shown so far and the forecasts before."""
    view = state["view"]
    reply = await context.ask(
        prompt(context, "contest_believe", view, {"rivals": list(view.rivals)}),
        ForecastReply,
        check=lambda reply: names_each((forecast.rival for forecast in reply.forecasts), view.rivals),
    )
    bids = {forecast.rival: forecast.bid for forecast in reply.forecasts}
    return context.emit(Expected(view.name, view.closed[-1].item, bids))
