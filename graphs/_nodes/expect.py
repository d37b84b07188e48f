"""Expect: after a day or run, forecast what every rival bids next."""

from __future__ import annotations

from random import Random
from typing import cast

from harbor._config.auction import Simulated
from harbor._core.asks import Pause
from harbor._core.finding import find
from harbor._core.thoughts import Expected
from harbor._games.bidder_view import View
from harbor._games.game import Facts, Play, Values
from harbor._games.replies import ForecastReply, names_each
from harbor.graphs._context.node import PROMPTS, ThoughtNode


def answer(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Forecast what the game expects each rival to do."""
    play: Play = find("game", facts["game"]).play
    if play.forecast is None:
        raise ValueError(f"the game {facts['game']!r} expects nothing of rivals; give its play a forecast")
    forecasts = [{"rival": rival, "bid": round(play.forecast(rival, facts, settings), 2)} for rival in facts["rivals"]]
    return {"reasons": "Most will do what they did before, unless their situation forces them.", "forecasts": forecasts}


def conclude(reply: ForecastReply, view: View) -> Expected:
    """Conclude what each rival is expected to do after what has just closed."""
    bids = {forecast.rival: forecast.bid for forecast in reply.forecasts}
    return Expected(view.name, cast(Pause, view.now).closed[-1], bids)


EXPECT = ThoughtNode(
    name="contest-believe",
    description="after a day or run, forecast what every rival bids next",
    occasions=("closed",),
    event=Expected,
    step="believe",
    on=lambda mind, _: mind.believe,
    uses=("believe",),
    when=lambda view, _: bool(view.ahead.goes_on and view.ahead.rivals),
    prompt=PROMPTS / "contest_believe.md",
    facts=lambda view: {"rivals": list(view.ahead.rivals)},
    reply=ForecastReply,
    check=lambda reply, view: names_each((one.rival for one in reply.forecasts), view.ahead.rivals),
    conclude=conclude,
    fold=lambda _, event: event,
    tells=None,
    answer=answer,
)
