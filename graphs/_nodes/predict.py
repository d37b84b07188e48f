"""Predict: for the coming item, how much each rival wants it and up to what price (theory of mind).

Source: Harbor sec. 4.5.
"""

from __future__ import annotations

from harbor._core.thoughts import Predicted, Prediction
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import PredictReply, names_each


async def predict(state: Thinking, thought: Thought) -> Update:
    """Ask once about all rivals, given their profiles and what they have spent."""
    notebook = state["notebook"]
    known = {"items": facts.items(notebook, notebook.coming, listings=True), **facts.rivals(notebook)}
    reply = await thought.ask(
        thought.prompt("predict", notebook, known),
        PredictReply,
        check=lambda reply: names_each((prediction.rival for prediction in reply.predictions), notebook.rivals),
    )
    expected = (Prediction(one.rival, one.interest, one.limit, one.expects_me) for one in reply.predictions)
    return thought.conclude(Predicted(notebook.name, notebook.coming[0].name, tuple(expected)))
