"""A bidder as a node of a LangGraph app that keeps messages."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite
from typing_extensions import TypedDict  # that of Python 3.11 has no JSON schema

from harbor._config.auction import Bidder
from harbor._core.asking.asks import Ask
from harbor._core.asking.decisions import as_reply
from harbor._house.watchdog import READY
from harbor.graphs._apps.app_bidder import (
    UNDECIDED,
    AppBidder,
    Step,
    Values,
    app_name,
    asked,
    at_price,
    both_ways,
    in_words,
)
from harbor.graphs._apps.asked_in_json import Json
from harbor.graphs._apps.bidder_graph import action_of, approve_answer
from harbor.graphs._apps.listener import AUCTIONEERS, ENGLISH
from harbor.graphs._apps.plain_english import LISTEN, LISTENER, TASK, AnyModel
from harbor.graphs._context.prompting import OPENING, USUAL

DATA = "harbor"
"""Key of the answer as data in the `additional_kwargs` of a message."""
SPEAKERS = {"human": "user", "ai": "assistant"}
"""Speakers of messages without a name, by kind of message."""


class Said(TypedDict):
    """The part of the app's state that the node reads and writes: it gets all messages, and adds its own."""

    messages: list[Any]


class Conversation(Said, total=False):
    """The state of the node; in a thread, the fields `heard` and `taken` stay from turn to turn."""

    answer: Json | None
    conclusions: Annotated[list[Json], operator.add]
    proposed: Json | None
    heard: Json
    taken: list[str]
    """Marks of the messages that were heard."""


def bidder_node(
    bidder: Bidder | str,
    *,
    model: AnyModel = None,
    values: Values | None = None,
    name: str | None = None,
    auctioneers: Sequence[str] = AUCTIONEERS,
    game: str = ENGLISH,
    catalogue: str = "homes",
    seed: int = 0,
    memory: Mapping[str, Any] | None = None,
    approve: bool = False,
) -> CompiledStateGraph[Any, None, Any, Any]:
    """Return a bidder as a node of a LangGraph app that keeps messages (`MessagesState`).

    The node reads the messages and adds an `AIMessage` with its bid: in words, and as data in
    `additional_kwargs["harbor"]` (bidder, item, round and answer). It reads only messages from the speakers named in
    `auctioneers` ("user" is the speaker of a human message without a name), and no message can change the bidder's
    settings. If the `additional_kwargs` of a message have "events" or "ask", these are read as JSON in place of the
    words. A message without them is read as English, which costs one model call. The node keeps its conclusions in its
    own part of the thread, which no other node reads. Without a checkpointer, it reads all messages again at each turn.

    >>> bidder_node("Ann B.", model="simulated", values={"Vase": 300}, name="ann").name
    'ann'

    Args:
        bidder: the bidder's settings, or its name.
        model: the model that plays the bidder: a name ("openai:gpt-5", "simulated"), settings, or a LangChain chat
            model (None: the model that the bidder's settings name).
        values: the value of each item to the bidder in dollars, by the names that the auctioneer uses; the bidder does
            not bid on other items.
        name: the speaker's name in the node's messages, a Python identifier (None: made from the bidder's name).
        auctioneers: names of the speakers whose messages the node reads and believes.
        game: name of the game; in other games than "english" the node understands only JSON.
        catalogue: name of the catalogue that has the bidder's persona.
        seed: random seed of the built-in model.
        memory: settings of the bidder's memory of earlier auctions, as in `[memory]`. The memories are in the store
            with which the app is compiled.
        approve: whether the app is interrupted before the node bids, so that a person can approve the bid. Resume it
            with true (to approve), false (to decline), or another answer. This needs an app with a checkpointer.

    Raises:
        ConfigError: a bidder can't be played with these settings.
    """
    app = AppBidder.of(bidder, model, values, game, catalogue, seed, memory, auctioneers, approve)
    own = app_name(app.name, name)
    for prompt, text in ((OPENING, LISTENER), (TASK, LISTEN)):
        USUAL.text(prompt, text)  # cached here, as graph servers forbid disk access in nodes
    graph: Any = StateGraph(Conversation, input_schema=Said, output_schema=Said)
    graph.add_node("listen", both_ways(_listening(app, own), "listen"))
    graph.add_node("say", both_ways(_saying(app, own), "say"))
    graph.add_edge(START, "listen")
    graph.add_edge("say", END)
    if approve:
        graph.add_node("approve", both_ways(approve_answer, "approve"))
        graph.add_edge("approve", "say")
    app.add_thoughts(graph, "listen", "approve" if approve else "say")
    compiled: CompiledStateGraph[Any, None, Any, Any] = graph.compile(True, name=own)
    return compiled


def _listening(app: AppBidder, own: str) -> Step:
    async def listen(state: Any) -> Json:
        listener, taken = app.listener(state), list(state.get("taken") or ())
        for event in app.concluded(state):
            listener.conclude(event)
        for number, message in enumerate(convert_to_messages(state["messages"])):
            mark = message.id or f"{number} {message.text}"
            if mark in taken:
                continue
            taken.append(mark)
            if (speaker := _speaker(message)) == own:
                listener.answered()
            else:
                await listener.hear(speaker, message.text, message.additional_kwargs)
        return {"heard": listener.dump(), "taken": taken, "conclusions": Overwrite([]), **UNDECIDED}

    return listen


def _speaker(message: BaseMessage) -> str:
    return message.name or SPEAKERS.get(message.type, message.type)


def _saying(app: AppBidder, own: str) -> Step:
    async def say(state: Any) -> Json:
        listener, ask, answer = app.listener(state), asked(state), state.get("answer")
        data: Json = {}
        if ask is None:
            words = listener.instead or listener.unasked
        elif not isinstance(ask, Ask) or answer is None:
            words = READY
        else:
            action = at_price(listener.price, action_of(ask, answer))
            words = in_words(ask, listener.price, action)
            data = {DATA: {"bidder": ask.bidder, "item": ask.item, "round": ask.round, "answer": as_reply(action)}}
        listener.answered()
        return {"messages": [AIMessage(words, name=own, additional_kwargs=data)], "heard": listener.dump()}

    return say
