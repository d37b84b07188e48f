"""A turn as JSON, and what comes back."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pydantic import BaseModel

from harbor._core.asking.asks import Amount, Ask, Bid, Unreadable, Withdraw
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import BidderSeated
from harbor._doors.door import SeatTurns, answer_in
from harbor._games.english.events import ItemOpened

ASK = Ask("Ann", "Vase", 1, Amount(Decimal(100), Decimal(500)))
SEEN = (
    BidderSeated("Ann", Decimal(500), {}, "profit"),
    Signal("Ann", {"Vase": Decimal(440)}, noisy=True),
    ItemOpened("Vase", Decimal(100), Decimal(10)),
)


def test_what_one_gets_of_a_turn_is_its_own_down_to_what_events_hold():
    turns = SeatTurns("english", "s1")
    turn = turns.of(ASK, SEEN)
    mine = turn.as_json()
    mine["seen"][1]["values"]["Vase"] = mine["seen"][2]["start"] = mine["space"]["minimum"] = 7
    mine["answer"]["anyOf"].clear()
    assert turn.as_json() == json.loads(turn.line)
    again = turns.of(ASK, SEEN).as_json()
    assert again["seen"] == turn.as_json()["seen"] != mine["seen"]
    assert again["answer"]["anyOf"]


AS_DESCRIBED = 'give words, or a dict as the schema under "answer" in the turn describes it'


class Bidding(BaseModel):
    """An answer as frameworks give one of a shape."""

    action: str
    amount: int | None = None


def test_a_turn_tells_who_is_asked_what_with_what_it_has_seen():
    turn = SeatTurns("english", "s1").of(ASK, SEEN).as_json()
    assert (turn["harbor"], turn["bidder"], turn["turn"], turn["new"]) == (3, "Ann", 3, 3)
    assert turn["space"] == {"minimum": 100, "maximum": 500, "step": 0.01, "kind": "amount"}
    assert [event["type"] for event in turn["seen"]] == ["bidder_seated", "signal", "item_opened"]
    assert "Say 'I bid $<amount>'" in turn["words"]


def test_the_next_turn_tells_what_is_new_and_repeats_what_was_seen():
    turns = SeatTurns("english", "s1")
    first = turns.of(ASK, SEEN).as_json()
    news = Acted("Ben", "Vase", Bid(Decimal(100)))
    second = turns.of(ASK, (*SEEN, news)).as_json()
    assert (second["new"], len(second["seen"])) == (1, 4)
    assert second["words"].startswith("Ben bids $100 on Vase.")
    assert second["so_far"] in first["words"]


@pytest.mark.parametrize(("given", "answer"), [
    ({"action": "withdraw"}, Withdraw()), (Bidding(action="bid", amount=120), Bid(Decimal(120))),
    ('{"action": "bid", "amount": 120}', Bid(Decimal(120))),
    (b'```json\n{"action": "bid", "amount": 120}\n```\n', Bid(Decimal(120))),
    ({"words": "I bid $120."}, "I bid $120."), ("```\nI bid $120.\n```", "```\nI bid $120.\n```"),
    ('["bid", 120]', '["bid", 120]'), ({"action": "bid"}, Unreadable("a bid needs an amount")),
    ([1], Unreadable(f"a value of type list is no answer; {AS_DESCRIBED}")),
])  # fmt: skip
def test_an_answer_is_words_or_what_the_schema_asks_for(given, answer):
    assert answer_in(given, ASK).answer == answer


def test_an_answer_tells_of_calls_of_models():
    given = answer_in({"action": "withdraw", "usage": [{"model": "openai:gpt-4o-mini", "input_tokens": 7}]}, ASK)
    assert [(one.model, one.input_tokens) for one in given.usage] == [("openai:gpt-4o-mini", 7)]


@pytest.mark.parametrize(("usage", "why"), [
    ([{"input_tokens": 10**7 + 1}], "usage.0.input_tokens: Input should be less than or equal to 10000000"),
    ([{"output_tokens": 10**7}] * 11, "usage: Value error, it tells of more than 100,000,000 tokens in one answer"),
    ([{}] * 1_001, "usage: Value error, it tells of more than 1,000 model calls in one answer"),
    ([{"input_tokens": 1}, {"input_tokens": -1}], "usage.1.input_tokens: Input should be greater than or equal"),
])  # fmt: skip
def test_an_answer_with_usage_that_can_not_be_is_unreadable_as_a_whole(usage, why):
    given = answer_in({"action": "withdraw", "usage": usage}, ASK)
    assert isinstance(given.answer, Unreadable)
    assert given.answer.reason.startswith(why)
    assert given.usage == ()
