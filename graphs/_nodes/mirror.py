"""Mirror: predict how each rival profiles oneself (second-order theory of mind).

Source: Harbor sec. 4.5 and App. F.
"""

from __future__ import annotations

from harbor._core.thoughts import Mirrored
from harbor.graphs._context import facts
from harbor.graphs._context.context import BidderState, NodeContext, Update
from harbor.graphs._context.replies import MirrorReply, names_each
from harbor.graphs._nodes.profile import mend, weights_over


async def mirror(state: BidderState, context: NodeContext) -> Update:
    """Ask once how all rivals may profile this bidder, given the items that the last answer did not know of."""
    view = state["view"]
    closed = [result.item for result in view.results[view.mirrored :]]
    known = {
        "items": [facts.bidding_record(view, item, view.name) for item in closed],
        "profiles_of_you": [
            {"rival": rival, "profile": weights_over(view.catalog, view.mirrors.get(rival, {}))}
            for rival in view.rivals
        ],
    }
    reply = await context.ask(
        context.prompt("mirror", view, known),
        MirrorReply,
        check=lambda reply: names_each((profile.rival for profile in reply.profiles), view.rivals),
    )
    mirrored = []
    for profile in reply.profiles:
        weights, repaired = mend(profile.weights, view.catalog, view.mirrors.get(profile.rival, {}))
        mirrored.append(Mirrored(view.name, profile.rival, closed[-1], weights, repaired))
    return context.emit(*mirrored)
