"""Plans of a bidder, and its predictions of rivals' limits.

Plan: at the opening, plan the play; if items are listed, give the next ones a priority. Replan: after an item, a day or
a run, revise the plan. Source: Chen et al. 2023, sec. 3.2.
Predict: forecast each rival's interest in the next item, and its limit (theory of mind). Source: Harbor sec. 4.5.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._config.thinking import MindSettings
from harbor._core.log.thoughts import Planned, Predicted, Prediction
from harbor._core.plugins.finding import find
from harbor._games.bidder_view import View
from harbor._games.game import Facts, Play, Values
from harbor._games.replies import ContestPlan, Plan, PredictReply, Row, names_each
from harbor._games.types_of_play import predict as answer
from harbor.graphs._context.node import NOTHING_MORE, PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import MOST_RECORDS


def _best_plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Return the game's best plan."""
    play: Play = find("game", facts["game"]).play
    return {"reasons": "This is what serves best in this game.", "plan": play.plan}


def _planned(reply: Plan | ContestPlan, view: View) -> Planned:
    """Return the plan as an event, with its priorities if it has any."""
    ranked = reply.priorities if isinstance(reply, Plan) else ()
    return Planned(view.name, reply.plan, {one.item: one.priority for one in ranked})


PLAN = ThoughtNode(
    name="plan",
    description="before the first item, give every item a priority; in other games, plan how to play",
    occasions=("opening",),
    event=Planned,
    needs=("recall",),
    on=lambda mind, _: mind.planning != "none",
    uses=("planning",),
    when=lambda view, _: view.ahead.goes_on,
    prompt=PROMPTS / "contest_plan.md",
    facts=lambda _: NOTHING_MORE,
    reply=ContestPlan,
    conclude=_planned,
    fold=lambda _, event: event,
    tells=None,
    answer=_best_plan,
)


def _from_the_truth(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Wait for the belief only if the house does not correct it; otherwise the truth is used."""
    return node if mind.correct_beliefs == "house" else replace(node, needs=(*node.needs, "believe"))


REPLAN = replace(
    PLAN,
    name="replan",
    description="after an item, revise the priorities of the items still to come, or the plan",
    occasions=("closed",),
    needs=("recall", "profile", "mirror", "contest-believe"),
    on=lambda mind, _: mind.planning == "adaptive",
    adapt=_from_the_truth,
    uses=("planning",),
    prompt=PROMPTS / "contest_replan.md",
    keeps="plan",
)


def facts(view: View) -> Row:
    """Return the next item, and of each rival its yardstick for that item and its highest bids on earlier ones."""
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
    """Name the next item for sale; empty if none is known."""
    return view.coming[0].name if view.coming else view.part.item if view.part else ""


def conclude(reply: PredictReply, view: View) -> Predicted:
    """Return the forecasts as an event."""
    forecasts = ((one.rival, one.interest, one.limit, one.expected_interest_of_yours) for one in reply.forecasts)
    return Predicted(view.name, next_item(view), tuple(Prediction(*one) for one in forecasts))


def note(_: Any, event: Predicted) -> Row:
    """Return the forecasts with their item as a note."""
    rows = []
    for one in event.predictions:
        row: Row = {"rival": one.rival, "interest": one.interest, "limit": one.limit}
        rows.append(row if one.expects_me is None else {**row, "expected_interest_of_yours": one.expects_me})
    return {"item": event.item, "rivals": rows}


def _at_the_opening(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Forecast at the opening only if one node asks about all rivals at once later."""
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
