"""The wiring: the nodes of one bidder as a LangGraph graph, and that graph as a player."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event
from harbor._core.finding import find
from harbor.graphs._context.context import BidderContext, BidderState
from harbor.graphs._context.steps import Node, running
from harbor.graphs._nodes.believe import believe
from harbor.graphs._nodes.bid import bid, fused
from harbor.graphs._nodes.learn import learn
from harbor.graphs._nodes.mirror import mirror
from harbor.graphs._nodes.plan import plan
from harbor.graphs._nodes.predict import predict
from harbor.graphs._nodes.profile import profile
from harbor.graphs._nodes.recall import recall
from harbor.graphs._nodes.remember import remember
from harbor.graphs._nodes.replan import replan
from harbor.graphs._nodes.strategize import strategize
from harbor.graphs._wiring.routes import Routes
from harbor.graphs._wiring.session_player import player_graph
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.session_view import SessionView

Graph = CompiledStateGraph[BidderState, None, BidderState, BidderState]
MOST_STEPS = 25


def bidder_graph(bidder: BidderContext) -> Graph:
    """Compile the graph of one bidder; it can be a node of a graph of yours.

    Give it `{"ask": ask, "view": events the bidder has seen}`; it gives back the view with its conclusions and, to an
    `Ask`, the answer. A node that is switched off is not in the graph. Its nodes are asynchronous: use `ainvoke`.
    """
    nodes = _nodes(bidder)
    routes = Routes(bidder.switches, tuple(nodes))
    graph = StateGraph(BidderState)
    for name, node in nodes.items():
        graph.add_node(name, running(name, node, bidder))
    graph.add_conditional_edges(START, routes.route_entry, routes.entry_points)
    for chain in ([*routes.bidding, END], [*routes.closing, END]):
        for one, following in pairwise(chain):
            graph.add_edge(one, following)
    if "recall" in nodes:
        graph.add_conditional_edges("recall", routes.route_pause, routes.pausing)
    graph.add_conditional_edges("believe", routes.route_after_belief, [*routes.blocked, END])
    for name in routes.present("plan", "replan", "predict", "profile", "mirror"):
        graph.add_edge(name, END)
    return graph.compile()


def _nodes(bidder: BidderContext) -> dict[str, Node]:
    """Give the nodes that are switched on; with a frozen memory nothing is written, so nothing is learned either."""
    switches = bidder.switches
    planning, knows = switches.planning, switches.theory_of_mind
    frozen = bidder.memory is not None and bidder.memory.settings.frozen
    return {
        name: node
        for name, node, on in (
            ("recall", recall, switches.memory != "none"),
            ("plan", plan, planning != "none"),
            ("profile", profile, switches.profiles),
            ("mirror", mirror, knows == "second"),
            ("predict", predict, knows != "none"),
            ("strategize", strategize, switches.strategy == "on"),
            ("bid", fused if switches.strategy == "fused" else bid, True),
            ("believe", believe, True),
            ("replan", replan, planning == "adaptive"),
            ("learn", learn, switches.learning and not frozen),
            ("remember", remember, switches.remembers and not frozen),
        )
        if on
    }


class GraphBidder:
    """A player whose answers come from its graph; it reads on in the log from where it stopped."""

    def __init__(self, bidder: BidderContext) -> None:
        english = find("game", bidder.game).play is None
        # Any, as the two graphs differ in type; both have the channels used below.
        self.graph: Any = bidder_graph(bidder) if english else player_graph(bidder)
        self._view: AuctionView | SessionView = AuctionView() if english else SessionView()
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer the auctioneer."""
        self._view = self._view.after(seen[self._read :])
        self._read = len(seen)
        done = await self.graph.ainvoke({"ask": ask, "view": self._view}, {"recursion_limit": MOST_STEPS})
        answer: Answer | None = done.get("answer")
        return answer
