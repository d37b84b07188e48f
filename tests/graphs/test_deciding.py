"""How a bidder with a model decides in any action space: one reply, its action, and why, as a private event."""

from __future__ import annotations

import asyncio
import json
import math
from decimal import Decimal
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from harbor import Bidder, SimulatedChat
from harbor._core.basics.actions import Answer, BundleBid, Unreadable, Withdraw
from harbor._models.calls.prompt import Prompt
from harbor.events import DecidedInWords, ModelCalled
from harbor.games import Accept, AcceptOrWait, Amount, Ask, Bundle, Choice, Choose, Event, Quantity, Take, Wait
from harbor.graphs._context.context import BidderContext
from harbor.graphs._context.deciding import decide
from harbor.graphs._nodes.bid import BID

PROMPT = Prompt("bid", "You are Ann.", '<facts>{"task": "bid"}</facts>', "1")


class Replying(SimulatedChat):
    """Replies with these values, whatever it is asked, and keeps the tool that it was given."""

    values: dict[str, Any]
    tools: list[Any] = Field(default_factory=list)

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        self.tools.extend(tools)
        call = tool_call(name=tools[0]["function"]["name"], args=self.values, id="reply")
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


def decided(space: Any, **mind: Any) -> tuple[Answer, list[Event], Replying]:
    values = mind.pop("values")
    notes: list[Event] = []
    chat = Replying(values=values)
    context = BidderContext.of(Bidder("Ann", **mind), chat, notes.append).context(BID)
    update = asyncio.run(decide(Ask("Ann", "Vase", 3, space, 2, "too low"), context, PROMPT))
    return update["answer"], [note for note in notes if not isinstance(note, ModelCalled)], chat


PRICE = AcceptOrWait(Decimal(950))
MONEY = Amount(Decimal(1), Decimal(9))
PAIR = Bundle(("A", "B"), Decimal(950))


def test_a_decision_is_concluded_in_the_words_in_which_it_is_said():
    for space, values, answer in (
        (PRICE, {"action": "accept"}, Accept()),
        (PRICE, {"action": "Wait"}, Wait()),
        (Choice(("red", "blue")), {"option": "blue"}, Choose("blue")),
        (PAIR, {"action": "bid", "items": ["B", "A"], "amount": 12.5}, BundleBid(("A", "B"), Decimal("12.5"))),
        (PAIR, {"action": "withdraw"}, Withdraw()),
        (Quantity(0, 9), {"units": 4}, Take(4)),
    ):
        given, notes, _ = decided(space, values={"reasons": "so", **values})
        assert given == answer
        assert notes == [DecidedInWords("Ann", "Vase", 3, 2, "so", space.say(answer))]
        assert notes[0].audience == "bidder:Ann"


def test_a_reply_that_is_no_action_of_the_space_is_unreadable_and_is_not_repaired():
    for space, values, why in (
        (PRICE, {"action": "withdraw"}, "accept"),
        (PRICE, {}, "action"),
        (PAIR, {"action": "bid", "amount": 5}, "at least one item"),
        (PAIR, {"action": "bid", "amount": 5, "items": ["A", "A"]}, "named twice"),
        (Quantity(0, 9), {"units": 1.5}, "units"),
        *((MONEY, {"action": "bid", **amount}, "amount") for amount in ({}, {"amount": "a lot"}, {"amount": math.nan})),
    ):
        given, notes, chat = decided(space, values={"reasons": "so", **values})
        assert isinstance(given, Unreadable)
        assert why in given.reason
        assert (notes, len(chat.tools)) == ([], 1)


def test_the_tool_that_a_model_is_given_says_what_it_can_answer():
    *_, chat = decided(PAIR, values={"reasons": "", "action": "withdraw"})
    assert '"enum": ["A", "B"]' in json.dumps(chat.tools)
    *_, chat = decided(PRICE, values={"reasons": "", "action": "wait"})
    assert '"enum": ["accept", "wait"]' in json.dumps(chat.tools)


def test_without_a_chain_of_thought_the_reasons_may_be_left_out_in_every_space():
    given, notes, _ = decided(PRICE, values={"action": "wait"}, chain_of_thought=False)
    assert (given, [type(note) for note in notes]) == (Wait(), [DecidedInWords])
