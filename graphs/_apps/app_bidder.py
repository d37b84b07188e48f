"""A bidder in somebody else's LangGraph app: its thoughts as nodes whose state is JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_config, get_store
from langgraph.graph import END, START

from harbor._config.auction import Bidder, MemorySettings
from harbor._core.acts import Tried
from harbor._core.ask_json import ASK
from harbor._core.asks import Answer, Ask, Pause, Unreadable, Withdraw
from harbor._core.decisions import as_reply
from harbor._core.events import Event, PrivateEvent
from harbor._core.finding import find
from harbor._games.bidder_view import View
from harbor._games.english.sale_heard import Brought
from harbor._house.auctioneer import judged
from harbor.graphs._apps.answering_up import ATTEMPTS, Values, at_price, brought, speakers
from harbor.graphs._apps.app_model import AnyModel, client_of
from harbor.graphs._apps.asked_in_json import Json, as_json, line_of
from harbor.graphs._apps.both_ways import both_ways, route_both_ways
from harbor.graphs._apps.listener import AUCTIONEERS, Listener
from harbor.graphs._context.context import BidderContext
from harbor.graphs._context.node import Occasion, ThoughtNode
from harbor.graphs._context.steps import running
from harbor.graphs._context.wording import prompts_of
from harbor.graphs._wiring.bidder import ways
from harbor.graphs._wiring.mind import Nodes, first_view, nodes_of, occasion_of, thinking
from harbor.memory._bidder.bidder_memory import BidderMemory, label

Step = Callable[[Any], Coroutine[Any, Any, Json]]
UNDECIDED = {"answer": None, "proposed": None}
"""The state of a turn whose answer is still to come."""
FAILED = as_json(Tried("", "", 0, 0, ""))["type"]


@dataclass(frozen=True)
class AppBidder:
    """What the nodes of a bidder share.

    Their state has `heard`, which is what a `Listener` dumps; `conclusions`, the events of this turn that the bidder
    concluded; and its `answer`, or what it has `proposed` if a person approves that first.
    """

    context: BidderContext
    known: Brought
    with_budget: bool
    auctioneers: tuple[str, ...]
    memory: MemorySettings
    nodes: Nodes
    approve: bool = False

    @classmethod
    def of(
        cls,
        bidder: Bidder | str,
        model: AnyModel,
        values: Values | None,
        game: str,
        catalogue: str,
        seed: int,
        memory: Mapping[str, Any] | None,
        auctioneers: Sequence[str] = AUCTIONEERS,
        approve: bool = False,
    ) -> AppBidder:
        """Make one.

        Raises:
            ConfigError: it can't be played so.
        """
        bidder = Bidder(bidder) if isinstance(bidder, str) else bidder
        if "bidding" not in bidder.model_fields_set:  # an app has its own auctioneer, who may raise by no limit
            bidder = bidder.model_copy(update={"bidding": "call"})
        remembered = MemorySettings(**memory or {})
        nodes = nodes_of(game, bidder, remembered)
        known = brought(bidder, values or {}, catalogue)
        context = BidderContext(client_of(bidder, model, seed), bidder, lambda: lambda _: None, None, game, seed, nodes)
        for name, text in prompts_of(find("game", game), nodes.values()).items():
            context.wording.text(name, text)  # read here, as servers of graphs forbid nodes to wait for a disk
        return cls(
            context,
            known,
            "budget" in bidder.model_fields_set,
            speakers(bidder.name, auctioneers),
            remembered,
            nodes,
            approve,
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self.known.seat.bidder

    def listener(self, state: Mapping[str, Any]) -> Listener:
        """Give one that has heard what this thread of the app has, and what was concluded."""
        listener = Listener(self.context, self.known, self.auctioneers, self.with_budget)
        if state.get("heard"):
            listener.load(state["heard"])
        return listener

    def concluded(self, state: Mapping[str, Any]) -> list[Event]:
        """Give what it concluded in the last turn."""
        return [line_of(one, self.context.game) for one in map(json.dumps, state.get("conclusions") or ())]

    def view(self, state: Mapping[str, Any]) -> View:
        """Give what it has observed."""
        seen = [line_of(line, self.context.game) for line in state["heard"]["seen"]]
        first = first_view(self.name, self.context.game, self.nodes, self.context.switches)
        return first.after([*seen, *self.concluded(state)])

    def add_thoughts(self, graph: Any, begin: str, end: str) -> None:
        """Add its thoughts to a graph, after the node `begin` and before the node `end`."""
        for place, node in thinking(self.nodes).items():
            graph.add_node(place, both_ways(self._step(node), place))
        answering = next(place for place, node in self.nodes.items() if node.answers)
        onward = ways(self.nodes)
        onward[answering] = onward[START]  # an answer that is not legal is asked again
        for place, following in onward.items():
            ahead = {occasion: [end if one == END else one for one in them] for occasion, them in following.items()}
            may_follow = list(dict.fromkeys([end, *(one for them in ahead.values() for one in them)]))
            graph.add_conditional_edges(begin if place == START else place, _route(ahead, end), may_follow)

    def _step(self, node: ThoughtNode) -> Step:
        async def think(state: Any) -> Json:
            concluded: list[Event] = []
            mind = replace(self.context, begin=lambda: concluded.append, memory=self._remembered(state))
            vars(mind)["wording"] = self.context.wording  # with the texts that were read
            ask = asked(state)
            done = await running(node, mind)({"ask": ask, "view": self.view(state)})
            told = [as_json(event) for event in concluded if isinstance(event, PrivateEvent)]
            if not node.answers or not isinstance(ask, Ask):
                return {"conclusions": told}
            return self._judged(state, ask, done.get("answer") or Unreadable("nothing was said"), told)

        return think

    def _judged(self, state: Mapping[str, Any], ask: Ask, given: Answer, told: list[Json]) -> Json:
        """Take a legal answer; ask again for one that is not, and withdraw after the last."""
        found = judged(ask, given)
        if not isinstance(found, str):
            price = state["heard"]["price"]
            return {"conclusions": told, self._decided: as_reply(at_price(price and Decimal(price), found))}
        told.append(as_json(Tried(ask.bidder, ask.item, ask.round, ask.attempt, found)))
        failed = [one for one in (*state["conclusions"], *told) if one["type"] == FAILED]
        if len(failed) < ATTEMPTS:
            again = ask._replace(attempt=ask.attempt + 1, refusal=found)
            return {"conclusions": told, "heard": {**state["heard"], "ask": ASK.dump_python(again, mode="json")}}
        return {"conclusions": told, self._decided: as_reply(Withdraw("failed bids"))}

    @property
    def _decided(self) -> str:
        """Name where a legal answer goes: nobody is given one that a person has not approved."""
        return "proposed" if self.approve else "answer"

    def _remembered(self, state: Mapping[str, Any]) -> BidderMemory | None:
        """Give its part of the store of the app; a thread is an auction, or else what was heard first."""
        store: Any = get_store()
        if store is None:
            return None
        config: RunnableConfig = get_config()
        thread = config.get("configurable", {}).get("thread_id") or label("".join(state["heard"]["seen"][:2]))
        return BidderMemory(store, self.name, str(thread), self.memory, self.context.table.name)


def asked(state: Mapping[str, Any]) -> Ask | Pause | None:
    """Give what the bidder is asked in this turn, if it is."""
    ask = state["heard"]["ask"]
    return None if ask is None else ASK.validate_python(ask)


def _route(ahead: Mapping[Occasion, list[str]], end: str) -> RunnableLambda[Any, list[str]]:
    def following(state: Mapping[str, Any]) -> list[str]:
        ask = asked(state)
        return [end] if ask is None or state.get("answer") or state.get("proposed") else ahead[occasion_of(ask)]

    return route_both_ways(following)
