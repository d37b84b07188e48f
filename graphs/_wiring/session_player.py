"""The wiring: the nodes of one player of the games of days and runs as a LangGraph graph."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor._core.asks import Ask
from harbor.graphs._context.context import BidderContext
from harbor.graphs._context.steps import running
from harbor.graphs._sessions.believe import believe
from harbor.graphs._sessions.bid import bid
from harbor.graphs._sessions.facts import SessionState, play_of
from harbor.graphs._sessions.plan import plan, replan

Graph = CompiledStateGraph[SessionState, None, SessionState, SessionState]


def player_graph(bidder: BidderContext) -> Graph:
    """Compile the graph of one player; it can be a node of a graph of yours.

    Give it `{"ask": ask, "view": events the player has seen}`; it gives back the view with its conclusions and, to an
    `Ask`, the answer. Planning that is switched off is not in the graph. Its nodes are asynchronous.
    """
    planning = bidder.switches.planning
    graph = StateGraph(SessionState)
    graph.add_node("bid", running("bid", bid, bidder))
    graph.add_node("believe", running("believe", believe, bidder))
    if planning != "none":
        graph.add_node("plan", running("plan", plan, bidder))
        graph.add_edge("plan", END)
    after = "replan" if planning == "adaptive" else END
    if planning == "adaptive":
        graph.add_node("replan", running("replan", replan, bidder))
        graph.add_edge("replan", END)
    opening = "plan" if planning != "none" else END

    async def route_entry(state: SessionState) -> str:  # async, as a sync one would cost a thread hop
        """Choose where to enter: a bid is wanted, a day or run has closed, or the game is about to begin."""
        ask, view = state["ask"], state["view"]
        if isinstance(ask, Ask):
            return "bid"
        rivals, goes_on = play_of(bidder).outlook(view.name, view.seen)
        if not goes_on:
            return END
        if not ask.closed:
            return opening
        return "believe" if rivals else after

    graph.add_conditional_edges(START, route_entry, list(dict.fromkeys(["bid", "believe", opening, after, END])))
    graph.add_edge("bid", END)
    graph.add_edge("believe", after)
    return graph.compile()
