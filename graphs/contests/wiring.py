"""The wiring: a player's mind for the games of days and runs as a LangGraph graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor.asks import Ask
from harbor.errors import ModelError
from harbor.events import ThoughtFailed
from harbor.graphs.contests.choose import choose
from harbor.graphs.contests.expect import expect
from harbor.graphs.contests.prepare import plan, replan
from harbor.graphs.contests.thinking import Playing
from harbor.graphs.state import Mind, Thought, Update

Node = Callable[[Playing, Thought], Awaitable[Update]]
Graph = CompiledStateGraph[Playing, None, Playing, Playing]


def player_graph(mind: Mind) -> Graph:
    """Compile the graph of one player; it can be a node of a graph of yours.

    Give it `{"ask": ask, "notebook": events the player has seen}`; it gives back the journal with its conclusions and,
    to an `Ask`, the answer. Planning that is switched off is not in the graph. Its nodes are asynchronous.
    """
    planning = mind.switches.planning
    graph = StateGraph(Playing)
    _add(graph, "bid", choose, mind)
    _add(graph, "believe", expect, mind)
    if planning != "none":
        _add(graph, "plan", plan, mind)
        graph.add_edge("plan", END)
    after = "replan" if planning == "adaptive" else END
    if planning == "adaptive":
        _add(graph, "replan", replan, mind)
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


def _add(graph: StateGraph[Playing, None, Playing, Playing], name: str, node: Node, mind: Mind) -> None:
    async def run(state: Playing) -> Update:
        thought = mind.thought()
        try:
            return await node(state, thought)
        except ModelError as error:
            if isinstance(state["ask"], Ask):
                raise
            thought.note(ThoughtFailed(state["notebook"].name, name, str(error)))
            return {}

    graph.add_node(name, run)
