"""A bidder recalls what earlier auctions taught, learns from this one, and remembers it.

Recall: fetch what earlier auctions taught that matters for the coming one and its next item. Source: Chen et al.
2023, sec. 3.2 and B.3 (all learnings in the prompt); the other ways are its ablations.
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


async def learn(state: ThoughtState, context: NodeContext) -> Update:
    """Ask what this game taught, given the learnings so far."""
    view = state["view"]
    reply = await context.reply(view, await context.memory.learnings())
    return context.emit(Learned(view.name, tuple(reply.learnings)))


def facts(view: View, learnings: Sequence[str]) -> Row:
    """Tell what came of each part, and what was learned before."""
    return {"results": [outcome(view, part) for part in view.results[-MOST_RECORDS:]], "learnings": learnings}


def outcome(view: View, part: Part) -> Row:
    """Tell what came of a part, as far as it was told: the highest bids, who got it, what each paid."""
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
    on=lambda mind, memory: mind.learning and not memory.frozen,  # nothing is written, so nothing is learned either
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
    """Store everything; to do it twice, as after a crash, changes nothing more."""
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
