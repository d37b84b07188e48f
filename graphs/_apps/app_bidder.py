"""A bidder in another LangGraph app: its thoughts are nodes whose state is JSON.

It answers the auctioneer's last words. Its nodes run by `invoke` and by `ainvoke`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_config, get_store
from langgraph.graph import END, START

from harbor._config.auction import Bidder, MemorySettings
from harbor._core.asking.asks import Action, Answer, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.asking.decisions import as_reply
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.loops import run_in_background
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Tried
from harbor._core.log.events import BidderSeated, Event, PrivateEvent
from harbor._core.log.message_metadata import ASK
from harbor._core.log.players import Player
from harbor._core.plugins.finding import find
from harbor._games.bidder_view import View
from harbor._games.english.outside_sale import Brought
from harbor._house.auctioneer import answer_to, judged
from harbor._house.watchdog import READY
from harbor.graphs._apps.asked_in_json import Json, as_json, line_of
from harbor.graphs._apps.listener import AUCTIONEERS, Listener
from harbor.graphs._apps.plain_english import AnyModel, client_of
from harbor.graphs._context.context import BidderContext
from harbor.graphs._context.node import Occasion, ThoughtNode
from harbor.graphs._context.prompting import prompts_of
from harbor.graphs._wiring.bidder import ways
from harbor.graphs._wiring.mind import Nodes, first_view, nodes_of, occasion_of, thinking
from harbor.graphs._wiring.steps import running
from harbor.memory._bidder.bidder_memory import BidderMemory, label
from harbor.personas._catalog.catalogue import catalogue_of, persona_of

Values = Mapping[str, Decimal | int | float | str]
"""A bidder's values of items, in dollars."""
ATTEMPTS = 3
"""Number of a bidder's attempts to answer before it withdraws."""


class Spoken(NamedTuple):
    """A bidder's words, and the action that they mean.

    The action is None if the bidder was not asked, or if it lacks information for an answer.
    """

    words: str
    action: Action | None = None
    ask: Ask | None = None


def brought(bidder: Bidder, values: Values, catalogue: str = "homes") -> Brought:
    """Return the facts that a bidder has from its owner: its seat (budget, personas, objective) and its values.

    Raises:
        ConfigError: a value is no positive amount, or a persona is not in the catalogue.
    """
    known = catalogue_of(catalogue).personas if bidder.persona else {}
    texts = {persona_of(known, key).text: weight for key, weight in bidder.persona.items()}
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"bidder {bidder.name!r}: values are {values!r}; give dollars by item, as {{'Mill': 300_000}}"
        )
    guesses = {item: _dollars(bidder.name, item, value) for item, value in values.items()}
    return Brought(BidderSeated(bidder.name, bidder.budget, texts, bidder.objective), guesses)


def app_name(bidder: str, name: str | None) -> str:
    """Return the name of a bidder among the agents of an app: `name`, or else a name made from the bidder's own.

    Raises:
        ConfigError: the name is no Python identifier, as apps and providers demand.
    """
    name = name or re.sub(r"\W", "_", bidder.lower())
    if not name.isidentifier():
        raise ConfigError(f"bidder {bidder!r} needs a name among agents: {name!r} is no Python identifier")
    return name


def speakers(bidder: str, auctioneers: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the speakers that a bidder believes.

    Raises:
        ConfigError: `auctioneers` is a single text in place of a list.
    """
    if isinstance(auctioneers, str):
        raise ConfigError(f"bidder {bidder!r}: auctioneers is {auctioneers!r}; give a list of names: [{auctioneers!r}]")
    return tuple(auctioneers)


def _dollars(bidder: str, item: str, value: Decimal | int | float | str) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise ConfigError(f"bidder {bidder!r}: the value of {item!r} is {value!r}; give a positive number of dollars")
    return amount


async def speak(listener: Listener, player: Player) -> Spoken:
    """Return the bidder's answer to the ask that its listener has heard.

    A decision that is not legal is not spoken: the player is asked again.

    Args:
        listener: the listener that has heard the auctioneer.
        player: the player that decides, such as a `GraphBidder` whose conclusions go to the listener.
    """
    ask, instead, price = listener.ask, listener.instead, listener.price
    if ask is None:
        return Spoken(instead or listener.unasked)
    listener.answered()
    if isinstance(ask, Pause):
        await player.act(ask, listener.seen)
        return Spoken(READY)
    action = at_price(price, await _decided(listener, player, ask))
    return Spoken(in_words(ask, price, action), action, ask)


async def _decided(listener: Listener, player: Player, ask: Ask) -> Action:
    """Return the player's legal action, or a withdrawal after too many actions that are not legal."""
    for attempt in range(1, ATTEMPTS + 1):
        given = await player.act(ask, listener.seen)
        answer: Answer = answer_to(ask, given) if isinstance(given, str) else given or Unreadable("nothing was said")
        found = judged(ask, answer)
        if not isinstance(found, str):
            return found
        listener.conclude(Tried(ask.bidder, ask.item, ask.round, ask.attempt, found))
        ask = ask._replace(attempt=attempt + 1, refusal=found)
    return Withdraw("failed bids")


def at_price(price: Decimal | None, action: Action) -> Action:
    """Return the action; if the auctioneer named a single price, a bid becomes a bid of that price.

    A bidder that would pay more than the price thus accepts it.
    """
    return action if price is None or not isinstance(action, Bid) else Bid(price)


def in_words(ask: Ask, price: Decimal | None, action: Action) -> str:
    """Return an action in words; if the auctioneer named a single price, the words accept or decline it."""
    if price is None:
        return ask.space.say(action)
    return f"Yes, I accept {dollars(price)}." if isinstance(action, Bid) else f"No, not at {dollars(price)}: I decline."


def both_ways(step: Callable[[Any], Coroutine[Any, Any, Any]], name: str) -> RunnableLambda[Any, Any]:
    """Return a LangGraph node that runs an async function, both by `ainvoke` and by `invoke`.

    All runs by `invoke` share an event loop of Harbor's own, which never ends, because connections of a hosted model
    belong to the loop that opened them.
    """
    return RunnableLambda(lambda state: run_in_background(step(state)), afunc=step, name=name)


def route_both_ways(choose: Callable[[Any], list[str]]) -> RunnableLambda[Any, list[str]]:
    """Return a route of a function, which `ainvoke` need not send to a thread."""

    async def chosen(state: Any) -> list[str]:
        return choose(state)

    found: Callable[[Any], Awaitable[list[str]]] = chosen
    return RunnableLambda(choose, afunc=found, name="route")


Step = Callable[[Any], Coroutine[Any, Any, Json]]
UNDECIDED = {"answer": None, "proposed": None}
"""State of a turn before its answer."""
FAILED = as_json(Tried("", "", 0, 0, ""))["type"]


@dataclass(frozen=True)
class AppBidder:
    """The data that all nodes of a bidder share in an app.

    The state of the nodes has `heard`, as `Listener.dump` returns it; `conclusions`, the events that the bidder
    concluded in this turn; and its `answer`, or the `proposed` answer if a person has to approve it.
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
        """Return a bidder for an app from its settings.

        Raises:
            ConfigError: a bidder can't be played with these settings.
        """
        bidder = Bidder(bidder) if isinstance(bidder, str) else bidder
        if "bidding" not in bidder.model_fields_set:  # the app's auctioneer may not raise by limits
            bidder = bidder.model_copy(update={"bidding": "call"})
        remembered = MemorySettings(**memory or {})
        nodes = nodes_of(game, bidder, remembered)
        known = brought(bidder, values or {}, catalogue)
        context = BidderContext(client_of(bidder, model, seed), bidder, lambda: lambda _: None, None, game, seed, nodes)
        for name, text in prompts_of(find("game", game), nodes.values()).items():
            context.wording.text(name, text)  # cached here, as graph servers forbid disk access in nodes
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
        """The bidder's name."""
        return self.known.seat.bidder

    def listener(self, state: Mapping[str, Any]) -> Listener:
        """Return a listener in the state of this thread of the app."""
        listener = Listener(self.context, self.known, self.auctioneers, self.with_budget)
        if state.get("heard"):
            listener.load(state["heard"])
        return listener

    def concluded(self, state: Mapping[str, Any]) -> list[Event]:
        """Return the bidder's conclusions of the last turn."""
        return [line_of(one, self.context.game) for one in map(json.dumps, state.get("conclusions") or ())]

    def view(self, state: Mapping[str, Any]) -> View:
        """Return the bidder's view."""
        seen = [line_of(line, self.context.game) for line in state["heard"]["seen"]]
        first = first_view(self.name, self.context.game, self.nodes, self.context.switches)
        return first.after([*seen, *self.concluded(state)])

    def add_thoughts(self, graph: Any, begin: str, end: str) -> None:
        """Add the bidder's thoughts to a graph, after the node `begin` and before the node `end`."""
        for place, node in thinking(self.nodes).items():
            graph.add_node(place, both_ways(self._step(node), place))
        answering = next(place for place, node in self.nodes.items() if node.answers)
        onward = ways(self.nodes)
        onward[answering] = onward[START]  # an illegal answer is asked again
        for place, following in onward.items():
            ahead = {occasion: [end if one == END else one for one in them] for occasion, them in following.items()}
            may_follow = list(dict.fromkeys([end, *(one for them in ahead.values() for one in them)]))
            graph.add_conditional_edges(begin if place == START else place, _route(ahead, end), may_follow)

    def _step(self, node: ThoughtNode) -> Step:
        async def think(state: Any) -> Json:
            concluded: list[Event] = []
            mind = replace(self.context, begin=lambda: concluded.append, memory=self._remembered(state))
            vars(mind)["wording"] = self.context.wording  # with the cached texts
            ask = asked(state)
            done = await running(node, mind)({"ask": ask, "view": self.view(state)})
            told = [as_json(event) for event in concluded if isinstance(event, PrivateEvent)]
            if not node.answers or not isinstance(ask, Ask):
                return {"conclusions": told}
            return self._judged(state, ask, done.get("answer") or Unreadable("nothing was said"), told)

        return think

    def _judged(self, state: Mapping[str, Any], ask: Ask, given: Answer, told: list[Json]) -> Json:
        """Return the state after an answer: keep a legal one, ask again for others, and withdraw after the last."""
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
        """Name the state key of a legal answer: an answer that needs approval is only proposed."""
        return "proposed" if self.approve else "answer"

    def _remembered(self, state: Mapping[str, Any]) -> BidderMemory | None:
        """Return the bidder's memory in the app's store; its auction is the thread, or else the first events heard."""
        store: Any = get_store()
        if store is None:
            return None
        config: RunnableConfig = get_config()
        thread = config.get("configurable", {}).get("thread_id") or label("".join(state["heard"]["seen"][:2]))
        return BidderMemory(store, self.name, str(thread), self.memory, self.context.table.name)


def asked(state: Mapping[str, Any]) -> Ask | Pause | None:
    """Return the ask to the bidder in this turn; None if the bidder is not asked."""
    ask = state["heard"]["ask"]
    return None if ask is None else ASK.validate_python(ask)


def _route(ahead: Mapping[Occasion, list[str]], end: str) -> RunnableLambda[Any, list[str]]:
    def following(state: Mapping[str, Any]) -> list[str]:
        ask = asked(state)
        return [end] if ask is None or state.get("answer") or state.get("proposed") else ahead[occasion_of(ask)]

    return route_both_ways(following)
