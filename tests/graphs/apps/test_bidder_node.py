"""A bidder as a node of apps that keep messages."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from harbor import Bidder, HarborError, SimulatedChat, bidder_node
from harbor._core.amounts import Amount
from harbor._core.asks import Ask, Pause
from harbor._house.auctioneer import call

WREN = "Wren House"
ASKED = call(Ask("Ann", WREN, 1, Amount(Decimal(190_000), Decimal(500_000))))
"""Harbor's own sentence."""
ENGLISH = "Wren House is for sale. Ann, will you bid $180,000 or more?"


class Listening(SimulatedChat):
    """A model that keeps what it was asked."""

    asked: list[Any]

    async def _agenerate(self, messages: Any, *args: Any, **named: Any) -> Any:
        self.asked.append(str(messages))
        return await super()._agenerate(messages, *args, **named)

    @property
    def read(self) -> int:
        """How often it was asked to read a message."""
        return sum('"task":"listen"' in one.replace(" ", "") for one in self.asked)


def app_of(*nodes: Any, **compiling: Any) -> Any:
    app = StateGraph(MessagesState)
    for before, node in zip((START, *(one.name for one in nodes)), nodes, strict=False):
        app.add_node(node.name, node)
        app.add_edge(before, node.name)
    app.add_edge(nodes[-1].name, END)
    return app.compile(**compiling)


def ann(**settings: Any) -> Any:
    return bidder_node(Bidder("Ann", budget=500_000), **{"values": {WREN: 440_000}, **settings})


def ben(**settings: Any) -> Any:
    return bidder_node(Bidder("Ben", budget=300_000), **{"values": {WREN: 250_000}, **settings})


def thread(name: str = "sale") -> Any:
    return {"configurable": {"thread_id": name}}


def last(app: Any, *messages: Any, config: Any = None) -> Any:
    return app.invoke({"messages": list(messages)}, config)["messages"][-1]


@pytest.mark.parametrize("words", [ENGLISH, ASKED], ids=["English", "Harbor's own"])
def test_it_adds_a_message_with_its_bid_in_words_and_as_data(words):
    said = last(app_of(ann()), HumanMessage(words))
    amount = 180_000 if words == ENGLISH else 190_000
    assert isinstance(said, AIMessage)
    assert (said.name, said.content) == ("ann", f"I bid ${amount:,}.")
    answer = {"action": "bid", "amount": amount}
    assert said.additional_kwargs == {"harbor": {"bidder": "Ann", "item": WREN, "round": 1, "answer": answer}}


def test_it_can_be_awaited_and_takes_messages_as_dicts():
    said = asyncio.run(app_of(ann()).ainvoke({"messages": [{"role": "user", "content": ENGLISH}]}))
    assert said["messages"][-1].content == "I bid $180,000."


def test_harbors_own_sentences_cost_no_call_and_others_one_each():
    chat = Listening(asked=[])
    app = app_of(ann(model=chat), checkpointer=InMemorySaver())
    last(app, HumanMessage(ASKED), config=thread())
    assert chat.read == 0
    last(app, HumanMessage(ENGLISH), config=thread())
    assert chat.read == 1
    last(app, HumanMessage("Dear all, a moment please."), config=thread())
    assert chat.read == 2


def test_without_a_checkpointer_it_reads_all_again_and_answers_nothing_twice():
    chat = Listening(asked=[])
    app = app_of(ann(model=chat))
    before = app.invoke({"messages": [HumanMessage(ENGLISH)]})["messages"]
    again = app.invoke({"messages": before})["messages"]
    assert chat.read == 2
    assert again[-1].content == "I am not asked for a bid now."


def test_it_believes_the_auctioneers_alone():
    app = app_of(ann(auctioneers=["auctioneer"]))
    rival = AIMessage(ASKED, name="ben")
    assert "I listen to 'auctioneer' alone" in last(app, rival, SystemMessage(ASKED)).content
    assert last(app, AIMessage(ASKED, name="auctioneer"), rival).content == "I bid $190,000."


def test_it_says_what_it_lacks():
    said = last(app_of(ann()), HumanMessage("Owl Barn is for sale. Ann, will you bid $50,000 or more?"))
    assert said.content == "I was told no value of 'Owl Barn', so I can't bid on it. I know a value of: Wren House."
    assert said.additional_kwargs == {}


def test_one_price_is_taken_and_the_bid_is_of_that_price():
    class Generous(SimulatedChat):
        """A model that would pay more."""

        async def _agenerate(self, messages: Any, *args: Any, **named: Any) -> Any:
            made = await super()._agenerate(messages, *args, **named)
            for called in made.generations[0].message.tool_calls:
                called["args"] |= {"amount": 300_000} if "action" in called["args"] else {}
            return made

    app = app_of(ann(model=Generous(), approve=True), checkpointer=InMemorySaver())
    asked = {"messages": [HumanMessage("The price of Wren House is $210,000. Ann, in or out?")]}
    for approved in (True, "I bid $400,000.", False):
        [stopped] = app.invoke(asked, thread(str(approved)))["__interrupt__"]
        assert stopped.value["words"] == "I bid $210,000."
        said = app.invoke(Command(resume=approved), thread(str(approved)))["messages"][-1]
        answer = {"action": "bid", "amount": 210_000} if approved else {"action": "withdraw"}
        assert said.additional_kwargs["harbor"]["answer"] == answer
        assert said.content == ("Yes, I accept $210,000." if approved else "No, not at $210,000: I decline.")


def test_it_is_ready_after_a_pause():
    assert last(app_of(ann()), HumanMessage(call(Pause("Ann")))).content == "I am ready."


def test_what_it_knows_and_thinks_reaches_neither_the_app_nor_the_others():
    chat = Listening(asked=[])
    app = app_of(ann(), ben(model=chat), checkpointer=InMemorySaver())
    every = "Wren House is for sale. Everybody, do you bid $160,000 or more?"
    told = list(
        app.stream({"messages": [HumanMessage(every)]}, thread(), stream_mode=["values", "updates", "messages"])
    )
    for secret in ("440", "500,000", "500000"):
        assert secret not in str(told)
        assert secret not in str(chat.asked)


def test_two_threads_know_nothing_of_each_other():
    app = app_of(ann(), checkpointer=InMemorySaver())
    last(app, HumanMessage("Wren House is sold to Ben for $200,000."), config=thread("one"))
    assert "is over" in last(app, HumanMessage(ENGLISH), config=thread("one")).content
    assert last(app, HumanMessage(ENGLISH), config=thread("two")).content == "I bid $180,000."


@pytest.mark.parametrize(
    ("verdict", "words"), [(True, "I bid $180,000."), (False, "I withdraw."), ("I bid $200,000.", "I bid $200,000.")]
)
def test_a_person_approves_before_it_bids(verdict, words):
    app = app_of(ann(approve=True), ben(), checkpointer=InMemorySaver())
    asked = app.invoke({"messages": [HumanMessage(ENGLISH)]}, thread())
    assert asked["__interrupt__"][0].value["words"] == "I bid $180,000."
    assert [one.type for one in asked["messages"]] == ["human"]
    done = app.invoke(Command(resume=verdict), thread())["messages"]
    assert [one.content for one in done if one.name == "ann"] == [words]


def test_every_checkpoint_of_its_own_is_json():
    saver = InMemorySaver()
    app = app_of(ann(), checkpointer=saver)
    last(app, HumanMessage(ENGLISH), config=thread())
    own = [one.checkpoint for one in saver.list(None) if one.config["configurable"]["checkpoint_ns"] == "ann"]
    assert len(own) > 3
    for values in (one["channel_values"] for one in own):
        state = {name: values[name] for name in ("heard", "taken", "conclusions", "answer") if name in values}
        assert json.loads(json.dumps(state)) == state


def test_its_name_among_messages_is_one_that_providers_take():
    assert bidder_node(Bidder("Ann B.")).name == "ann_b_"
    with pytest.raises(HarborError, match="no Python identifier"):
        bidder_node(Bidder("Ann"), name="the winner")


def test_a_single_name_of_an_auctioneer_is_no_list_of_them():
    with pytest.raises(HarborError, match=r"give a list of names: \['auctioneer'\]"):
        ann(auctioneers="auctioneer")


def test_once_it_is_made_it_reads_no_file(monkeypatch):
    node = app_of(ann())

    def refuse(*_: Any, **__: Any) -> str:
        raise AssertionError("a node that waits for a disk is refused by servers of graphs")

    monkeypatch.setattr(Path, "read_text", refuse)
    assert last(node, HumanMessage(ENGLISH)).content == "I bid $180,000."
