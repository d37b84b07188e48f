"""Steps run the nodes of one bidder, in its graph or in a plain loop, with equal conclusions and answers.

A resumed run reads its recalled memories from its log. A failed thought at a pause stops no other. A graph costs a
millisecond per call, which counts if no model is slower. A placebo replaces the findings of theory of mind about rivals
in later thoughts. The number of calls stays the same, and the log keeps the findings, so the effect of better knowledge
is separate from that of more thinking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from harbor._config.auction import MemorySettings
from harbor._config.thinking import Placebo, as_usual_in
from harbor._core.asking.asks import Answer, Ask, Pause
from harbor._core.basics.errors import ConfigError, HarborError, MemoryStoreError, NoReply
from harbor._core.basics.numbers import stream
from harbor._core.log.events import Event, ThoughtFailed
from harbor._core.log.thoughts import Mirrored, Profiled
from harbor._games.bidder_view import View
from harbor.graphs._context.context import BidderContext, NodeContext, Update, folded
from harbor.graphs._context.deciding import worth_a_call
from harbor.graphs._context.node import OCCASIONS, ThoughtNode, enough_files, mistakes_told
from harbor.graphs._wiring.mind import first_view, levels, nodes_of, occasion_of
from harbor.personas._catalog.traits import Profile

Profiles = Mapping[str, Profile]
"""Profiles by rival."""
FOUND = {"profile": "profiles", "mirror": "mirrors"}
"""Notes that a placebo replaces, with the names of their random streams."""


def told(view: View, node: ThoughtNode, placebo: Placebo, seed: int) -> View:
    """Return the view for a thought, with the placebo in place of the profiles, unless the thought infers profiles.

    Args:
        view: the bidder's view, with the profiles that it made.
        node: the node of the thought.
        placebo: the kind of placebo that the bidder's settings name.
        seed: the seed of the game.
    """
    if placebo == "none" or node.event in (Profiled, Mirrored):
        return view
    found = {name: view.notes[name] for name in FOUND if name in view.notes}
    instead = {name: _instead(view, profiles, placebo, seed, FOUND[name]) for name, profiles in found.items()}
    return replace(view, notes={**view.notes, **instead})


def _instead(view: View, found: Profiles, placebo: Placebo, seed: int, kind: str) -> Profiles:
    """Return the profiles that replace those found: equal weights, shuffled weights, another rival's, or none."""
    if placebo == "uniform":
        return {rival: dict.fromkeys(view.catalog, 0.0) for rival in found}
    if placebo == "shuffled":
        return {rival: _shuffled(found[rival], seed, view.name, rival, kind) for rival in found}
    if placebo == "another":
        following = dict(zip(view.rivals, (*view.rivals[1:], *view.rivals[:1]), strict=True))
        return {rival: found.get(following[rival], {}) for rival in found}
    return {rival: {} for rival in found}


def _shuffled(profile: Profile, seed: int, *names: str) -> Profile:
    """Give the weights of a profile to the types in a random order, which depends only on the seed and the names."""
    order = stream(seed, "placebo", *names).sample(sorted(profile), len(profile))
    dealt = dict(zip(order, sorted(profile.values(), reverse=True), strict=True))
    return {persona: dealt[persona] for persona in profile}


class Step(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: Any) -> Update:
        """Take the state, and return its changes."""
        ...


def running(node: ThoughtNode, bidder: BidderContext) -> Step:
    """Return a node as a step of its graph: it runs if it is worth a call now, in a context of its own.

    This is no closure, because LangGraph would search a closure for graphs.
    """
    return partial(_run, node, bidder)


async def _run(node: ThoughtNode, bidder: BidderContext, state: Any) -> Update:
    view = replace(state["view"], now=state["ask"], mind=bidder.switches, judged=bidder.judged)
    state = {**state, "view": told(view, node, bidder.switches.placebo, bidder.seed)}
    with mistakes_told(bidder.model.bidder, node, bidder.game):
        if not worth_a_call(node, bidder.table, state["view"]):
            return {}
    context = bidder.context(node)
    if (past := bidder.model.replay.memory(bidder.model.bidder, node.task)) is not None:
        return context.emit(past)
    try:
        with mistakes_told(bidder.model.bidder, node, bidder.game):
            return await (node.run or declared)(state, context)
    except HarborError as error:
        if isinstance(state["ask"], Ask) or not _stays_alone(error, bidder):
            raise
        # Nodes run side by side at a pause; a failed one must not stop the others.
        context.emit(ThoughtFailed(state["view"].name, context.task, str(error)))
        return {}


async def declared(state: Any, context: NodeContext) -> Update:
    """Run a declared node: ask a model with its prompt, and conclude its events from the reply.

    Raises:
        ConfigError: the node lacks a field, because it was never checked as an extension.
        TypeError: the node concludes an event of another kind than it declares, or an event of another bidder.
    """
    node, view = context.node, state["view"]
    if node.facts is None or node.conclude is None:
        raise ConfigError(f"node {node.name!r} {node.complaint()}")
    reply = await context.reply(view)
    concluded = node.conclude(reply, view)
    events = concluded if isinstance(concluded, list | tuple) else [concluded]
    for event in events:
        if not isinstance(event, node.event) or event.bidder != view.name:
            raise TypeError(f"node {node.name!r} concluded {event!r}; give a {node.event.__name__} of {view.name!r}")
    return context.emit(*events)


def _stays_alone(error: HarborError, bidder: BidderContext) -> bool:
    """Return whether an error ends only this thought, and not the run.

    That is so if there is no usable reply, or if a store of memories fails and the settings say to continue.
    """
    if isinstance(error, MemoryStoreError):
        return bidder.memory is not None and bidder.memory.settings.on_error == "continue"
    return isinstance(error, NoReply)


def with_nodes(bidder: BidderContext) -> BidderContext:
    """Return the context of a bidder with its nodes filled in, by their names in its graph.

    Raises:
        ConfigError: a node that the bidder's settings name is refused.
    """
    memory = bidder.memory.settings if bidder.memory else MemorySettings()
    mind = as_usual_in(bidder.game, bidder.switches)
    return replace(bidder, switches=mind, nodes=nodes_of(bidder.game, mind, memory))


class PlainBidder:
    """A player whose nodes run level by level, without a LangGraph graph.

    At each ask it reads the events that are new since its last ask.
    """

    def __init__(self, bidder: BidderContext) -> None:
        bidder = with_nodes(bidder)
        nodes = bidder.nodes
        self._name = bidder.model.bidder
        steps = {place: running(node, bidder) for place, node in nodes.items()}
        self._levels = {one: [[steps[place] for place in level] for level in levels(nodes, one)] for one in OCCASIONS}
        self._view = first_view(self._name, bidder.game, nodes, bidder.switches)
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer an ask of the auctioneer; at a pause, think and return None."""
        self._view = self._view.after(seen[self._read :])
        self._read = len(seen)
        state: dict[str, Any] = {"ask": ask, "view": self._view, "answer": None}
        for level in self._levels[occasion_of(ask)]:
            with enough_files(self._name):
                updates = await asyncio.gather(*(step(state) for step in level))
            for update in updates:
                concluded = update.get("view", ())
                state = {**state, **update, "view": folded(state["view"], concluded)}
        answer: Answer | None = state["answer"]
        return answer
