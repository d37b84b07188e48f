"""The nodes of one bidder as a LangGraph graph, and this graph as a player."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor._core.asking.asks import Answer, Ask, Pause
from harbor._core.log.events import Event
from harbor.graphs._context.context import BidderContext, ThoughtState
from harbor.graphs._context.node import OCCASIONS, Occasion, enough_files
from harbor.graphs._wiring.mind import NODES, Nodes, first_view, levels, occasion_of, thinking, waits
from harbor.graphs._wiring.steps import running, with_nodes

Graph = CompiledStateGraph[ThoughtState, None, ThoughtState, ThoughtState]
Route = Callable[[Any], Awaitable[list[str]]]
Onward = dict[Occasion, list[str]]
"""The nodes that run next, by occasion."""


def ways(nodes: Nodes) -> dict[str, Onward]:
    """Return the nodes that run at the START of the graph and after each node; END if no node follows.

    A node that needs the conclusion of another node runs in the step after that node. All other nodes run side by side.
    """
    return {START: _first(nodes), **{place: _after(place, nodes) for place in thinking(nodes)}}


def _compiled(bidder: BidderContext, nodes: Nodes) -> Graph:
    graph: Any = StateGraph(ThoughtState)
    for place, node in thinking(nodes).items():
        graph.add_node(place, running(node, bidder))
    for place, onward in ways(nodes).items():
        ahead = list(onward.values())
        if place != START and all(way == ahead[0] for way in ahead):
            for following in ahead[0]:
                graph.add_edge(place, following)
        else:
            graph.add_conditional_edges(place, _route(onward), list(dict.fromkeys(one for way in ahead for one in way)))
    compiled: Graph = graph.compile()
    return compiled


def _first(nodes: Nodes) -> Onward:
    """Return the first nodes of each occasion."""
    return {occasion: (levels(nodes, occasion) or [[END]])[0] for occasion in OCCASIONS}


def _after(place: str, nodes: Nodes) -> Onward:
    """Return the next nodes after a node, by occasion: those of the next level that wait for it."""
    onward: Onward = {}
    for occasion in nodes[place].occasions:
        steps, waiting = levels(nodes, occasion), waits(nodes, occasion)
        here = next(number for number, step in enumerate(steps) if place in step)
        following = [one for step in steps[here + 1 : here + 2] for one in step if place in waiting[one]]
        onward[occasion] = following or [END]
    return onward


def _route(onward: Onward) -> Route:
    async def route(state: Any) -> list[str]:  # a synchronous function would cost a thread hop
        return onward[occasion_of(state["ask"])]

    return route


def _alone(graph: Graph, nodes: Nodes) -> dict[Occasion, Any]:
    """Return Harbor's own node of each occasion that has only one: by graph steps it takes 2 ms more of processor."""
    present = {occasion: list(waits(nodes, occasion)) for occasion in OCCASIONS}
    alone = {occasion: places[0] for occasion, places in present.items() if len(places) == 1}
    return {occasion: graph.nodes[place] for occasion, place in alone.items() if nodes[place] in NODES}


class GraphBidder:
    """A player whose answers come from the graph of its thoughts.

    At each ask it reads the events that are new since its last ask. If an occasion has only one node, that node runs
    without the graph, because the graph would run nothing else.
    """

    def __init__(self, bidder: BidderContext) -> None:
        bidder = with_nodes(bidder)
        nodes = bidder.nodes
        self.graph = _compiled(bidder, nodes)
        self._name = bidder.model.bidder
        self._view = first_view(self._name, bidder.game, nodes, bidder.switches)
        self._steps = len(nodes) + 2
        self._alone = _alone(self.graph, nodes)
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer an ask of the auctioneer; at a pause, think and return None."""
        self._view = self._view.after(seen[self._read :])
        self._read = len(seen)
        given: Any = {"ask": ask, "view": self._view}
        alone = self._alone.get(occasion_of(ask))
        with enough_files(self._name):
            if alone is None:
                done = await self.graph.ainvoke(given, {"recursion_limit": self._steps})
            else:
                done = await alone.ainvoke(given) or {}  # a node may return nothing
        answer: Answer | None = done.get("answer")
        return answer
