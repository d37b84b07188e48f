"""Recall: fetch what earlier auctions taught that matters for the coming one and its next item.

Source: Chen et al. 2023, sec. 3.2 and B.3 (all learnings in the prompt); the other ways are ablations of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harbor._core.thoughts import Memory, Recalled
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.memory._bidder.auction_view import Notebook
from harbor.memory._bidder.bidder_memory import Archive


async def recall(state: Thinking, thought: Thought) -> Update:
    """Look into the bidder's own archive, in the way that its memory works."""
    notebook = state["notebook"]
    coming = notebook.coming[0].name if notebook.coming else ""
    memories = await RECALLS[thought.switches.memory](thought.archive, notebook)
    return thought.conclude(Recalled(notebook.name, coming, tuple(memories)))


async def _list(archive: Archive, notebook: Notebook) -> list[Memory]:  # noqa: ARG001
    return [Memory("learning", text) for text in await archive.learnings()]


async def _retrieved(archive: Archive, notebook: Notebook) -> list[Memory]:
    return [Memory("learning", text) for text in await archive.nearest_learnings(_about(notebook))]


async def _episodes(archive: Archive, notebook: Notebook) -> list[Memory]:
    return [Memory("episode", text) for text in await archive.nearest_episodes(_about(notebook))]


async def _full(archive: Archive, notebook: Notebook) -> list[Memory]:
    return await archive.everything(notebook.rivals)


RECALLS: dict[str, Callable[[Archive, Notebook], Awaitable[list[Memory]]]] = {
    "list": _list,
    "retrieved": _retrieved,
    "episodes": _episodes,
    "full": _full,
}


def _about(notebook: Notebook) -> str:
    """Say in words what is coming: the next item, as it is listed, and who bids."""
    lot, *_ = notebook.coming
    return f"{lot.name}, from ${lot.start}. {lot.listing} Bidders: {', '.join(notebook.rivals)}."
