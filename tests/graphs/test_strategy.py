"""The six strategic actions: chosen before a bid, followed by it, and recorded where they are not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Auction, Bidder, ModelSettings, Result, Simulated, SimulatedChat, houses
from harbor._config.auction import MindSettings
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Answer, Ask, Bid, Unreadable, Withdraw
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Signal
from harbor._core.log.events import BidderSeated, Event, Lot, ModelCalled
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Decided, Predicted, Prediction, StrategicAction, Strategized
from harbor._games.english.events import ItemOpened, ItemSold, SaleOpened
from harbor._games.english.valuation import worth
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import read_facts, reply_to
from harbor.evaluation._metrics.strategy import agreement, strategies
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder

ACTIONS = get_args(StrategicAction)
PERSONAS = ("urban-dwellers", "rural-home-seekers", "eco-conscious-buyers")


class Altered(SimulatedChat):
    """Plays like the built-in model, but for these fields of a reply that has them."""

    fields: dict[str, Any]

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            call["args"].update({key: value for key, value in self.fields.items() if key in call["args"]})
        return result


class Desk:
    """A mind, and everything that comes out of it."""

    def __init__(self, strategy: str, chat: SimulatedChat | None = None, **mind: Any) -> None:
        self.notes: list[Event] = []
        self.prompts: list[dict[str, Any]] = []
        model = ModelClient("Ann", "model", chat or SimulatedChat(), ModelSettings(), self.notes.append, self._keep)
        switches = MindSettings(strategy=strategy, bidding="call", planning="none", **mind)  # type: ignore[arg-type]
        self.mind = BidderContext(model, switches, lambda: self.notes.append)

    def _keep(self, call: Any) -> None:
        self.prompts.append(read_facts("\n".join(call.prompt)))

    def answer(self, seen: Sequence[Event] = (), attempt: int = 1) -> Answer:
        ask = Ask("Ann", "Lot A", 1, Amount(Decimal(1_000), Decimal(10_000)), attempt, "")
        answer = asyncio.run(GraphBidder(self.mind).act(ask, [*opening(), *seen]))
        assert answer is not None
        return answer

    def of(self, kind: type[Any]) -> list[Any]:
        return [note for note in self.notes if isinstance(note, kind)]


def opening() -> list[Event]:
    lots = tuple(Lot(name, Decimal(1_000)) for name in ("Lot A", "Lot B"))
    return [
        BidderSeated("Ann", Decimal(10_000), {}, "profit"),
        Signal("Ann", {lot.name: Decimal(2_200) for lot in lots}, noisy=True),
        SaleOpened(("Ann", "Ben"), lots, "true value"),
        ItemOpened("Lot A", Decimal(1_000), Decimal(100)),
    ]


@cache
def played(strategy: str) -> Result:
    """Hold a sale of the built-in model; it is the same every time."""
    return sale(strategy, SimulatedChat())


def sale(strategy: str, chat: SimulatedChat) -> Result:
    """Hold a sale of five houses between three minds with personas."""
    mind = {"strategy": strategy, "bidding": "call", "theory_of_mind": "inferred", "planning": "none"}
    bidders = [
        Bidder(name, persona=persona, model="mine", **mind)
        for name, persona in zip(("Ann", "Ben", "Cho"), PERSONAS, strict=True)
    ]
    auction = Auction(items=houses(5, 3, dict.fromkeys(PERSONAS, 1)), bidders=bidders)
    return auction.run(models={"mine": chat})


# ---------------------------------------------------------------- the bid follows the action


@pytest.mark.parametrize("action", ACTIONS)
def test_a_bid_follows_from_a_raise_and_a_withdrawal_from_a_quit(action):
    desk = Desk("on", Altered(fields={"strategy": action}))
    answer = desk.answer()
    assert isinstance(answer, Bid) == (action in "ABC")
    assert isinstance(answer, Withdraw) == (action in "DEF")
    assert [one.action for one in desk.of(Strategized)] == [action]
    assert [one.contradicts for one in desk.of(Decided)] == [False]


def test_the_action_its_reasons_and_what_is_expected_of_rivals_are_in_the_prompt_of_the_bid():
    desk = Desk("on", Altered(fields={"strategy": "B", "reasons": "let them pay"}), theory_of_mind="inferred")
    desk.answer([Predicted("Ann", "Lot A", (Prediction("Ben", 0.75, Decimal(1_800)),))])
    assert [prompt["task"] for prompt in desk.prompts] == ["strategize", "bid"]
    assert (desk.prompts[1]["strategy"], desk.prompts[1]["strategy_reasons"]) == ("B", "let them pay")
    row = {"rival": "Ben", "interest": 0.75, "limit": 1_800}
    assert [prompt["forecasts"] for prompt in desk.prompts] == [[row], [row]]


def test_without_a_strategy_no_prompt_speaks_of_one_and_no_decision_contradicts_it():
    desk = Desk("off", Altered(fields={"action": "withdraw", "amount": None}))
    assert desk.answer() == Withdraw()
    assert [prompt["task"] for prompt in desk.prompts] == ["bid"]
    assert not {"strategy", "strategy_reasons"} & set(desk.prompts[0])
    assert ([one.contradicts for one in desk.of(Decided)], desk.of(Strategized)) == ([False], [])


def test_an_action_of_an_earlier_call_is_not_taken_for_that_of_this_one():
    desk = Desk("on", Altered(fields={"strategy": "A"}))
    desk.answer([Strategized("Ann", "Lot A", 1, 1, "E", "earlier")], attempt=2)
    assert desk.prompts[1]["strategy"] == "A"
    assert [(one.attempt, one.action) for one in desk.of(Strategized)] == [(2, "A")]


# ---------------------------------------------------------------- contradictions


@pytest.mark.parametrize("strategy", ["on", "fused"])
@pytest.mark.parametrize(
    ("action", "words", "expected"),
    [
        ("A", {"action": "withdraw", "amount": None}, Withdraw()),
        ("E", {"action": "bid", "amount": 1_200}, Bid(Decimal(1_200))),
    ],
)
def test_a_contradicting_answer_counts_as_it_was_given(strategy, action, words, expected):
    desk = Desk(strategy, Altered(fields={"strategy": action, **words}))
    assert desk.answer() == expected
    assert [one.contradicts for one in desk.of(Decided)] == [True]


@pytest.mark.parametrize(
    ("said", "understood"), [("a", "A"), (" B", "B"), ("C) go on", "C"), ("D: save", "D"), ("e\nleave", "E")]
)
def test_an_action_is_understood_in_another_case_and_with_words_after_it(said, understood):
    desk = Desk("on", Altered(fields={"strategy": said}))
    desk.answer()
    assert [one.action for one in desk.of(Strategized)] == [understood]
    assert [call.outcome for call in desk.of(ModelCalled)] == ["ok", "ok"]


@pytest.mark.parametrize("letter", ["G", "", "AB", "Raise", "raise A", None])
def test_an_action_that_is_none_of_the_six_is_sent_back(letter):
    desk = Desk("on", Altered(fields={"strategy": letter}))
    with pytest.raises(Exception, match=r"the reply can't be used: 'strategy' is"):
        desk.answer()
    assert [call.outcome for call in desk.of(ModelCalled)] == ["unreadable"] * 3


def test_an_unreadable_fused_reply_is_a_failed_bid_and_leaves_no_action():
    desk = Desk("fused", Altered(fields={"strategy": "G"}))
    assert isinstance(desk.answer(), Unreadable)
    assert len(desk.prompts) == 1
    assert desk.of(Strategized) == desk.of(Decided) == []


# ---------------------------------------------------------------- one call or two


def test_a_strategy_costs_two_calls_a_bid_and_a_fused_one_a_single_call():
    made = {
        strategy: [call.purpose for call in of_type(played(strategy).log, ModelCalled)] for strategy in ("on", "fused")
    }
    assert made["on"].count("strategize") == made["on"].count("bid") > 20
    assert made["on"].count("fused") == 0
    assert {"strategize", "bid"} & {*made["fused"]} == set()
    assert made["fused"].count("fused") == made["on"].count("bid")


def test_fused_and_faithful_play_the_same_game_with_the_built_in_model_and_follow_their_actions():
    faithful, fused = played("on").log, played("fused").log
    assert of_type(faithful, ItemSold) == of_type(fused, ItemSold)
    assert strategies(faithful) == strategies(fused)
    assert agreement(faithful) == agreement(fused) == {"Ann": 1.0, "Ben": 1.0, "Cho": 1.0}


# ---------------------------------------------------------------- draining

prices = st.integers(1, 3_000)
rivals = st.lists(
    st.fixed_dictionaries(
        {"limit": st.integers(0, 4_000), "interest": st.floats(0, 1), "expected_interest_of_yours": st.floats(0, 1)}
    ),
    max_size=3,
).map(lambda rows: [{"rival": f"Rival {number}", **row} for number, row in enumerate(rows)])
calls_to_bid = st.fixed_dictionaries(
    {
        "minimum": prices,
        "budget": prices,
        "items": st.lists(
            st.fixed_dictionaries({"start": prices, "estimate": prices, "priority": st.integers(1, 3)}),
            min_size=1,
            max_size=4,
        ).map(lambda rows: [{"item": f"Lot {number}", **row} for number, row in enumerate(rows)]),
        "bids": st.lists(
            st.fixed_dictionaries({"round": st.integers(1, 3), "bidder": st.just("Rival 0"), "amount": prices}),
            max_size=3,
        ),
        "forecasts": rivals,
        "leader": st.sampled_from([None, "Rival 0", "Rival 1"]),
        "withdrawn": st.sets(st.sampled_from(["Rival 0", "Rival 1", "Rival 2"])).map(sorted),
    }
)


def about(call: dict[str, Any]) -> dict[str, Any]:
    call = {**call, "budget": max(call["minimum"], call["budget"])}  # nobody is asked that cannot pay
    stands = {"leader": "Ben", "withdrawn": []}
    return {"you": "Ann", "personas": [], "objective": "profit", "mean_estimate": 1_000, "plan": "", **stands, **call}


# Calls at which it is tempting to drain a leader: the price is near what the item is worth, and more is to come.
temptations = st.builds(
    lambda call, share, limit: {
        **call,
        "minimum": max(1, round(share * call["items"][0]["estimate"])),
        "items": [*call["items"], {"item": "Lot 9", "start": 10, "estimate": 3_000, "priority": 3}],
        "forecasts": [{"rival": "Rival 9", "limit": limit, "interest": 1}],
        "leader": "Rival 9",
    },
    calls_to_bid,
    st.floats(0.7, 1.1),
    st.integers(2_000, 9_000),
)


@settings(max_examples=300)
@given(st.one_of(calls_to_bid, temptations))
def test_no_rival_is_drained_beyond_what_the_item_is_worth_or_the_budget(call):
    facts = about(call)
    reply = reply_to({"task": "fused", **facts}, Simulated(), stream(0, "any"))
    event(reply["strategy"])
    if reply["strategy"] == "B":
        assert reply["amount"] <= min(facts["budget"], worth(facts["items"][0]["estimate"], 0.5))
        assert facts["leader"] in {rival["rival"] for rival in facts["forecasts"]} - {*facts["withdrawn"]}
        assert len(facts["items"]) > 1


@settings(max_examples=100)
@given(calls_to_bid)
def test_the_action_is_the_same_whether_it_is_fused_or_not(call):
    facts = about(call)
    alone = reply_to({"task": "strategize", **facts}, Simulated(), stream(0, "any"))
    fused = reply_to({"task": "fused", **facts}, Simulated(), stream(0, "any"))
    followed = reply_to({"task": "bid", "strategy": alone["strategy"], **facts}, Simulated(), stream(0, "any"))
    assert alone["strategy"] == fused["strategy"]
    assert (followed["action"], followed["amount"]) == (fused["action"], fused["amount"])


# The first of two equal items: up to $1,100 it is worth its price, so is the second; $1,000 is enough for one of them.
TEMPTING = {
    "minimum": 950,
    "budget": 1_000,
    "items": [{"item": f"Lot {number}", "start": 500, "estimate": 1_100, "priority": 2} for number in (1, 2)],
    "bids": [{"round": 1, "bidder": "Ben", "amount": 900}],
}


def action(**more: Any) -> str:
    return str(reply_to({"task": "strategize", **about({**TEMPTING, **more})}, Simulated(), stream(0, "x"))["strategy"])


def rival(limit: int) -> dict[str, Any]:
    return {"rival": "Ben", "limit": limit, "interest": 0.9}


def test_the_order_in_which_the_bids_of_a_round_are_listed_does_not_change_the_action():
    bids = [{"round": 1, "bidder": name, "amount": amount} for name, amount in (("Ben", 900), ("Cho", 700))]
    assert action(forecasts=[rival(1_150)], bids=bids) == action(forecasts=[rival(1_150)], bids=bids[::-1]) == "B"


LAST = {"items": TEMPTING["items"][:1]}
KEEN = {"forecasts": [rival(1_400)]}
CHOSEN = {
    "a leader that will probably raise again": (KEEN, "B"),
    "nobody expected": ({"forecasts": []}, "D"),
    "a leader at its limit": ({"forecasts": [rival(950)]}, "ACDEF"),
    "not surely": ({"forecasts": [rival(1_100)]}, "ACDEF"),
    "another leads": ({**KEEN, "leader": "Cho"}, "F"),
    "gone": ({**KEEN, "withdrawn": ["Ben"]}, "ACDEF"),
    "last item": ({**KEEN, **LAST, "budget": 960, "minimum": 955}, "ACDEF"),
    "above worth": ({"forecasts": [rival(5_000)], "minimum": 1_105, "budget": 5_000}, "DEF"),
    "no margin": ({"forecasts": [], "minimum": 1_105, "budget": 5_000}, "E"),
    "top priority": ({"forecasts": [], "minimum": 600, "items": [{**LAST["items"][0], "priority": 3}]}, "A"),
    "lower priority": ({"forecasts": [], "minimum": 600, **LAST}, "C"),
}


@pytest.mark.parametrize(("stands", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_a_leader_is_drained_only_if_it_will_raise_again_and_other_actions_follow_worth_money_and_priority(
    stands, expected
):
    assert action(**stands) in expected
