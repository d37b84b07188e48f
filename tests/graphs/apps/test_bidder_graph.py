"""A bidder's graph by itself and in graphs of others: JSON in, JSON out."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from jsonschema import validate
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from typing_extensions import TypedDict

from harbor import Bidder, BidderState, HarborError, Simulated, SimulatedChat, bidder_graph
from harbor._core.log.log_entries import event_json
from harbor._doors.door import answer_schema
from harbor.games import Amount, Event
from harbor.memory import ChromaStore
from support.moody_chat import MoodyChat
from support.providers import as_openai
from support.sold import sold

WREN, MILL = "Wren House", "Mill Cottage"
VALUES = {WREN: 440_000, MILL: 300_000}
LOTS = [{"name": WREN, "start": 160_000}, {"name": MILL, "start": 90_000}]
OPENING = [{"type": "sale_opened", "bidders": ["Ann", "Ben"], "lots": LOTS, "reveal": "price"}]
UP = {"type": "item_opened", "item": WREN, "start": 160_000, "increment": 16_000}
SECRET = {"type": "tried", "bidder": "Ben", "item": WREN, "round": 1, "attempt": 1, "reason": ""}
RAISED = [
    {"type": "acted", "bidder": "Ben", "item": WREN, "act": {"action": "bid", "amount": 200_000}},
    {"type": "round_closed", "item": WREN, "round": 1, "leader": "Ben", "price": 200_000},
]
PAUSE = {"bidder": "Ann"}


def call(minimum: int = 160_000, **more: Any) -> dict[str, Any]:
    space = {"kind": "amount", "minimum": minimum, "maximum": 500_000}
    return {"bidder": "Ann", "item": WREN, "round": 1, "space": space, **more}


def ann(**settings: Any) -> Any:
    bidder = Bidder("Ann", budget=500_000, **settings.pop("mind", {}))
    return bidder_graph(bidder, values=VALUES, **settings)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


SALE, FIRST = thread("sale"), {"ask": call()}
OPENED = {"ask": call(), "seen": [*OPENING, UP]}
PLANNING = {"ask": PAUSE, "seen": OPENING}
BID = {"action": "bid", "amount": 160_000}


def lines(*events: Event) -> list[dict[str, Any]]:
    return [json.loads(event_json(event)) for event in events]


HAMMER = [*OPENING, UP, *lines(*sold(WREN, "Ann", Decimal(170_000)))]


def kinds(done: dict[str, Any]) -> list[str]:
    return [one["type"] for one in done["conclusions"]]


# ---------------------------------------------------------------- JSON in, JSON out


def test_json_goes_in_and_json_comes_out():
    done = ann(mind={"bidding": "call"}).invoke(json.loads(json.dumps(OPENED)))
    assert done["answer"] == BID
    assert kinds(done) == ["decided"]
    assert json.loads(json.dumps(done)) == done


def test_it_can_be_invoked_within_a_running_loop_and_awaited_also_as_a_node_of_a_graph_of_yours():
    graph, app = ann(), app_of(ann())

    async def inside() -> list[Any]:
        return [graph.invoke(FIRST), await graph.ainvoke(FIRST), *await graph.abatch([FIRST, FIRST])]

    assert asyncio.run(inside()) == [graph.invoke(FIRST)] * 4
    assert app.invoke(FIRST)["loud"] == asyncio.run(app.ainvoke(FIRST))["loud"] == "160000!"


def test_a_hosted_model_answers_however_often_the_graph_is_invoked(monkeypatch):
    with as_openai(monkeypatch, seed=5, name="mine"):
        graph = ann(model=ChatOpenAI(model="gpt-4o-mini", max_retries=0))
        done = [graph.invoke(FIRST) for _ in range(3)]
    assert [one["answer"] for one in done] == [BID] * 3


@pytest.mark.parametrize("settings", [{}, {"approve": True, "checkpointer": InMemorySaver()}], ids=["", "approved"])
def test_a_pause_has_no_answer_and_nothing_to_approve_and_a_plan(settings):
    done = ann(**settings).invoke(PLANNING, SALE)
    assert done["answer"] is None
    assert "planned" in kinds(done)


def test_a_bid_that_is_not_legal_is_made_again_and_never_given():
    rates = SimulatedChat(settings=Simulated(low_bid_rate=1.0))
    done = ann(model=rates, mind={"bidding": "call"}).invoke(FIRST)
    assert done["answer"] == {"action": "withdraw"}
    assert kinds(done).count("tried") == 3


def test_values_that_are_none_and_a_bidder_that_is_no_model_are_refused():
    for values in ({WREN: "x"}, {WREN: True}, {WREN: -5}, {WREN: float("nan")}, [1]):
        with pytest.raises(HarborError, match=r"bidder 'Ann': (the value of 'Wren House' is|values are) .*; give"):
            bidder_graph("Ann", values=values)
    with pytest.raises(HarborError, match="drop its rule"):
        bidder_graph(Bidder("Ann", rule="truthful"))


# ---------------------------------------------------------------- schemas and nonsense


def test_its_schemas_describe_what_goes_in_and_out():
    graph = ann()
    validate(OPENED, graph.get_input_jsonschema())
    validate(graph.invoke(FIRST), graph.get_output_jsonschema())
    assert set(graph.get_input_jsonschema()["properties"]) == {"ask", "seen"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"answer", "conclusions"}


NONSENSE = [
    ("hello", "the input"), ({}, "ask"), ({**call(), "seen": []}, "ask"), ({"ask": None}, "ask"),
    ({"ask": {"bidder": "Ann", "item": WREN}}, "ask.space"),
    ({"ask": {**call(), "space": {"kind": "amount", "minimum": "cheap"}}}, "ask.space"),
    ({"ask": {"bidder": "Ann", "closing": [WREN]}}, "ask.closing"),
    ({"ask": call(), "seen": "everything"}, "seen"), ({"ask": call(), "seen": ["a bid"]}, "seen.0"),
]  # fmt: skip


@pytest.mark.parametrize(("nonsense", "where"), NONSENSE)
def test_nonsense_is_told_where_it_is_wrong_and_the_schema(nonsense, where):
    graph = ann()
    for invoke in (graph.invoke, lambda given: asyncio.run(graph.ainvoke(given))):
        with pytest.raises(HarborError) as refused:
            invoke(nonsense)
        said = str(refused.value)
        assert said.startswith(f"bidder 'Ann': {where}")
        assert 'give {"ask": turn, "seen": turn["seen"]}' in said
        assert len(said) < 300
        assert json.loads(refused.value.__cause__.__notes__[0]) == graph.get_input_jsonschema()


def test_what_it_can_not_answer_is_said_in_one_line():
    for asked, seen, said in (
        ({"bidder": "Ben"}, [], "is to 'Ben'"),
        ({"item": "Owl Barn"}, [], "no value of 'Owl Barn'"),
        ({}, [{"type": "mystery"}], "seen.0 is no event"),
        ({}, [*OPENING, {**UP, "start": "cheap"}], "seen.1 is no event"),
        ({}, [SECRET], "may not see"),
        ({}, [{"type": "value_revealed", "item": WREN, "true_value": 1}], "can't follow"),
    ):
        with pytest.raises(HarborError, match=said):
            ann().invoke({"ask": call(**asked), "seen": seen})


# ---------------------------------------------------------------- threads


def test_conclusions_that_are_handed_back_are_as_good_as_a_thread():
    kept, plain = ann(checkpointer=InMemorySaver()), ann()
    kept.invoke(PLANNING, SALE)
    planned = plain.invoke(PLANNING)
    seen = [*OPENING, *planned["conclusions"], UP]
    assert plain.invoke({"ask": call(), "seen": seen}) == kept.invoke({"ask": call(), "seen": [UP]}, SALE)


def test_a_thread_takes_all_that_was_seen_or_what_is_new_and_refuses_a_sale_that_goes_on_differently():
    graph = ann(checkpointer=InMemorySaver())
    done = {}
    for name, later in (("all", [*OPENING, UP, *RAISED]), ("new", RAISED)):
        graph.invoke(OPENED, thread(name))
        done[name] = graph.invoke({"ask": call(216_000), "seen": later}, thread(name))
        assert len(graph.get_state(thread(name)).values["taken"]) == 4
    assert done["all"] == done["new"]
    with pytest.raises(HarborError, match="a thread for each sale"):
        graph.invoke({"ask": call(), "seen": [*OPENING, *RAISED]}, thread("all"))


def test_what_it_concluded_stays_in_its_thread_and_every_checkpoint_is_json():
    graph = ann(checkpointer=(saver := InMemorySaver()), mind={"strategy": "on"})
    graph.invoke(PLANNING, SALE)
    graph.invoke({"ask": call(), "seen": [UP]}, SALE)
    kept = [one.checkpoint["channel_values"] for one in saver.list(None)]
    assert len(kept) > 6
    for values in kept:
        state = {name: value for name, value in values.items() if not name.startswith(("branch:", "__"))}
        assert json.loads(json.dumps(state)) == state
    graph.invoke(OPENED, thread("another"))
    heard = [str(graph.get_state(thread(name)).values["heard"]) for name in ("sale", "another")]
    assert ["planned" in one for one in heard] == [True, False]


def test_a_thought_that_was_had_is_not_paid_again_when_a_later_one_fails():
    chat = MoodyChat(fails=("bid",))
    graph = ann(model=chat, checkpointer=InMemorySaver(), mind={"strategy": "on"})
    with pytest.raises(Exception, match="no bid today"):
        graph.invoke(FIRST, SALE)
    before, chat.fails = len(chat.made), ()
    assert graph.invoke(None, SALE)["answer"] == BID
    assert len(chat.made) == before + 1


# ---------------------------------------------------------------- a person approves


def test_a_person_approves_declines_or_answers_otherwise():
    for verdict, answer in (
        (True, BID),
        (False, {"action": "withdraw"}),
        ("I bid $200,000.50.", {"action": "bid", "amount": 200_000.5}),
        ({"action": "bid", "amount": 170_000}, {"action": "bid", "amount": 170_000}),
    ):
        graph = ann(approve=True, checkpointer=InMemorySaver(), mind={"bidding": "call"})
        asked = graph.invoke(FIRST, SALE)["__interrupt__"][0].value
        assert (asked["words"], asked["item"]) == ("I bid $160,000.", WREN)
        assert asked["schema"] == answer_schema(Amount(1, 2).reply)
        done = graph.invoke(Command(resume=verdict), SALE)
        assert (done["answer"], kinds(done)) == (answer, ["decided"])
        assert done["conclusions"][0]["amount"] == answer.get("amount")


@pytest.mark.parametrize("verdict", ["maybe", [], {"action": "bid", "amount": 5}, {"words": "no idea"}])
def test_a_person_who_answers_nonsense_is_asked_again_and_told_why(verdict):
    graph = ann(approve=True, checkpointer=InMemorySaver())
    graph.invoke(FIRST, SALE)
    again = graph.invoke(Command(resume=verdict), SALE)["__interrupt__"][0].value
    assert again["refusal"]
    assert graph.invoke(Command(resume=True), SALE)["answer"] == BID


@pytest.mark.parametrize("alone", [True, False])
def test_nobody_is_given_an_answer_that_was_not_approved(alone):
    saver = InMemorySaver()
    graph = ann(approve=True, checkpointer=saver) if alone else app_of(ann(approve=True), checkpointer=saver)
    stopped = graph.invoke(FIRST, SALE)
    assert stopped["__interrupt__"]
    assert (stopped.get("answer"), bool(graph.get_state(SALE).values.get("answer"))) == (None, False)
    done = graph.invoke(Command(resume="I bid $170,000."), SALE)
    assert done["answer"] == {"action": "bid", "amount": 170_000}
    assert alone or done["loud"] == "170000!"


# ---------------------------------------------------------------- in an app


def app_of(graph: Any, **compiling: Any) -> Any:
    class Theirs(TypedDict, total=False):
        ask: dict[str, Any]
        seen: list[dict[str, Any]]
        answer: dict[str, Any]
        loud: str

    def shout(state: Theirs) -> dict[str, str]:
        return {"loud": f"{state['answer']['amount']}!"}

    app = StateGraph(Theirs).add_sequence([("ann", graph), shout]).add_edge(START, "ann")
    return app.compile(**compiling)


def test_a_subgraph_with_a_history_keeps_what_it_concluded():
    app = app_of(ann(checkpointer=True), checkpointer=InMemorySaver())
    app.invoke(OPENED, SALE)
    app.invoke({"ask": call(216_000), "seen": RAISED}, SALE)
    assert app.get_state(SALE, subgraphs=True).values["loud"] == "216000!"


@pytest.mark.parametrize(
    ("mode", "read", "expected"),
    [
        ("values", lambda told: told[-1]["answer"], BID),
        ("updates", lambda told: [next(iter(one)) for one in told], ["listen", "strategize", "bid"]),
        ("messages", lambda told: [where["langgraph_node"] for _, where in told], ["strategize", "bid"]),
    ],
)
def test_it_streams(mode, read, expected):
    assert read(list(ann(mind={"strategy": "on"}).stream(FIRST, stream_mode=mode))) == expected


def test_its_memory_is_the_store_that_the_app_was_compiled_with():
    store, graph = InMemoryStore(), ann(mind={"memory": "list", "learning": True}, checkpointer=True)
    app = StateGraph(BidderState).add_node("ann", graph).add_edge(START, "ann")
    compiled = app.compile(checkpointer=InMemorySaver(), store=store)
    assert set(app.compile().get_input_jsonschema()["properties"]) >= {"ask", "seen"}
    learned = compiled.invoke({"ask": {"bidder": "Ann", "over": True}, "seen": HAMMER}, thread("first"))
    assert "learned" in kinds(learned)
    assert {item.namespace[-1] for item in store.search(())} == {"learning", "episode", "dossier"}
    again = compiled.invoke(PLANNING, thread("second"))
    assert next(one for one in again["conclusions"] if one["type"] == "recalled")["memories"]
    assert all(json.loads(json.dumps(item.value)) == item.value for item in store.search(()))


def test_a_thread_recalls_nothing_that_it_wrote_itself():
    graph = ann(mind={"memory": "list", "learning": True}, store=InMemoryStore(), checkpointer=InMemorySaver())
    graph.invoke({"ask": {"bidder": "Ann", "over": True}, "seen": HAMMER}, thread("first"))
    again = graph.invoke({"ask": PAUSE}, thread("first"))
    assert not next((one for one in again["conclusions"] if one["type"] == "recalled"), {"memories": []})["memories"]


LOW = {"type": "acted", "bidder": "Ann", "item": WREN, "act": {"action": "bid", "amount": 170_000}}


@pytest.mark.parametrize(
    ("mind", "before"),
    [({}, ()), ({"theory_of_mind": "second", "strategy": "on", "persona": "urban-dwellers"}, (*OPENING, UP))],
)
def test_what_an_app_does_not_tell_of_a_price_is_no_ratio_and_ends_no_sale(mind, before, tmp_path):
    bidder, memories = Bidder("Ann", budget=500_000, memory="list", learning=True, **mind), []
    hammer = lines(*sold(WREN, "Ben", Decimal(200_000)))
    for sale, seen in enumerate((before, (), before)):
        with ChromaStore(tmp_path / "memory") as store:
            graph = bidder_graph(bidder, values=VALUES, store=store, checkpointer=InMemorySaver())
            for asked, news in ((PAUSE, [*seen]), (call(), []), (call(210_000, round=2), [LOW, *RAISED])):
                graph.invoke({"ask": asked, "seen": news}, thread(str(sale)))
            over = {"bidder": "Ann", "over": True, "closed": [WREN]}
            assert "learned" in kinds(graph.invoke({"ask": over, "seen": hammer}, thread(str(sale))))
            memories = [one.value["text"] for one in store.search((), limit=100)]
    assert any(f"{WREN} was sold to Ben for $200,000." in text for text in memories)
    assert not any("from $0" in text for text in memories)
    assert any("times the starting price" in text for text in memories) == bool(before)


def test_a_bidder_that_remembers_needs_a_store():
    with pytest.raises(HarborError, match="compile the app with store"):
        ann(mind={"memory": "list"}).invoke(PLANNING)
