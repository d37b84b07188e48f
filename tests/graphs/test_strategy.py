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
from harbor._core.log.acts import Signal, Tried
from harbor._core.log.events import BidderSeated, Event, Lot, ModelCalled, SeatFailed
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import RAISING, Decided, Predicted, Prediction, StrategicAction, Strategized
from harbor._games.english.events import ItemOpened, ItemSold, SaleOpened
from harbor._games.english.valuation import worth
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import read_facts, reply_to
from harbor.evaluation._metrics.calls import calls
from harbor.evaluation._metrics.strategy import agreement, strategies
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.personas._catalog.traits import fit

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


class Contrary(SimulatedChat):
    """Chooses like the built-in model, and then withdraws where it should bid, and bids where it should withdraw."""

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        least = read_facts("\n".join(str(message.content) for message in messages)).get("minimum")
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            if "amount" in call["args"]:
                bids = call["args"]["action"] == "bid"
                call["args"].update(action="withdraw" if bids else "bid", amount=None if bids else least)
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
def played(strategy: str, **more: Any) -> Result:
    """Hold a sale of the built-in model; it is the same every time."""
    return sale(strategy, SimulatedChat(), **more)


def sale(strategy: str, chat: SimulatedChat, theory_of_mind: str = "inferred", **more: Any) -> Result:
    """Hold a sale of five houses between three minds with personas."""
    bidders = [
        Bidder(
            name,
            persona=persona,
            model="mine",
            strategy=strategy,
            bidding="call",
            theory_of_mind=theory_of_mind,
            **{"planning": "none", **more},
        )
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


def test_three_actions_raise_and_three_quit():
    assert sorted(RAISING) == ["A", "B", "C"]
    assert sorted({*ACTIONS} - RAISING) == ["D", "E", "F"]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["on", "fused"])
def test_the_built_in_model_always_follows_its_action(strategy):
    log = played(strategy).log
    chosen = {(one.bidder, one.item, one.round, one.attempt): one.action for one in of_type(log, Strategized)}
    decided = of_type(log, Decided)
    assert len(decided) == len(chosen) > 20
    for one in decided:
        action = chosen[one.bidder, one.item, one.round, one.attempt]
        assert (action in RAISING) == (one.amount is not None)
        assert not one.contradicts
    assert agreement(log) == {"Ann": 1.0, "Ben": 1.0, "Cho": 1.0}


def test_the_action_and_its_reasons_are_in_the_prompt_of_the_bid():
    desk = Desk("on", Altered(fields={"strategy": "B", "reasons": "let them pay"}))
    desk.answer()
    assert [prompt["task"] for prompt in desk.prompts] == ["strategize", "bid"]
    assert (desk.prompts[1]["strategy"], desk.prompts[1]["strategy_reasons"]) == ("B", "let them pay")


def test_without_a_strategy_no_prompt_speaks_of_one():
    desk = Desk("off")
    desk.answer()
    assert [prompt["task"] for prompt in desk.prompts] == ["bid"]
    assert not {"strategy", "strategy_reasons"} & set(desk.prompts[0])
    assert desk.of(Strategized) == []


def test_an_action_of_an_earlier_call_is_not_taken_for_that_of_this_one():
    desk = Desk("on", Altered(fields={"strategy": "A"}))
    desk.answer([Strategized("Ann", "Lot A", 1, 1, "E", "earlier")], attempt=2)
    assert desk.prompts[1]["strategy"] == "A"
    assert [(one.attempt, one.action) for one in desk.of(Strategized)] == [(2, "A")]


# ---------------------------------------------------------------- contradictions


@pytest.mark.parametrize("strategy", ["on", "fused"])
def test_a_bid_that_contradicts_its_action_is_recorded_and_counted(strategy):
    log = sale(strategy, Contrary()).log
    chosen = {(one.bidder, one.item, one.round, one.attempt): one.action for one in of_type(log, Strategized)}
    decided = of_type(log, Decided)
    assert decided
    for one in decided:
        assert (chosen[one.bidder, one.item, one.round, one.attempt] in RAISING) == (one.amount is None)
    assert all(one.contradicts for one in decided)
    assert set(agreement(log).values()) == {0.0}


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


def test_a_decision_without_a_strategy_contradicts_nothing():
    log = sale("off", Contrary()).log
    assert of_type(log, Decided)
    assert not any(one.contradicts for one in of_type(log, Decided))
    assert agreement(log) == {}


@pytest.mark.parametrize(
    ("said", "understood"),
    [("a", "A"), ("A raise", "A"), (" B", "B"), ("b.", "B"), ("C) go on", "C"), ("D: save", "D"), ("e\nleave", "E")],
)
def test_an_action_is_understood_in_another_case_and_with_words_after_it(said, understood):
    desk = Desk("on", Altered(fields={"strategy": said}))
    desk.answer()
    assert [one.action for one in desk.of(Strategized)] == [understood]
    assert [call.outcome for call in desk.of(ModelCalled)] == ["ok", "ok"]


@pytest.mark.parametrize("letter", ["G", "g", "", " ", "AB", "Raise", "raise A", "1", None, 1])
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


def test_a_bidder_whose_strategy_cannot_be_read_withdraws_and_the_sale_goes_on():
    log = sale("on", Altered(fields={"strategy": "G"})).log
    assert {failed.kind for failed in of_type(log, SeatFailed)} == {"error"}
    assert {opened.item for opened in of_type(log, ItemOpened)} == {
        lot.name for opened in of_type(log, SaleOpened) for lot in opened.lots
    }


# ---------------------------------------------------------------- one call or two


def test_a_strategy_costs_two_calls_a_bid_and_a_fused_one_a_single_call():
    made = {
        strategy: [call.purpose for call in of_type(played(strategy).log, ModelCalled)] for strategy in ("on", "fused")
    }
    assert made["on"].count("strategize") == made["on"].count("bid") > 20
    assert made["on"].count("fused") == 0
    assert {"strategize", "bid"} & {*made["fused"]} == set()
    assert made["fused"].count("fused") == made["on"].count("bid")


def test_fusing_halves_the_chain_of_a_bid():
    bidders = [Bidder("Ann", strategy="on", planning="none"), Bidder("Ben", rule="minimum-raise")]
    latent = ModelSettings(simulated=Simulated())
    chains = {}
    for strategy in ("on", "fused"):
        fused = [bidders[0].model_copy(update={"strategy": strategy}), bidders[1]]
        log = Auction(items=houses(3, 3), bidders=fused, models={"simulated": latent}).run().log
        believed = [call for call in of_type(log, ModelCalled) if call.purpose == "believe"]
        chains[strategy] = calls(log).chain - len(believed)
    assert chains["on"] == 2 * chains["fused"] > 0


def test_fused_and_faithful_play_the_same_game_with_the_built_in_model():
    faithful, fused = played("on").log, played("fused").log
    assert of_type(faithful, ItemSold) == of_type(fused, ItemSold)
    assert strategies(faithful) == strategies(fused)


def test_every_attempt_has_an_action_of_its_own():
    log = sale("fused", SimulatedChat(settings=Simulated(low_bid_rate=0.3))).log
    assert of_type(log, Tried)
    chosen = [(one.bidder, one.item, one.round, one.attempt) for one in of_type(log, Strategized)]
    assert len(set(chosen)) == len(chosen)
    assert {attempt for *_, attempt in chosen} >= {1, 2}


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


def test_a_leader_that_will_probably_raise_again_is_drained():
    assert action(forecasts=[rival(1_400)]) == "B"


def test_the_order_in_which_the_bids_of_a_round_are_listed_does_not_change_the_action():
    bids = [{"round": 1, "bidder": name, "amount": amount} for name, amount in (("Ben", 900), ("Cho", 700))]
    assert action(forecasts=[rival(1_150)], bids=bids) == action(forecasts=[rival(1_150)], bids=bids[::-1]) == "B"


@pytest.mark.parametrize(
    "stands",
    [
        {"forecasts": []},
        {"forecasts": [rival(950)]},
        {"forecasts": [rival(1_100)]},
        {"forecasts": [rival(1_400)], "leader": "Cho"},
        {"forecasts": [rival(1_400)], "withdrawn": ["Ben"]},
    ],
    ids=["nobody", "at its limit", "not surely", "not leading", "gone"],
)
def test_nobody_is_drained_that_would_not_raise_again(stands):
    assert action(**stands) != "B"


def test_nobody_is_drained_on_the_last_item():
    assert action(forecasts=[rival(1_400)], items=TEMPTING["items"][:1], budget=960, minimum=955) != "B"


def test_nobody_is_drained_above_what_the_item_is_worth():
    assert action(forecasts=[rival(5_000)], minimum=1_105, budget=5_000) in "DEF"


def test_a_rival_that_would_go_further_is_left_to_win():
    assert action(forecasts=[rival(1_400)], leader="Cho") == "F"


def test_money_that_is_worth_more_later_is_saved():
    assert action(forecasts=[]) == "D"


def test_what_leaves_no_margin_is_left():
    assert action(forecasts=[], minimum=1_105, budget=5_000) == "E"


@pytest.mark.parametrize(("priority", "expected"), [(3, "A"), (2, "C"), (1, "C")])
def test_a_raise_within_the_limit_is_a_for_a_top_priority_and_c_for_others(priority, expected):
    items = [{**TEMPTING["items"][0], "priority": priority}]
    assert action(forecasts=[], items=items, minimum=600) == expected


def test_in_a_sale_nobody_is_drained_beyond_what_the_house_is_worth():
    log = played("on", planning="adaptive").log
    seated = {one.bidder: one for one in of_type(log, BidderSeated)}
    told = {one.bidder: one.values for one in of_type(log, Signal)}
    listing = {lot.name: lot.listing for opened in of_type(log, SaleOpened) for lot in opened.lots}
    drained = {(one.bidder, one.item, one.round) for one in of_type(log, Strategized) if one.action == "B"}
    bids = [one for one in of_type(log, Decided) if (one.bidder, one.item, one.round) in drained]
    assert bids
    for bid in bids:
        knows = seated[bid.bidder]
        suits = fit(knows.personas, listing[bid.item])
        assert bid.amount is not None
        assert bid.amount <= min(float(knows.budget), worth(float(told[bid.bidder][bid.item]), suits))


def test_what_is_expected_of_rivals_is_in_the_prompts_of_action_and_bid():
    desk = Desk("on", theory_of_mind="inferred")
    expected = Predicted("Ann", "Lot A", (Prediction("Ben", 0.75, Decimal(1_800)),))
    desk.answer([expected])
    row = {"rival": "Ben", "interest": 0.75, "limit": 1_800}
    assert [prompt["forecasts"] for prompt in desk.prompts] == [[row], [row]]


def test_a_strategy_needs_no_theory_of_mind():
    result = played("on", theory_of_mind="none")
    counts = strategies(result.log)
    assert set(counts) == {"Ann", "Ben", "Cho"}
    assert all("B" not in count for count in counts.values())
