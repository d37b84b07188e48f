"""The graph of one bidder, in which a person can approve each answer."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Overwrite, interrupt
from typing_extensions import TypedDict  # that of Python 3.11 has no JSON schema

from harbor._config.auction import Bidder
from harbor._core.asking.asks import Ask
from harbor._core.asking.decisions import as_reply
from harbor._core.basics.actions import Action, Answer, Unreadable, Wait, Withdraw
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.redaction import told
from harbor._doors.door import answer_in, answer_schema
from harbor._house.auctioneer import answer_to, judged
from harbor.graphs._apps.app_bidder import UNDECIDED, AppBidder, Step, Values, asked, both_ways
from harbor.graphs._apps.asked_in_json import BidderInput, BidderOutput, Json, as_json, ask_of, checked, events_of
from harbor.graphs._apps.listener import ENGLISH
from harbor.graphs._apps.plain_english import AnyModel
from harbor.graphs._context.deciding import decided

HOW = "Resume with true to place it, with false to decline, or with another answer: words, or an object of `schema`."


async def approve_answer(state: Any) -> Json:
    """Interrupt the graph until a person approves the proposed answer, declines it, or gives another legal answer."""
    ask, proposed = asked(state), state.get("proposed")
    if not isinstance(ask, Ask) or not proposed:
        return {}
    refusal = ""
    while True:
        said = interrupt(_question(ask, proposed, refusal))
        if said is True:
            return {"answer": proposed}
        found = judged(ask, _answer(ask, said))
        if not isinstance(found, str):
            return {"answer": as_reply(found), "conclusions": Overwrite(_instead(state, ask, found))}
        refusal = found


def action_of(ask: Ask, answer: Mapping[str, Any]) -> Action:
    """Return the action that an answer names; a withdrawal if the answer names no action."""
    read = answer_in(answer, ask).answer
    return Withdraw() if isinstance(read, str | Unreadable) else read


def _instead(state: Mapping[str, Any], ask: Ask, answer: Action) -> list[Json]:
    """Return the conclusions with the person's decision in place of the bidder's."""
    noted = as_json(decided(ask, answer, "A person decided so.", None))
    return [*(one for one in state["conclusions"] if one["type"] != noted["type"]), noted]


def _question(ask: Ask, answer: Json, refusal: str) -> Json:
    return {
        "bidder": ask.bidder,
        "item": ask.item,
        "round": ask.round,
        "answer": answer,
        "words": ask.space.say(action_of(ask, answer)),
        "refusal": refusal,
        "how": HOW,
        "schema": answer_schema(ask.space.reply),
    }


def _answer(ask: Ask, said: object) -> Answer:
    """Return the answer with which the person resumed; to decline is to withdraw, or to wait if only that is legal."""
    if said is False:
        declining = (Withdraw(), Wait())
        legal = [action for action in declining if not ask.space.refusal(action)]
        return legal[0] if legal else Unreadable("this call can't be declined; give another answer")
    given = answer_in(said, ask).answer
    return answer_to(ask, given) if isinstance(given, str) else given


LISTEN, APPROVE = "listen", "approve"


class Heard(TypedDict, total=False):
    """The state of the graph; in a thread, the fields `heard` and `taken` stay from turn to turn."""

    ask: Json
    seen: list[Json]
    answer: Json | None
    conclusions: Annotated[list[Json], operator.add]
    proposed: Json | None
    heard: Json
    taken: list[str]
    """Marks of the events that were read from `seen`."""


def bidder_graph(
    bidder: Bidder | str,
    *,
    model: AnyModel = None,
    values: Values | None = None,
    game: str = ENGLISH,
    catalogue: str = "homes",
    seed: int = 0,
    memory: Mapping[str, Any] | None = None,
    approve: bool = False,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
) -> CompiledStateGraph[Any, None, Any, Any]:
    """Return the compiled LangGraph graph of one bidder, to be used alone or as a node of your own graph.

    The graph takes `{"ask": ..., "seen": [...]}`: the question to the bidder, and the events that the bidder has seen.
    It returns `{"answer": ..., "conclusions": [...]}`: the bidder's answer, and the private events of its thoughts. All
    of this is JSON. A turn of Harbor's bidder protocol can be passed as `ask`, and the `seen` of the turn as `seen`.
    Thoughts that the bidder's settings switch off are not in the graph. The graph can be invoked, awaited, streamed and
    resumed. At each call, it needs the conclusions of its earlier calls. With a checkpointer, use one thread for each
    sale: the thread keeps the conclusions, and `seen` needs only new events. Without a checkpointer, append the
    conclusions to `seen` yourself. As a subgraph, it keeps its conclusions if it is compiled with `checkpointer=True`.

    >>> sorted(bidder_graph("Ann", model="simulated", values={"Vase": 300}).get_input_jsonschema()["properties"])
    ['ask', 'seen']

    Args:
        bidder: the bidder's settings, or its name.
        model: the model that plays the bidder: a name ("openai:gpt-5", "simulated"), settings, or a LangChain chat
            model (None: the model that the bidder's settings name).
        values: the value of each item to the bidder in dollars, beside the values that events in `seen` tell.
        game: name of the game.
        catalogue: name of the catalogue that has the bidder's persona.
        seed: random seed of the built-in model.
        memory: settings of the bidder's memory of earlier auctions, as in `[memory]`. The memories are in the store
            with which the app is compiled.
        approve: whether the graph is interrupted before it answers, so that a person can approve the answer. Resume it
            with true (to approve), false (to decline), or another answer. This needs a checkpointer, here or in the
            app.
        checkpointer: as in `StateGraph.compile`.
        store: as in `StateGraph.compile`.

    Raises:
        ConfigError: a bidder can't be played with these settings. The graph raises this error too, if its input is
            invalid; the cause of the error then has a note with the JSON schema.
    """
    app = AppBidder.of(bidder, model, values, game, catalogue, seed, memory, approve=approve)
    graph: Any = StateGraph(Heard, input_schema=BidderInput, output_schema=BidderOutput)
    graph.add_node(LISTEN, both_ways(_listening(app), LISTEN))
    graph.add_edge(START, LISTEN)
    if approve:
        graph.add_node(APPROVE, both_ways(approve_answer, APPROVE))
        graph.add_edge(APPROVE, END)
    app.add_thoughts(graph, LISTEN, APPROVE if approve else END)
    compiled: CompiledStateGraph[Any, None, Any, Any] = graph.compile(checkpointer, store=store, name=app.name)
    # Check the input before a channel is written: LangGraph itself would only say "expected dict".
    compiled.nodes[START].mapper = lambda given: checked(app.name, given)
    return compiled


def _listening(app: AppBidder) -> Step:
    async def listen(state: Any) -> Json:
        listener = app.listener(state)
        told_now, ask = state.get("seen") or [], ask_of(state["ask"])
        marks = [_mark(event) for event in told_now]
        taken = [] if not state.get("heard") else state.get("taken") or []
        known = _known(app.name, marks, taken)
        news = events_of(app.name, app.context.game, told_now)[known:]
        try:
            for event in app.concluded(state):
                listener.conclude(event)
            listener.told(news, ask)
        except HarborError:
            raise
        except Exception as error:  # an event may name something unknown
            raise ConfigError(
                f"bidder {app.name!r} can't follow what it has seen: {told(error)}; give all of it"
            ) from error
        if listener.instead:
            raise ConfigError(f"bidder {app.name!r} can't answer: {listener.instead}")
        kept = [*taken, *marks[known:]]
        return {"heard": listener.dump(), "taken": kept, "conclusions": Overwrite([]), **UNDECIDED}

    return listen


def _known(bidder: str, marks: list[str], taken: list[str]) -> int:
    """Return the number of events in `seen` that were read before: either all earlier events, or none.

    Raises:
        ConfigError: `seen` repeats only some of the earlier events.
    """
    if marks[: len(taken)] == taken:
        return len(taken)
    if marks[:1] == taken[:1]:
        raise ConfigError(
            f"bidder {bidder!r}: `seen` begins as before and goes on differently; use a thread for each sale, and give"
            " all that was seen, or what is new"
        )
    return 0


def _mark(event: Mapping[str, Any]) -> str:
    return sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()[:16]
