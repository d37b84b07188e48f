"""Predict: forecast for the coming item how much each rival wants it and up to what price (theory of mind).

Source: Harbor sec. 4.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.asks import Ask, Pause
from harbor._core.thoughts import Predicted, Prediction
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import PredictReply, names_each
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def predict(state: ThoughtState, context: NodeContext) -> Update:
    """Ask once about all rivals, given their profiles and what they have spent."""
    view = state["view"]
    known = {**facts.coming(view), **facts.money(view, context.switches), **facts.rivals(view)}
    reply = await context.ask(
        context.prompt(view, known, catalog=True, memories=True),
        PredictReply,
        check=lambda reply: names_each((forecast.rival for forecast in reply.forecasts), view.rivals),
    )
    predictions = tuple(
        Prediction(forecast.rival, forecast.interest, forecast.limit, forecast.expected_interest_of_yours)
        for forecast in reply.forecasts
    )
    return context.emit(Predicted(view.name, view.coming[0].name, predictions))


def _worthwhile(view: AuctionView, ask: Ask | Pause) -> bool:
    """Say whether there is anybody to forecast; after an item, also whether there is anything left to bid on."""
    opening = isinstance(ask, Pause) and not ask.closed
    return bool(view.rivals) and (opening or facts.any_affordable(view))


PREDICT = ThoughtNode(
    name="predict",
    description="forecast how much each rival wants the coming item, and up to what price",
    occasions=("opening", "closed"),
    event=Predicted,
    needs=("recall", "profile", "mirror"),
    view=AuctionView,
    on=lambda mind, _: mind.theory_of_mind != "none" and mind.predict,
    uses=("theory_of_mind", "predict"),
    when=_worthwhile,
    prompt=PROMPTS / "predict.md",
    reply=PredictReply,
    answer=answers.predict,
    run=predict,
)
