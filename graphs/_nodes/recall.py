"""Recall: fetch what earlier auctions taught that matters for the coming one and its next item.

Source: Chen et al. 2023, sec. 3.2 and B.3 (all learnings in the prompt); the other ways are its ablations.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from harbor._config.auction import MindSettings
from harbor._core.thoughts import Memory, Recalled
from harbor._games.bidder_view import View
from harbor.graphs._context.node import ThoughtNode

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update
    from harbor.memory._bidder.bidder_memory import BidderMemory


async def recall(state: ThoughtState, context: NodeContext) -> Update:
    """Look into the bidder's own memory, in the way that its settings say."""
    view = state["view"]
    coming = _next(view)
    memories = await RECALLS[context.switches.memory](context.memory, view)
    return context.emit(Recalled(view.name, coming, tuple(memories)))


async def _list(memory: BidderMemory, view: View) -> list[Memory]:  # noqa: ARG001
    return [Memory("learning", text) for text in await memory.all_learnings()]


async def _retrieved(memory: BidderMemory, view: View) -> list[Memory]:
    return [Memory("learning", text) for text in await memory.nearest_learnings(_about(view))]


async def _episodes(memory: BidderMemory, view: View) -> list[Memory]:
    return [Memory("episode", text) for text in await memory.nearest_episodes(_about(view))]


async def _full(memory: BidderMemory, view: View) -> list[Memory]:
    return await memory.everything(view.rivals)


RECALLS: dict[str, Callable[[BidderMemory, View], Awaitable[list[Memory]]]] = {
    "list": _list,
    "retrieved": _retrieved,
    "episodes": _episodes,
    "full": _full,
}


def _next(view: View) -> str:
    """Name what is for sale next; empty if nothing is known of it."""
    return view.coming[0].name if view.coming else view.part.item if view.part else ""


def _about(view: View) -> str:
    """Say in words what is coming: the next item, as it is listed, and who bids."""
    if not view.coming:
        return f"{_next(view)}. Bidders: {', '.join(view.rivals)}."
    lot, *_ = view.coming
    return f"{lot.name}, from ${lot.start}. {lot.listing} Bidders: {', '.join(view.rivals)}."


def _once(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Recall before each item, or only once if the memories are always the same."""
    return node if mind.memory in ("retrieved", "episodes") else replace(node, occasions=("opening",))


RECALL = ThoughtNode(
    name="recall",
    description="fetch what earlier auctions taught that matters for the coming item",
    occasions=("opening", "closed"),
    event=Recalled,
    on=lambda mind, _: mind.memory != "none",
    adapt=_once,
    uses=("memory",),
    when=lambda view, _: bool(view.coming if view.lots else view.ahead.goes_on),
    fold=lambda _, event: [memory.text for memory in event.memories] or None,
    fact="memories",
    tells="`memories` lists what you noted after earlier games; it may be out of date.",
    run=recall,
)
