"""Predict: forecast for the coming item how much each rival wants it and up to what price (theory of mind).

Source: Harbor sec. 4.5.
"""

from __future__ import annotations

from harbor._core.thoughts import Predicted, Prediction
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import PredictReply, names_each


async def predict(state: BidderState, context: NodeContext) -> Update:
    """Ask once about all rivals, given their profiles and what they have spent."""
    view = state["view"]
    known = {
        "budget": view.budget,
        "items": facts.items(view, view.coming, listings=True),
        **facts.rivals(view),
    }
    reply = await context.ask(
        context.prompt("predict", view, known),
        PredictReply,
        check=lambda reply: names_each((forecast.rival for forecast in reply.forecasts), view.rivals),
    )
    predictions = tuple(
        Prediction(forecast.rival, forecast.interest, forecast.limit, forecast.expected_interest_of_yours)
        for forecast in reply.forecasts
    )
    return context.emit(Predicted(view.name, view.coming[0].name, predictions))
