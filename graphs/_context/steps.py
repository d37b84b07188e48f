"""How a node runs: a resumed run takes what it recalled from its log, and a failure at a pause stays alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from harbor._core.asks import Ask
from harbor._core.errors import MemoryStoreError, ModelError
from harbor._core.events import ThoughtFailed
from harbor.graphs._context.context import BidderContext, NodeContext, Update

Node = Callable[[Any, NodeContext], Awaitable[Update]]
"""A node: takes the state of its graph (`BidderState` or `SessionState`) and its context; gives what it changes."""


class Step(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: Any) -> Update:
        """Take the state; give what changes."""
        ...


def running(name: str, node: Node, bidder: BidderContext) -> Step:
    """Give a node as its graph runs it: each run has a context of its own."""

    async def run(state: Any) -> Update:
        context = bidder.context()
        if (past := bidder.model.replay.memory(bidder.model.bidder, name)) is not None:
            return context.emit(past)
        try:
            return await node(state, context)
        except (ModelError, MemoryStoreError) as error:
            if isinstance(state["ask"], Ask) or (isinstance(error, MemoryStoreError) and not _may_forget(bidder)):
                raise
            # Nodes run side by side at a pause: one that fails must not stop the others.
            context.emit(ThoughtFailed(state["view"].name, name, str(error)))
            return {}

    return run


def _may_forget(bidder: BidderContext) -> bool:
    return bidder.memory is not None and bidder.memory.settings.on_error == "continue"
