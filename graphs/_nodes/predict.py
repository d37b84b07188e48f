"""Predict: forecast for what is for sale next how much each rival wants it and up to what price (theory of mind).

Source: Harbor sec. 4.5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harbor._config.thinking import MindSettings
from harbor._core.thoughts import Predicted, Prediction
from harbor._games.answering import Row
from harbor._games.bidder_view import View
from harbor._games.replies import PredictReply, names_each
from harbor._games.types_of_play import predict as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import MOST_RECORDS


def facts(view: View) -> Row:
    """Tell what is for sale next, and what it may be worth to each rival."""
    item = next_item(view)
    rows = []
    for rival in view.in_play:
        yardstick = view.yardstick(view.name, view.seen, item, rival)
        shown = [row for part in view.results[-MOST_RECORDS:] for row in _shown(view, part.item, rival)]
        rows.append({"rival": rival, **({"compared_with": yardstick} if yardstick else {}), "bid_before": shown})
    return {"item": item, "rivals": rows}


def _shown(view: View, item: str, rival: str) -> list[Row]:
    highest = view.result(item).highest_bid(rival)
    return [] if highest is None else [{"item": item, "amount": highest}]


def next_item(view: View) -> str:
    """Name what is for sale next; empty if nothing is known of it."""
    return view.coming[0].name if view.coming else view.part.item if view.part else ""


def conclude(reply: PredictReply, view: View) -> Predicted:
    """Conclude the forecasts."""
    forecasts = ((one.rival, one.interest, one.limit, one.expected_interest_of_yours) for one in reply.forecasts)
    return Predicted(view.name, next_item(view), tuple(Prediction(*one) for one in forecasts))


def note(_: Any, event: Predicted) -> Row:
    """Note the forecasts, and of what they are."""
    rows = []
    for one in event.predictions:
        row: Row = {"rival": one.rival, "interest": one.interest, "limit": one.limit}
        rows.append(row if one.expects_me is None else {**row, "expected_interest_of_yours": one.expects_me})
    return {"item": event.item, "rivals": rows}


def _at_the_opening(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Leave later forecasts to the node that asks about all rivals at once."""
    return replace(node, occasions=("opening",)) if mind.judges_at_once else node


PREDICT = ThoughtNode(
    name="predict",
    description="forecast how much each rival wants the coming item, and up to what price",
    occasions=("opening", "closed"),
    event=Predicted,
    needs=("recall", "profile", "mirror"),
    on=lambda mind, _: mind.theory_of_mind != "none" and mind.predict,
    uses=("theory_of_mind", "predict", "rivals"),
    when=lambda view, _: bool(view.in_play and view.ahead.goes_on and next_item(view)),
    prompt=PROMPTS / "predict.md",
    facts=facts,
    reply=PredictReply,
    adapt=_at_the_opening,
    check=lambda reply, view: names_each((forecast.rival for forecast in reply.forecasts), view.in_play),
    conclude=conclude,
    fold=note,
    shows=lambda note, view: None if view.place(note["item"]) else note,
    fact="interests",
    tells="`interests` is what you forecast for `item` of each of `rivals`: its `interest`, from 0 (not at all) to 1 "
    "(very much), its `limit`, the highest that it will bid or pick, and in `expected_interest_of_yours`, if it is "
    "there, how much it expects you to want to win, from 0 (not at all) to 1 (very much).",
    answer=answer,
)
