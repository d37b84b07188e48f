"""The wiring: the nodes of one bidder as a LangGraph graph, and that graph as a player."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor._config.auction import MemorySettings
from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event
from harbor.graphs._context.context import BidderContext, BidderState, Folds, fold_reducer, observed
from harbor.graphs._context.node import OCCASIONS, Occasion, View
from harbor.graphs._context.steps import running
from harbor.graphs._wiring.mind import Nodes, first_view, levels, nodes_of, occasion_of, waits

Graph = CompiledStateGraph[BidderState, None, BidderState, BidderState]
Route = Callable[[Any], Awaitable[list[str]]]
Onward = dict[Occasion, list[str]]
"""The nodes that run next, by occasion."""


def bidder_graph(bidder: BidderContext) -> Graph:
    """Compile the graph of one bidder; it can be a node of a graph of yours.

    Give it `{"ask": ask, "view": events the bidder has seen}`; it gives back the view with its conclusions and, to an
    `Ask`, the answer. A node that is switched off is not in the graph. A node that needs the conclusion of another runs
    in the step after it; all others run side by side. Its nodes are asynchronous: use `ainvoke`.

    Raises:
        ConfigError: a node of the bidder's own is refused.
    """
    return _compiled(bidder, _nodes(bidder))


def _nodes(bidder: BidderContext) -> Nodes:
    memory = bidder.memory.settings if bidder.memory else MemorySettings()
    return nodes_of(bidder.game, bidder.switches, memory)


def _compiled(bidder: BidderContext, nodes: Nodes) -> Graph:
    graph: Any = StateGraph(_state(first_view(bidder.game), nodes))
    for place, node in nodes.items():
        graph.add_node(place, running(node, bidder))
    for place, onward in {START: _first(nodes), **{place: _after(place, nodes) for place in nodes}}.items():
        ways = list(onward.values())
        if place != START and all(way == ways[0] for way in ways):
            for following in ways[0]:
                graph.add_edge(place, following)
        else:
            graph.add_conditional_edges(place, _route(onward), list(dict.fromkeys(one for way in ways for one in way)))
    compiled: Graph = graph.compile()
    return compiled


def _first(nodes: Nodes) -> Onward:
    """Give the nodes with which each occasion begins."""
    return {occasion: (levels(nodes, occasion) or [[END]])[0] for occasion in OCCASIONS}


def _after(place: str, nodes: Nodes) -> Onward:
    """Give the nodes that follow one on each of its occasions: those of the next level that wait for it."""
    onward: Onward = {}
    for occasion in nodes[place].occasions:
        steps, waiting = levels(nodes, occasion), waits(nodes, occasion)
        here = next(number for number, step in enumerate(steps) if place in step)
        following = [one for step in steps[here + 1 : here + 2] for one in step if place in waiting[one]]
        onward[occasion] = following or [END]
    return onward


def _route(onward: Onward) -> Route:
    async def route(state: Any) -> list[str]:  # a synchronous one would cost a thread hop
        return onward[occasion_of(state["ask"])]

    return route


def _state(first: View, nodes: Nodes) -> Any:
    """Give the state of the graph: a `BidderState` whose view is of the game, and notes what the nodes conclude."""
    channels: Any = {"ask": Ask | Pause, "view": Annotated[type(first), fold_reducer(first, _folds(nodes))]}
    make: Any = TypedDict
    return make("BidderState", {**channels, "answer": Answer | None}, total=False)


def _folds(nodes: Nodes) -> Folds:
    return {node.event: node for node in nodes.values() if node.fold is not None}


class GraphBidder:
    """A player whose answers come from its graph; it reads on in the log from where it stopped."""

    def __init__(self, bidder: BidderContext) -> None:
        nodes = _nodes(bidder)
        self.graph = _compiled(bidder, nodes)
        self._folds = _folds(nodes)
        self._view = first_view(bidder.game)
        self._steps = len(nodes) + 2
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer the auctioneer."""
        self._view = observed(self._view, seen[self._read :], self._folds)
        self._read = len(seen)
        given: Any = {"ask": ask, "view": self._view}
        done = await self.graph.ainvoke(given, {"recursion_limit": self._steps})
        answer: Answer | None = done.get("answer")
        return answer
