"""A bidder as a node of apps that keep messages."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from harbor import Bidder, HarborError, bidder_node, of_type
from harbor._core.log.log_entries import event_json
from harbor._core.log.message_metadata import carried
from harbor._house.auctioneer import call
from harbor.events import Answered, Tried
from harbor.games import Amount, Ask
from support.cases import crossed
from support.held_games import GAMES as HELD
from support.held_games import auction
from support.reader import Reader
from support.sold import sold

WREN = "Wren House"
ENGLISH = "Wren House is for sale. Ann, will you bid $180,000 or more?"
READINGS = {ENGLISH: {"asked": True, "item": WREN, "least": 180_000}}


def asking(least: int = 190_000, message: Any = HumanMessage, **named: Any) -> Any:
    """Make a message that carries an ask."""
    ask = Ask("Ann", WREN, 1, Amount(Decimal(least), Decimal(500_000)))
    return message(call(ask), additional_kwargs=carried((), ask), **named)


def app_of(*nodes: Any, **compiling: Any) -> Any:
    app = StateGraph(MessagesState).add_sequence([(node.name, node) for node in nodes])
    return app.add_edge(START, nodes[0].name).compile(**compiling)


def ann(**settings: Any) -> Any:
    return bidder_node(Bidder("Ann", budget=500_000), **{"values": {WREN: 440_000}, **settings})


def ben(**settings: Any) -> Any:
    return bidder_node(Bidder("Ben", budget=300_000), **{"values": {WREN: 250_000}, **settings})


def thread(name: str = "sale") -> Any:
    return {"configurable": {"thread_id": name}}


def last(app: Any, *messages: Any, config: Any = None) -> Any:
    return app.invoke({"messages": list(messages)}, config)["messages"][-1]


@pytest.mark.parametrize(("asked", "amount"), [(HumanMessage(ENGLISH), 180_000), (asking(), 190_000)])
def test_it_adds_a_message_with_its_bid_in_words_and_as_data(asked, amount):
    said = last(app_of(ann(model=Reader(readings=READINGS))), asked)
    assert isinstance(said, AIMessage)
    assert (said.name, said.content) == ("ann", f"I bid ${amount:,}.")
    answer = {"action": "bid", "amount": amount}
    assert said.additional_kwargs == {"harbor": {"bidder": "Ann", "item": WREN, "round": 1, "answer": answer}}


def test_it_can_be_awaited_and_takes_messages_as_dicts():
    app = app_of(ann(model=Reader(readings=READINGS)))
    said = asyncio.run(app.ainvoke({"messages": [{"role": "user", "content": ENGLISH}]}))
    assert said["messages"][-1].content == "I bid $180,000."


def test_what_a_message_carries_costs_no_call_and_plain_words_one_each():
    chat = Reader(readings=READINGS)
    app = app_of(ann(model=chat), checkpointer=InMemorySaver())
    told = asking(), HumanMessage(ENGLISH), HumanMessage("Dear all, a moment please.")
    read = [last(app, message, config=thread()) and [*chat.read] for message in told]
    assert read == [[], [ENGLISH], [ENGLISH, "Dear all, a moment please."]]


def test_without_a_checkpointer_it_reads_all_again_and_answers_nothing_twice():
    chat = Reader(readings=READINGS)
    app = app_of(ann(model=chat))
    before = app.invoke({"messages": [HumanMessage(ENGLISH)]})["messages"]
    again = app.invoke({"messages": before})["messages"]
    assert len(chat.read) == 2
    assert again[-1].content == "I am not asked for a bid now."


def test_it_believes_the_auctioneers_alone():
    app = app_of(ann(auctioneers=["auctioneer"]))
    rival = asking(message=AIMessage, name="ben")
    assert "I listen to 'auctioneer' alone" in last(app, rival, asking(message=SystemMessage)).content
    assert last(app, asking(message=AIMessage, name="auctioneer"), rival).content == "I bid $190,000."


@pytest.mark.parametrize("approved", [True, "I bid $400,000.", False])
def test_one_price_is_taken_and_the_bid_is_of_that_price(approved):
    words = "The price of Wren House is $210,000. Ann, in or out?"
    chat = Reader(readings={words: {"asked": True, "item": WREN, "exact": 210_000}})
    app = app_of(ann(model=chat, approve=True), checkpointer=InMemorySaver())
    [stopped] = app.invoke({"messages": [HumanMessage(words)]}, thread())["__interrupt__"]
    assert stopped.value["words"] == "I bid $210,000."
    said = app.invoke(Command(resume=approved), thread())["messages"][-1]
    answer = {"action": "bid", "amount": 210_000} if approved else {"action": "withdraw"}
    assert said.additional_kwargs["harbor"]["answer"] == answer
    assert said.content == ("Yes, I accept $210,000." if approved else "No, not at $210,000: I decline.")


def test_what_it_knows_and_thinks_reaches_neither_the_app_nor_the_others():
    chat = Reader(readings=READINGS)
    app = app_of(ann(), ben(model=chat), checkpointer=InMemorySaver())
    every = [asking(160_000), HumanMessage(ENGLISH)]
    told = list(app.stream({"messages": every}, thread(), stream_mode=["values", "updates", "messages"]))
    for secret in ("440,000", "440000", "300,000", "300000"):
        assert secret not in str(told)
    assert chat.read == [ENGLISH]
    assert "440" not in str(chat.asked)


def test_two_threads_know_nothing_of_each_other():
    app = app_of(ann(), checkpointer=InMemorySaver())
    told = carried([event_json(event) for event in sold(WREN, "Ben", Decimal(200_000))])
    last(app, HumanMessage("Sold.", additional_kwargs=told), config=thread("one"))
    assert "is over" in last(app, asking(), config=thread("one")).content
    assert last(app, asking(), config=thread("two")).content == "I bid $190,000."


def test_a_person_approves_before_it_bids():
    app = app_of(ann(approve=True), ben(), checkpointer=InMemorySaver())
    for verdict, words in ((True, "I bid $190,000."), (False, "I withdraw."), ("I bid $200,000.", "I bid $200,000.")):
        asked = app.invoke({"messages": [asking()]}, thread(words))
        assert asked["__interrupt__"][0].value["words"] == "I bid $190,000."
        assert [one.type for one in asked["messages"]] == ["human"]
        done = app.invoke(Command(resume=verdict), thread(words))["messages"]
        assert [one.content for one in done if one.name == "ann"] == [words]


def test_its_name_among_messages_is_one_that_providers_take():
    assert bidder_node(Bidder("Ann B.")).name == "ann_b_"
    with pytest.raises(HarborError, match="no Python identifier"):
        bidder_node(Bidder("Ann"), name="the winner")


def test_once_it_is_made_it_reads_no_file(monkeypatch):
    node = app_of(ann(model=Reader(readings=READINGS)))

    def refuse(*_: Any, **__: Any) -> str:
        raise AssertionError("a node that waits for a disk is refused by servers of graphs")

    monkeypatch.setattr(Path, "read_text", refuse)
    assert last(node, HumanMessage(ENGLISH)).content == "I bid $180,000."


@pytest.mark.parametrize(("game", "saved"), crossed(HELD, [False, True]))
def test_it_plays_every_game_of_harbors_from_what_the_messages_carry_alone(game, saved):
    held = auction(game, players=("random",))
    first, *others = held.bidders
    node = bidder_node(first.name, game=game, model=(chat := Reader(readings={})))
    played = held.model_copy(update={"bidders": [first.model_copy(update={"rule": None, "agent": True}), *others]})
    log = played.run(agents={first.name: app_of(node, checkpointer=InMemorySaver() if saved else None)}).log
    said = [event.words for event in of_type(log, Answered)]
    assert len(said) >= 2
    assert all(words.startswith(("I bid", "I withdraw", "I choose")) for words in said)
    assert first.name not in {tried.bidder for tried in of_type(log, Tried)}
    assert chat.read == []
