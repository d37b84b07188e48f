"""The wiring: a player's mind for the games of days and runs as a LangGraph graph."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor._core.asks import Ask
from harbor.graphs._context.context import Mind
from harbor.graphs._context.steps import running
from harbor.graphs._sessions.believe import expect
from harbor.graphs._sessions.bid import choose
from harbor.graphs._sessions.facts import Playing
from harbor.graphs._sessions.plan import plan, replan

Graph = CompiledStateGraph[Playing, None, Playing, Playing]


def player_graph(mind: Mind) -> Graph:
    """Compile the graph of one player; it can be a node of a graph of yours.

    Give it `{"ask": ask, "notebook": events the player has seen}`; it gives back the journal with its conclusions and,
    to an `Ask`, the answer. Planning that is switched off is not in the graph. Its nodes are asynchronous.
    """
    planning = mind.switches.planning
    graph = StateGraph(Playing)
    graph.add_node("bid", running("bid", choose, mind))
    graph.add_node("believe", running("believe", expect, mind))
    if planning != "none":
        graph.add_node("plan", running("plan", plan, mind))
        graph.add_edge("plan", END)
    after = "replan" if planning == "adaptive" else END
    if planning == "adaptive":
        graph.add_node("replan", running("replan", replan, mind))
        graph.add_edge("replan", END)
    opening = "plan" if planning != "none" else END

    async def occasion(state: Playing) -> str:  # async, as a sync one would cost a thread hop
        """Choose where to enter: a bid is wanted, a day or run has closed, or the game is about to begin."""
        ask, journal = state["ask"], state["notebook"]
        if isinstance(ask, Ask):
            return "bid"
        if not journal.goes_on:
            return END
        if not ask.closed:
            return opening
        return "believe" if journal.shown and journal.rivals else after

    graph.add_conditional_edges(START, occasion, list(dict.fromkeys(["bid", "believe", opening, after, END])))
    graph.add_edge("bid", END)
    graph.add_edge("believe", after)
    return graph.compile()
