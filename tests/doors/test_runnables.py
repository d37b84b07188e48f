"""Runnables of LangChain in a seat: graphs that keep messages, chains and chat models, with real packages, offline."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from harbor import Auction, Bidder, Item, bidder_graph, of_type
from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable
from harbor._core.log.acts import Acted
from harbor._core.log.events import BidderSeated, SeatFailed
from harbor._doors.door import DoorFailed, SeatTurns, Turn, Usage
from harbor._doors.runnables import RunnableDoor
from harbor.evaluation._metrics.behaviour import MadeBid, bids

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
NEWS = Acted("Ben", "Vase", Bid(Decimal(100)))


class Chat(GenericFakeChatModel):
    """A chat model that bids what it is told to, and keeps what it heard."""

    messages: Any = None
    words: str = "I bid $120."
    heard: list[Any] = []  # noqa: RUF012 - copied by pydantic

    def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.heard.append([message.text for message in messages if isinstance(message, HumanMessage)])
        told = {"model_provider": "openai", "model_name": "gpt-4o-mini"}
        self.messages = iter([AIMessage(self.words, usage_metadata=used(7, 3), response_metadata=told)])
        return super()._generate(messages)


def two_turns() -> list[Turn]:
    turns, seen = SeatTurns("english", "seat-1"), (BidderSeated("Ann", Decimal(500), {}, "profit"),)
    return [turns.of(ASK, seen), turns.of(ASK, (*seen, NEWS))]


async def heard_by(chat: Chat, runnable: Any) -> list[list[str]]:
    door = RunnableDoor(runnable)
    for turn in two_turns():
        assert (await door.ask(turn)).answer == chat.words
    return chat.heard


async def test_a_chat_model_is_told_the_whole_conversation_each_time():
    first, second = await heard_by(chat := Chat(), chat)
    turn = two_turns()[1].as_json()
    assert first == [two_turns()[0].as_json()["words"]]
    assert second == [f"{turn['so_far']} {turn['words']}"]
    assert "Ben bids $100 on Vase." in second[0]


async def test_an_agent_with_a_checkpointer_is_told_what_is_new_and_keeps_the_rest_and_another_one_is_told_all():
    chat, keeping, plain = Chat(), Chat(), Chat()
    _, second = await heard_by(keeping, create_agent(keeping, [], checkpointer=InMemorySaver()))
    assert second == [turn.as_json()["words"] for turn in two_turns()]
    heard = await heard_by(chat, create_agent(chat, [], system_prompt="You bid."))
    assert heard == await heard_by(plain, plain)


async def test_seats_are_threads_apart():
    chat = Chat()
    door = RunnableDoor(create_agent(chat, [], checkpointer=InMemorySaver()))
    for seat in ("seat-1", "seat-2"):
        await door.ask(SeatTurns("english", seat).of(ASK, ()))
    assert [len(heard) for heard in chat.heard] == [1, 1]


async def test_the_calls_of_a_turn_are_told_once_with_their_model():
    door = RunnableDoor(create_agent(Chat(), [], checkpointer=InMemorySaver()))
    for turn in two_turns():
        assert (await door.ask(turn)).usage == (Usage(model="openai:gpt-4o-mini", input_tokens=7, output_tokens=3),)


def graph_that(does: Any, state: Any = MessagesState, **compiled: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("bid", does)
    graph.add_edge(START, "bid")
    graph.add_edge("bid", END)
    return graph.compile(**compiled)


def used(read: int, written: int) -> dict[str, int]:
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


@pytest.mark.parametrize(("counts", "told"), [
    ((-5, 1), {"model_name": "gpt-4o-mini"}), ((5, 10**9), {"model_name": "gpt-4o-mini"}),
    ((5, 1), {"model_name": "x" * 300}),
])  # fmt: skip
async def test_usage_of_a_message_that_can_not_be_read_is_left_out_and_the_answer_stands(counts, told):
    bad = AIMessage("Hm.", usage_metadata=used(*counts), response_metadata=told)
    good = AIMessage("I bid $120.", usage_metadata=used(7, 3), response_metadata={})
    given = await RunnableDoor(graph_that(lambda _: {"messages": [bad, good]})).ask(two_turns()[0])
    assert given == ("I bid $120.", (Usage(input_tokens=7, output_tokens=3),))


class Reply(BaseModel):
    action: str
    amount: float


async def test_a_reply_of_a_shape_is_taken_before_the_words_beside_it():
    class State(MessagesState):
        structured_response: Reply

    both = {"messages": AIMessage("Hm."), "structured_response": Reply(action="bid", amount=9)}
    assert (await RunnableDoor(graph_that(lambda _: both, State)).ask(two_turns()[0])).answer == Bid(Decimal(9))


class Asked(TypedDict, total=False):
    item: str
    answer: dict[str, Any]


async def test_what_a_graph_of_messages_keeps_of_an_earlier_turn_is_no_answer():
    class Kept(MessagesState):
        answer: dict[str, Any]

    def speak(state: Any) -> dict[str, Any]:
        if state.get("answer"):
            return {"messages": [AIMessage("I withdraw.")]}
        return {"messages": [AIMessage("I bid $120.")], "answer": {"action": "bid", "amount": 120}}

    door = RunnableDoor(graph_that(speak, Kept, checkpointer=InMemorySaver()))
    assert [(await door.ask(turn)).answer for turn in two_turns()] == ["I bid $120.", "I withdraw."]


async def test_a_graph_gives_its_answer_under_that_name_and_what_it_was_told_is_none():
    graph = graph_that(lambda _: {"answer": {"action": "bid", "amount": 120}}, Asked)
    assert (await RunnableDoor(graph).ask(two_turns()[0])).answer == Bid(Decimal(120))
    given = (await RunnableDoor(graph_that(lambda state: state, Asked)).ask(two_turns()[0])).answer
    assert given == Unreadable('action: Field required; answer as the schema under "answer" in the turn describes')


async def test_a_graph_that_stops_for_a_person_has_failed_with_what_mends_it():
    graph = graph_that(lambda _: interrupt("Shall I?"), Asked, checkpointer=InMemorySaver())
    with pytest.raises(DoorFailed, match="the graph stops at an interrupt, and nobody resumes it here; give one that"):
        await RunnableDoor(graph).ask(two_turns()[0])


async def test_the_fields_of_a_turn_are_the_variables_of_a_prompt():
    chat = Chat()
    chain = ChatPromptTemplate.from_messages([("human", "{bidder}: {words}")]) | chat | StrOutputParser()
    assert (await RunnableDoor(chain).ask(two_turns()[0])).answer == "I bid $120."
    assert chat.heard[0][0].startswith("Ann: Only you know: your budget")


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()], ids=["without a thread", "with one"])
def test_a_bidder_graph_in_a_seat_bids_as_its_bidder_does_in_the_house(checkpointer):
    quiet: dict[str, Any] = {"planning": "none", "believe": False, "strategy": "on", "budget": 400_000}

    def made(seat: Bidder, **given: Any) -> list[MadeBid]:
        items = [Item(name="Vase", start=100_000, true_value=300_000), Item(name="Jug", start=90_000, true_value=9e5)]
        run = Auction(seed=3, items=items, bidders=[seat, Bidder("Ben", rule="minimum-raise")]).run(**given)
        assert not of_type(run.log, SeatFailed)
        return [*bids(run.log)]

    graph = bidder_graph(Bidder("Ann", **quiet), checkpointer=checkpointer)
    theirs = made(Bidder("Ann", agent=True, budget=400_000), agents={"Ann": graph})
    assert theirs == made(Bidder("Ann", **quiet))
    assert {bid.bidder for bid in theirs} == {"Ann", "Ben"}
