"""Mirror: predict how each rival profiles oneself (second-order theory of mind).

Source: Harbor sec. 4.5 and App. F.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.thoughts import Mirrored
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import MirrorReply, names_each
from harbor.graphs._nodes.profile import mend, weights_over
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def mirror(state: ThoughtState, context: NodeContext) -> Update:
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
        context.prompt(view, known, catalog=True),
        MirrorReply,
        check=lambda reply: names_each((profile.rival for profile in reply.profiles), view.rivals),
    )
    mirrored = []
    for profile in reply.profiles:
        weights, repaired = mend(profile.weights, view.catalog, view.mirrors.get(profile.rival, {}))
        mirrored.append(Mirrored(view.name, profile.rival, closed[-1], weights, repaired))
    return context.emit(*mirrored)


MIRROR = ThoughtNode(
    name="mirror",
    description="after an item, predict how each rival profiles oneself",
    occasions=("closed",),
    event=Mirrored,
    needs=("recall",),
    view=AuctionView,
    on=lambda mind, _: mind.theory_of_mind == "second",
    uses=("theory_of_mind",),
    when=lambda view, _: bool(view.rivals),
    prompt=PROMPTS / "mirror.md",
    reply=MirrorReply,
    answer=answers.mirror,
    run=mirror,
)
