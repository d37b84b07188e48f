"""Mirror: predict how each rival profiles oneself (second-order theory of mind).

Source: Harbor sec. 4.5 and App. F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harbor._config.thinking import MindSettings
from harbor._core.thoughts import Mirrored
from harbor._games.answering import Row
from harbor._games.bidder_view import View
from harbor._games.replies import MirrorReply, names_each
from harbor._games.types_of_play import mirror as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import in_shares, read, records, told_in_percent
from harbor.personas._catalog.traits import in_percent

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def mirror(state: ThoughtState, context: NodeContext) -> Update:
    """Ask once how all rivals may profile this bidder, given the items that the last answer did not know of."""
    view = state["view"]
    last = view.last(Mirrored, bidder=view.name)
    closed = [result.item for result in view.results[view.place(last.closed) if last else 0 :]]
    reply = await context.reply(view, closed)
    mirrored = []
    for profile in reply.profiles:
        weights, repaired = read(profile, view.catalog, view.mirrors.get(profile.rival, {}))
        mirrored.append(Mirrored(view.name, profile.rival, closed[-1], weights, repaired))
    return context.emit(*mirrored)


def facts(view: View, items: Sequence[str]) -> Row:
    """Tell what oneself did in the parts that are over, and how rivals probably profiled one so far."""
    old = view.mirrors
    return {
        "catalog": view.catalog,
        "records": records(view, view.name, items[-1]),
        "bidder": view.name,
        "profiles_of_you": [
            {"rival": rival, "shares_so_far": in_percent(old.get(rival, {}), view.catalog)} for rival in view.rivals
        ],
    }


def _apart(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Leave all but the note to the node that asks about all rivals at once."""
    return replace(node, occasions=()) if mind.judges_at_once else in_shares(node, mind)


MIRROR = ThoughtNode(
    name="mirror",
    description="after an item, predict how each rival profiles oneself",
    occasions=("closed",),
    event=Mirrored,
    needs=("recall",),
    on=lambda mind, _: mind.theory_of_mind == "second",
    uses=("theory_of_mind", "rivals"),
    when=lambda view, _: bool(view.rivals) and (view.goes_on or not view.mind.asks_shares),
    prompt=PROMPTS / "mirror.md",
    facts=facts,
    reply=MirrorReply,
    adapt=_apart,
    check=lambda reply, view: names_each((profile.rival for profile in reply.profiles), view.rivals),
    fold=lambda before, event: {**(before or {}), event.rival: event.weights},
    shows=told_in_percent,
    fact="profiles_of_you",
    tells="`profiles_of_you` is how each rival probably profiles you: how likely each type of `catalog` is, in "
    "percent, from 0 (certainly not) to 100 (certainly).",
    answer=answer,
    run=mirror,
)
