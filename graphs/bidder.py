"""The wiring: one bidder's mind as a LangGraph graph, and that graph as a player."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from harbor.asks import Answer, Ask, Pause
from harbor.config import Switches
from harbor.errors import ModelError
from harbor.events import Event, ThoughtFailed
from harbor.graphs.nodes.believe import believe
from harbor.graphs.nodes.bid import bid, fused
from harbor.graphs.nodes.mirror import mirror
from harbor.graphs.nodes.plan import plan
from harbor.graphs.nodes.predict import predict
from harbor.graphs.nodes.profile import profile
from harbor.graphs.nodes.replan import replan
from harbor.graphs.nodes.strategize import strategize
from harbor.graphs.state import Mind, Thinking, Thought, Update
from harbor.memory.notebook import Notebook

Node = Callable[[Thinking, Thought], Awaitable[Update]]
Builder = StateGraph[Thinking, None, Thinking, Thinking]
Graph = CompiledStateGraph[Thinking, None, Thinking, Thinking]
MOST_STEPS = 25
ABOUT_RIVALS = ("profile", "mirror", "predict")


def bidder_graph(mind: Mind) -> Graph:
    """Compile the graph of one bidder; it can be a node of a graph of yours.

    Give it `{"ask": ask, "notebook": events the bidder has seen}`; it gives back the notebook with its conclusions and,
    to an `Ask`, the answer. A node that is switched off is not in the graph. Its nodes are asynchronous: use `ainvoke`.
    """
    switches = mind.switches
    nodes = _nodes(switches)
    graph = StateGraph(Thinking)
    for name, node in nodes.items():
        _add(graph, name, node, mind)
    first = "strategize" if "strategize" in nodes else "bid"
    if first != "bid":
        graph.add_edge(first, "bid")
    graph.add_edge("bid", END)

    # A thought that needs what another one concludes comes in the step after it; all others run side by side.
    opening = _present(nodes, "plan", "predict")
    beside = _present(nodes, "believe", "profile", "mirror")
    waiting = _waiting(switches)
    now = [name for name in _present(nodes, "replan", "predict") if name not in waiting]
    then = [name for name in _present(nodes, "replan", "predict") if name in waiting]

    def social(state: Thinking, names: list[str]) -> list[str]:
        """Leave out what is about rivals where there are none."""
        return names if state["notebook"].rivals else [name for name in names if name not in ABOUT_RIVALS]

    async def occasion(state: Thinking) -> list[str]:  # async, as a sync one would cost a thread hop
        """Choose where to enter: a bid is wanted, an item has closed, or the sale is about to begin."""
        ask = state["ask"]
        if isinstance(ask, Ask):
            return [first]
        return social(state, [*beside, *_if_worthwhile(state, now)] if ask.closed else opening) or [END]

    async def onward(state: Thinking) -> list[str]:
        """Go on from what was concluded about the item that has closed."""
        return social(state, _if_worthwhile(state, then)) or [END]

    graph.add_conditional_edges(START, occasion, [first, *opening, *beside, *now, END])
    graph.add_conditional_edges("believe", onward, [*then, END])
    for name in _present(nodes, "plan", "replan", "predict", "profile", "mirror"):
        graph.add_edge(name, END)
    return graph.compile()


def _nodes(switches: Switches) -> dict[str, Node]:
    """Give the nodes that are switched on."""
    planning, knows = switches.planning, switches.theory_of_mind
    return {
        name: node
        for name, node, on in (
            ("plan", plan, planning != "none"),
            ("profile", profile, switches.profiles),
            ("mirror", mirror, knows == "second"),
            ("predict", predict, knows != "none"),
            ("strategize", strategize, switches.strategy == "on"),
            ("bid", fused if switches.strategy == "fused" else bid, True),
            ("believe", believe, True),
            ("replan", replan, planning == "adaptive"),
        )
        if on
    }


def _waiting(switches: Switches) -> set[str]:
    """Name the thoughts after an item that wait for others.

    Replanning and predicting wait for the profiles they are made from. Replanning waits for the belief only where it is
    not corrected: with correction the belief that is handed on is the truth, whatever is said.
    """
    waiting = {"replan", "predict"} if switches.profiles else set()
    return waiting if switches.correct_beliefs else {*waiting, "replan"}


def _present(nodes: Mapping[str, Node], *names: str) -> list[str]:
    return [name for name in names if name in nodes]


def _add(graph: Builder, name: str, node: Node, mind: Mind) -> None:
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


def _if_worthwhile(state: Thinking, nodes: list[str]) -> list[str]:
    """Go to these nodes if anything is left that this bidder could buy; a plan for nothing is not worth a call."""
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
