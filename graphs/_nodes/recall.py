"""A bidder recalls lessons of earlier auctions, learns from this one, and remembers it.

Recall: fetch the lessons that matter for the coming auction and its next item. Source: Chen et al. 2023, sec. 3.2 and
B.3 (all learnings in the prompt); the other ways are its ablations.
Learn: after a game, write an updated short list of general learnings. Source: Chen et al. 2023, sec. 3.2 and B.3.
Remember: after an auction, store its episodes, dossiers of the rivals and the learnings in the bidder's memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harbor._config.auction import MindSettings
from harbor._core.log.thoughts import Learned, Memory, MemoryKind, Recalled, Remembered
from harbor._games.bidder_view import Part, View
from harbor._games.replies import LearnReply, Row
from harbor._games.types_of_play import learn as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._nodes.profile import MOST_RECORDS
from harbor.memory._bidder.episodes import dossier, episode

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update
    from harbor.memory._bidder.bidder_memory import BidderMemory


async def recall(state: ThoughtState, context: NodeContext) -> Update:
    """Read the bidder's own memory, in the way of its settings."""
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
"""Ways to recall, by the value of the setting `memory`."""


def _next(view: View) -> str:
    """Name the next item for sale; empty if none is known."""
    return view.coming[0].name if view.coming else view.part.item if view.part else ""


def _about(view: View) -> str:
    """Return the next item, with its listing, and the bidders as a query in words."""
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


async def learn(state: ThoughtState, context: NodeContext) -> Update:
    """Ask for the lessons of this game, given the learnings so far."""
    view = state["view"]
    reply = await context.reply(view, await context.memory.learnings())
    return context.emit(Learned(view.name, tuple(reply.learnings)))


def facts(view: View, learnings: Sequence[str]) -> Row:
    """Return the result of each part, and the earlier learnings."""
    return {"results": [outcome(view, part) for part in view.results[-MOST_RECORDS:]], "learnings": learnings}


def outcome(view: View, part: Part) -> Row:
    """Return the known result of a part: the highest bids, the winners, and the payments."""
    highest = {name: bid for name in view.bidders if (bid := part.highest_bid(name)) is not None}
    worth = view.estimates.get(part.item)
    return {
        "item": part.item,
        "highest_bids": highest,
        "winners": list(part.got),
        "payments": dict(part.paid),
        **({} if worth is None else {"worth_to_you": worth}),
    }


LEARN = ThoughtNode(
    name="learn",
    description="after an auction, update the list of general learnings",
    occasions=("end",),
    event=Learned,
    on=lambda mind, memory: mind.learning and not memory.frozen,  # a frozen memory is not written
    uses=("learning",),
    prompt=PROMPTS / "learn.md",
    facts=facts,
    reply=LearnReply,
    fold=lambda _, event: event.learnings,
    tells=None,
    answer=answer,
    run=learn,
)


async def remember(state: ThoughtState, context: NodeContext) -> Update:
    """Store everything; a repetition, such as after a crash, changes nothing."""
    view, memory = state["view"], context.memory
    episodes = [episode(view, result) for result in view.results]
    before = await memory.dossiers(view.rivals)
    dossiers = {rival: dossier(view, rival, before.get(rival)) for rival in view.rivals}
    await memory.keep_episodes(episodes)
    await memory.keep_dossiers(dossiers, before)
    learnings = view.notes.get("learn", ())
    if learnings:
        await memory.keep_learnings(learnings)
    kept: dict[MemoryKind, int] = {
        "learning": len(learnings),
        "episode": len(episodes),
        "dossier": len(dossiers),
    }
    return context.emit(Remembered(view.name, kept))


REMEMBER = ThoughtNode(
    name="remember",
    description="after an auction, store its episodes, dossiers of the rivals and the learnings",
    occasions=("end",),
    event=Remembered,
    needs=("learn",),
    on=lambda mind, memory: mind.remembers and not memory.frozen,
    uses=("memory", "learning"),
    run=remember,
)
