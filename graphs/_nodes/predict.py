"""Predict: for the coming item, how much each rival wants it and up to what price (theory of mind).

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
    known = {"items": facts.items(view, view.coming, listings=True), **facts.rivals(view)}
    reply = await context.ask(
        context.prompt("predict", view, known),
        PredictReply,
        check=lambda reply: names_each((prediction.rival for prediction in reply.predictions), view.rivals),
    )
    expected = (Prediction(one.rival, one.interest, one.limit, one.expects_me) for one in reply.predictions)
    return context.emit(Predicted(view.name, view.coming[0].name, tuple(expected)))
