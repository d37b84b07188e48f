"""How a node runs: a resumed run takes what it recalled from its log, and a failure at a pause stays alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from harbor._core.asks import Ask
from harbor._core.errors import ConfigError, HarborError, MemoryStoreError, NoReply
from harbor._core.events import ThoughtFailed
from harbor.graphs._context.context import BidderContext, NodeContext, Update
from harbor.graphs._context.mistakes import mistakes_told
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._context.placebos import told
from harbor.graphs._context.words import worth_a_call


class Step(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: Any) -> Update:
        """Take the state; give what changes."""
        ...


def running(node: ThoughtNode, bidder: BidderContext) -> Step:
    """Give a node as its graph runs it: if it is worth a call now, in a context of its own.

    It is no closure, as LangGraph would search one for graphs.
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
        # Nodes run side by side at a pause: one that fails must not stop the others.
        context.emit(ThoughtFailed(state["view"].name, context.task, str(error)))
        return {}


async def declared(state: Any, context: NodeContext) -> Update:
    """Run a declared node: ask its prompt, and conclude its events from the reply.

    Raises:
        ConfigError: it lacks a piece, as it did not come in by the door.
        TypeError: it concludes something else, or of another bidder.
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
    """Say whether only this thought has failed: by the model, or by a store that it may do without."""
    if isinstance(error, MemoryStoreError):
        return bidder.memory is not None and bidder.memory.settings.on_error == "continue"
    return isinstance(error, NoReply)
