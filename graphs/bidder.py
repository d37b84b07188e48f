"""The wiring: one bidder's mind as a LangGraph graph, and that graph as a player."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor.errors import ModelError
from harbor.events import Answer, Ask, Event, Pause, ThoughtFailed
from harbor.graphs.nodes.believe import believe
from harbor.graphs.nodes.bid import bid
from harbor.graphs.nodes.plan import plan
from harbor.graphs.nodes.replan import replan
from harbor.graphs.state import Mind, Thinking, Thought, Update
from harbor.memory.notebook import Notebook

Graph = CompiledStateGraph[Thinking, None, Thinking, Thinking]
MOST_STEPS = 25


def bidder_graph(mind: Mind) -> Graph:
    """Compile the graph of one bidder; it can be a node of a graph of yours.

    Give it `{"ask": ask, "notebook": events the bidder has seen}`; it gives back the notebook with its conclusions and,
    to an `Ask`, the answer. A node that is switched off is not in the graph. Its nodes are asynchronous: use `ainvoke`.
    """
    switches = mind.switches
    graph = StateGraph(Thinking)

    def add(name: str, node: Callable[[Thinking, Thought], Awaitable[Update]]) -> None:
        async def run(state: Thinking) -> Update:
            thought = mind.thought()
            try:
                return await node(state, thought)
            except ModelError as error:
                if isinstance(state["ask"], Ask):
                    raise
                # At a pause a thought that fails must not take those beside it along.
                thought.note(ThoughtFailed(state["notebook"].name, name, str(error)))
                return {}

        graph.add_node(name, run)

    add("bid", bid)
    add("believe", believe)
    opening: list[str] = [END]
    beside: list[str] = []
    after_belief: list[str] = []
    if switches.planning != "none":
        add("plan", plan)
        opening = ["plan"]
    if switches.planning == "adaptive":
        add("replan", replan)
        # With correction the belief that is handed on is the truth, whatever is said: replanning need not wait for it.
        (beside if switches.correct_beliefs else after_belief).append("replan")

    async def occasion(state: Thinking) -> list[str]:  # async, as a sync one would cost a thread hop
        """Choose where to enter: a bid is wanted, an item has closed, or the sale is about to begin."""
        ask = state["ask"]
        if isinstance(ask, Ask):
            return ["bid"]
        return ["believe", *_if_worthwhile(state, beside)] if ask.closed else opening

    graph.add_conditional_edges(START, occasion, ["bid", "believe", *opening, *beside])
    if after_belief:

        async def onward(state: Thinking) -> list[str]:
            return _if_worthwhile(state, after_belief) or [END]

        graph.add_conditional_edges("believe", onward, [*after_belief, END])
    for last in {"bid", "believe", "plan", "replan"} & set(graph.nodes) - ({"believe"} if after_belief else set()):
        graph.add_edge(last, END)
    return graph.compile()


def _if_worthwhile(state: Thinking, nodes: list[str]) -> list[str]:
    """Go on to these nodes if anything is left that this bidder could buy; a plan for nothing is not worth a call."""
    notebook = state["notebook"]
    return nodes if any(lot.start <= notebook.budget for lot in notebook.coming) else []


class GraphBidder:
    """A player whose answers come from its graph; it reads on in the log from where it stopped."""

    def __init__(self, mind: Mind) -> None:
        self.graph = bidder_graph(mind)
        self._notebook = Notebook()
        self._read = 0

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer the auctioneer."""
        self._notebook = self._notebook.after(seen[self._read :])
        self._read = len(seen)
        thinking: Any = {"ask": ask, "notebook": self._notebook}
        done = await self.graph.ainvoke(thinking, {"recursion_limit": MOST_STEPS})
        return done.get("answer")
