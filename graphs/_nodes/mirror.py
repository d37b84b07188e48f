"""Mirror: predict how each rival profiles oneself (second-order theory of mind).

Source: Harbor sec. 4.5 and App. F.
"""

from __future__ import annotations

from harbor._core.thoughts import Mirrored
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import MirrorReply, names_each
from harbor.graphs._nodes.profile import mend, weights_over


async def mirror(state: Thinking, thought: Thought) -> Update:
    """Ask once for the pictures that all rivals may have, after the items that they do not take in yet."""
    notebook = state["notebook"]
    closed = [result.item for result in notebook.results[notebook.mirrored :]]
    known = {
        "items": [facts.conduct(notebook, item, notebook.name) for item in closed],
        "pictures": {
            rival: weights_over(notebook.catalog, notebook.mirrors.get(rival, {})) for rival in notebook.rivals
        },
    }
    reply = await thought.ask(
        thought.prompt("mirror", notebook, known),
        MirrorReply,
        check=lambda reply: names_each((picture.rival for picture in reply.pictures), notebook.rivals),
    )
    mirrored = []
    for picture in reply.pictures:
        weights, repaired = mend(picture.weights, notebook.catalog, notebook.mirrors.get(picture.rival, {}))
        mirrored.append(Mirrored(notebook.name, picture.rival, closed[-1], weights, repaired))
    return thought.conclude(*mirrored)
