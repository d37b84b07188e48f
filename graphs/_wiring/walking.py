"""The nodes of one bidder in a plain loop: they conclude and answer what they do in its graph.

A graph costs a millisecond per call, which counts where no model is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harbor._config.auction import MemorySettings
from harbor._config.thinking import as_usual_in
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event
from harbor.graphs._context.context import BidderContext, folded
from harbor.graphs._context.mistakes import enough_files
from harbor.graphs._context.node import OCCASIONS
from harbor.graphs._context.steps import running
from harbor.graphs._wiring.mind import first_view, levels, nodes_of, occasion_of


def with_nodes(bidder: BidderContext) -> BidderContext:
    """Return the context of a bidder with its nodes, by their names in its graph.

    Raises:
        ConfigError: a node of its own is refused.
    """
    memory = bidder.memory.settings if bidder.memory else MemorySettings()
    mind = as_usual_in(bidder.game, bidder.switches)
    return replace(bidder, switches=mind, nodes=nodes_of(bidder.game, mind, memory))


class PlainBidder:
    """A player whose nodes run level by level; it reads on in the log from where it stopped."""

    def __init__(self, bidder: BidderContext) -> None:
        bidder = with_nodes(bidder)
        nodes = bidder.nodes
        self._name = bidder.model.bidder
        steps = {place: running(node, bidder) for place, node in nodes.items()}
        self._levels = {one: [[steps[place] for place in level] for level in levels(nodes, one)] for one in OCCASIONS}
        self._view = first_view(self._name, bidder.game, nodes, bidder.switches)
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer the auctioneer."""
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
