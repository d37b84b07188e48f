"""Believe, in a game of days or runs: forecast what every rival bids next."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harbor._core.asks import Pause
from harbor._core.thoughts import Expected
from harbor._models.simulated import answers
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import ForecastReply, names_each
from harbor.graphs._context.session_prompts import prompt
from harbor.memory._bidder.session_view import SessionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, Update
    from harbor.graphs._context.session_prompts import SessionState


async def believe(state: SessionState, context: NodeContext) -> Update:
    """Ask once about all rivals, given what has been shown so far and the forecasts before."""
    view, pause = state["view"], cast(Pause, state["ask"])
    reply = await context.ask(
        prompt(context, view, {"rivals": list(view.rivals)}),
        ForecastReply,
        check=lambda reply: names_each((forecast.rival for forecast in reply.forecasts), view.rivals),
    )
    bids = {forecast.rival: forecast.bid for forecast in reply.forecasts}
    return context.emit(Expected(view.name, pause.closed[-1], bids))


BELIEVE = ThoughtNode(
    name="contest-believe",
    description="after a day or run, forecast what every rival bids next",
    occasions=("closed",),
    event=Expected,
    step="believe",
    view=SessionView,
    on=lambda mind, _: mind.believe,
    uses=("believe",),
    when=lambda view, _: bool(view.goes_on and view.rivals),
    prompt=PROMPTS / "contest_believe.md",
    reply=ForecastReply,
    answer=answers.contest_forecast,
    run=believe,
)
