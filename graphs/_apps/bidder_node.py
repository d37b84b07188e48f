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
"""Where a message has the answer as data, in its `additional_kwargs`."""
SPEAKERS = {"human": "user", "ai": "assistant"}
"""What the kinds of messages without a name are called."""


class Said(TypedDict):
    """What the node shares with the app: it is given all messages, and gives its own."""

    messages: list[Any]


class Conversation(Said, total=False):
    """The state of the node; the last two stay from turn to turn in a thread."""

    answer: Json | None
    conclusions: Annotated[list[Json], operator.add]
    proposed: Json | None
    heard: Json
    taken: list[str]
    """The messages that were heard."""


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
    """Make a node of a `MessagesState` app: it reads what was said, and adds an `AIMessage` with its bid.

    The bid is there in words, and as data: bidder, item, round and answer, in its `additional_kwargs["harbor"]`. It
    believes the messages of the `auctioneers` alone ("user" is a human message without a name), and nothing that is
    said changes what its owner gave it. "events" and "ask" in the `additional_kwargs` of a message, as JSON, are read
    as they are; a message without them costs one call of its model, which reads the English. What it heard and thinks
    stays in its own part of the thread, which no other node reads; in an app without a checkpointer it reads all
    messages again each time.

    Args:
        bidder: who it is and how it thinks; its `model` is the model if none is given here.
        model: a name ("openai:gpt-5", "simulated"), settings, or a LangChain chat model.
        values: what items are worth to it in dollars, by the names that the auctioneer uses; it bids on no other.
        name: of its messages, a Python identifier (None: made from the bidder's).
        auctioneers: the names of the speakers that it believes.
        game: the game that is played; in another than "english" it understands JSON alone.
        catalogue: where its persona is from.
        seed: of the built-in model's chance.
        memory: how much it recalls of earlier auctions, as in `[memory]`; it is in the store that the app was compiled
            with.
        approve: whether the app is interrupted before it bids. Resume it with true, false (to decline), or another
            answer. That needs an app with a checkpointer.

    Raises:
        ConfigError: it can't be played so.
    """
    app = AppBidder.of(bidder, model, values, game, catalogue, seed, memory, auctioneers, approve)
    own = app_name(app.name, name)
    for prompt, text in ((OPENING, LISTENER), (TASK, LISTEN)):
        USUAL.text(prompt, text)  # read here, as servers of graphs forbid nodes to wait for a disk
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
