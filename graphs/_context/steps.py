"""How a node runs: what a resumed run recalled is taken from its log, and a failure at a pause takes nothing along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from harbor._core.asks import Ask
from harbor._core.errors import MemoryStoreError, ModelError
from harbor._core.events import ThoughtFailed
from harbor.graphs._context.context import Mind, Thought, Update

Node = Callable[[Any, Thought], Awaitable[Update]]
"""A node: takes the state of its graph (`Thinking` or `Playing`) and a thought; gives what it changes."""


class Step(Protocol):
    """A node as LangGraph calls it."""

    async def __call__(self, state: Any) -> Update:
        """Take the state; give what changes."""
        ...


def running(name: str, node: Node, mind: Mind) -> Step:
    """Give a node as its graph runs it: each run of it is a thought of its own."""

    async def run(state: Any) -> Update:
        thought = mind.thought()
        if (past := mind.model.recording.memory(mind.model.bidder, name)) is not None:
            return thought.conclude(past)
        try:
            return await node(state, thought)
        except (ModelError, MemoryStoreError) as error:
            if isinstance(state["ask"], Ask) or (isinstance(error, MemoryStoreError) and not _may_forget(mind)):
                raise
            # At a pause a thought that fails must not take those beside it along.
            thought.note(ThoughtFailed(state["notebook"].name, name, str(error)))
            return {}

    return run


def _may_forget(mind: Mind) -> bool:
    return mind.archive is not None and mind.archive.settings.on_error == "continue"
