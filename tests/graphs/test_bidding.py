"""Bidding by limit, asked for once an item, and by one of six strategic actions, chosen before each bid."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args
from unittest.mock import ANY

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Auction, Bidder, Item, ModelSettings, Result, Simulated, SimulatedChat, houses, read_log, resume
from harbor._cli.shared.files import load
from harbor._config.thinking import MindSettings
from harbor._core.asking.asks import Answer, Unreadable
from harbor._core.log.thoughts import Decided, LimitSet, Predicted, Prediction, StrategicAction, Strategized
from harbor._games.english.events import ItemOpened, ItemSold, PriceLowered, RoundClosed
from harbor._games.english.facts import bidding_on
from harbor._games.english.valuation import worth
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import read_facts, reply_to
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._metrics.calls import calls
from harbor.evaluation._metrics.strategy import agreement, strategies
from harbor.events import Acted, BidderSeated, Lot, ModelCalled, PublicEvent, SaleOpened, SeatFailed, Signal, Tried
from harbor.games import Amount, Ask, Bid, Event, Withdraw, of_type, stream
from harbor.graphs._context.context import BidderContext
from harbor.graphs._nodes.bid import within
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.testing._playing import equal
from support.breaking import Broken, breaking
from support.folders import calls as calls_in

LOTS = tuple(Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "ABC")
ACTIONS = get_args(StrategicAction)
dollars = st.decimals(0, 5_000, places=2)


def test_a_bidder_goes_by_limit_unless_a_setting_or_the_game_asks_for_calls():
    for game, mind, way in (
        ("english", {}, "limit"),
        ("english", {"theory_of_mind": "second", "rivals": "together", "reply": "json"}, "limit"),
        ("english", {"bidding": "call"}, "call"),
        ("english", {"strategy": "on"}, "call"),
        ("english", {"context": "dialogue"}, "call"),
        ("english", {"reply": "text"}, "call"),
        ("english", {"protocol": "aucarena", "reply": "tool", "context": "fresh"}, "call"),
        ("english", {"nodes": ("reflect",)}, "call"),
        ("english", {"rule": "rational"}, "call"),
        ("second-price", {}, "call"),
    ):
        rivals = [Bidder(name, rule="rational") for name in ("Bob", "Cindy", "David", "Eric")]
        auction = Auction(rules={"game": game}, bidders=[Bidder("Alex", **mind), *rivals])
        assert auction.bidders[0].bidding == way
        again = Auction.model_validate(auction.model_dump())
        assert again == auction


def test_a_mind_outside_an_auction_goes_by_call_where_a_game_has_no_words_for_limits():
    mind = BidderContext.of(Bidder("Ann"), SimulatedChat(), game="second-price")
    assert "bid" in GraphBidder(mind).graph.nodes


class Altered(SimulatedChat):
    """Plays like the built-in model, but for these fields of a reply that has them, or the next of several limits."""

    fields: dict[str, Any]

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            for name in self.fields.keys() & call["args"].keys():
                said = self.fields[name]
                call["args"][name] = next(said, None) if isinstance(said, Iterator) else said
        return result


class Desk:
    """A mind, what it was asked, and everything that comes out of it."""

    def __init__(self, fields: dict[str, Any] | None = None, **mind: Any) -> None:
        self.notes: list[Event] = []
        self.prompts: list[dict[str, Any]] = []
        note, keep = self.notes.append, lambda call: self.prompts.append(read_facts("\n".join(call.prompt)))
        model = ModelClient("Ann", "model", Altered(fields=fields or {}), ModelSettings(), note, keep)
        self.mind = BidderContext(model, MindSettings(**{"planning": "none", "bidding": "call", **mind}), lambda: note)

    def answer(self, seen: Sequence[Event] = (), least: int = 1_000, attempt: int = 1, refusal: str = "") -> Answer:
        ask = Ask("Ann", "Lot A", 1, Amount(Decimal(least), Decimal(10_000)), attempt, refusal)
        answer = asyncio.run(GraphBidder(self.mind).act(ask, [*opening(), *seen]))
        assert answer is not None
        return answer

    def of(self, kind: type[Any]) -> list[Any]:
        return [note for note in self.notes if isinstance(note, kind)]

    @property
    def asked(self) -> list[str]:
        return [f"{note.purpose}: {note.outcome}" for note in self.of(ModelCalled)]


def by_limit(limit: Any) -> Desk:
    return Desk({"limit": limit}, bidding="limit", theory_of_mind="inferred")


def opening() -> list[Event]:
    lots = tuple(Lot(lot.name, lot.start) for lot in LOTS)
    return [
        BidderSeated("Ann", Decimal(10_000), {}, "profit"),
        Signal("Ann", {lot.name: Decimal(2_200) for lot in lots}, noisy=True),
        SaleOpened(("Ann", "Ben"), lots, "true value"),
        Predicted("Ann", "Lot A", (Prediction("Ben", 0.5, Decimal(1_100)),)),
        ItemOpened("Lot A", Decimal(1_000), Decimal(100)),
    ]


def limit_of(dollars: int | None) -> LimitSet:
    return LimitSet("Ann", "Lot A", 1, 1, "so", None if dollars is None else Decimal(dollars))


def sale(bidding: str, mood: Simulated | None = None, rules: Any = None, **mind: Any) -> Result:
    """Hold a sale of five houses between three minds with personas, with little money, so that plans matter."""
    held = {"Ann": "urban-dwellers", "Ben": "rural-home-seekers", "Cho": "eco-conscious-buyers"}
    minds = [Bidder(name, persona=one, bidding=bidding, budget=900_000, **mind) for name, one in held.items()]
    models = {"simulated": ModelSettings(simulated=mood or Simulated())}
    items = houses(5, 3, dict.fromkeys(held.values(), 1))
    return Auction(seed=3, items=items, bidders=minds, rules=rules or {}, models=models).run()


def public(result: Result) -> list[Event]:
    return [entry.event for entry in result.log if isinstance(entry.event, PublicEvent)]


# ---------------------------------------------------------------- what a limit allows


@given(st.none() | dollars, dollars, dollars)
def test_what_is_bid_is_the_minimum_and_never_above_the_limit_or_the_budget(limit, least, budget):
    answer = within(limit, Ask("Ann", "Lot A", 1, Amount(least, budget)))
    if isinstance(answer, Bid):
        assert limit is not None
        assert answer.amount == least <= min(limit, budget)
    else:
        assert answer == Withdraw()
        assert limit is None or least > min(limit, budget)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.none() | st.integers(0, 4_000), max_size=9), st.sampled_from([0, 2]), st.integers(1_000, 6_000))
def test_in_a_whole_sale_each_item_costs_one_call_and_no_bid_is_above_its_limit(limits, lowerings, budget):
    bidders = [Bidder(name, bidding="limit", planning="none", model="mine", budget=budget) for name in ("Ann", "Ben")]
    auction = Auction(items=LOTS, bidders=bidders, rules={"lowerings": lowerings})
    log = auction.run(models={"mine": Altered(fields={"limit": iter(limits)})}).log
    assert of_type(log, Tried) == of_type(log, SeatFailed) == of_type(log, Decided) == []
    asked, offers = Counter[str](), 0
    standing: dict[str, LimitSet] = {}
    for entry in log:
        match entry.event:
            case ItemOpened() | PriceLowered():
                offers, standing = offers + 1, {}
            case LimitSet() as made:
                assert made.bidder not in standing
                standing[made.bidder] = made
                asked[made.bidder] += 1
            case Acted(bidder=bidder, act=Bid(amount=amount)):
                assert amount <= min(standing[bidder].limit or 0, budget)
    event(f"{offers} offers, {asked.total()} limits")
    assert [call.purpose for call in of_type(log, ModelCalled)].count("limit") == asked.total()
    assert max(asked.values(), default=0) <= offers


# ---------------------------------------------------------------- when the model is asked


def test_the_first_call_on_an_item_asks_for_a_limit_and_bids_the_minimum():
    desk = by_limit("$1,500.50")
    assert desk.answer() == Bid(Decimal(1_000))
    assert desk.of(LimitSet) == [LimitSet("Ann", "Lot A", 1, 1, ANY, Decimal("1500.50"))]


LED = [Acted("Ben", "Lot A", Bid(Decimal(4_000))), RoundClosed("Lot A", 1, "Ben", Decimal(4_000))]
LOWERED = [Acted("Ann", "Lot A", Withdraw()), PriceLowered("Lot A", Decimal(500), Decimal(50))]
ASKED = {  # the limit that the model would set, and what was seen of the item before; what is asked, and the answer
    "within the limit": (9, [limit_of(1_500)], {"least": 1_500}, Bid(Decimal(1_500)), False),
    "above the limit": (9_000, [limit_of(1_500)], {"least": 1_501}, Withdraw(), False),
    "above all forecasts": (9, [limit_of(5_000), *LED], {"least": 4_100}, Bid(Decimal(4_100)), False),
    "a lower price": (700, [limit_of(None), *LOWERED], {"least": 500}, Bid(Decimal(500)), True),
    "refused": (1_200, [limit_of(1_500)], {"least": 1_300, "attempt": 2, "refusal": "not so"}, Withdraw(), True),
    "no limit": (None, [], {}, Withdraw(), True),
}


@pytest.mark.parametrize(("limit", "seen", "asks", "answer", "asked"), ASKED.values(), ids=ASKED)
def test_a_limit_answers_all_later_calls_until_a_lower_price_or_a_refusal_asks_anew(limit, seen, asks, answer, asked):
    desk = by_limit(limit)
    assert desk.answer(seen, **asks) == answer
    assert desk.asked == ["limit: ok"] * asked


@pytest.mark.parametrize("limit", ["-$5", "a lot", "NaN", [1_000], True, 10**16])
def test_a_limit_that_is_no_amount_is_a_failed_bid_and_sets_none(limit):
    desk = by_limit(limit)
    assert isinstance(desk.answer(), Unreadable)
    assert (desk.asked, desk.of(LimitSet)) == (["limit: unreadable"], [])


def test_a_failed_bid_is_asked_again_and_costs_no_more_calls_than_it_has_attempts():
    bidders = [Bidder(name, bidding="limit", planning="none") for name in ("Ann", "Ben", "Cho")]
    models = {"simulated": ModelSettings(simulated=Simulated(unreadable_rate=0.5))}
    log = Auction(items=LOTS, bidders=bidders, models=models, rules={"reasks": 5}).run().log
    made = [call for call in of_type(log, ModelCalled) if call.purpose == "limit"]
    failed = of_type(log, Tried)
    assert failed
    assert len(made) == len(of_type(log, LimitSet)) + len(failed)
    assert {(one.bidder, one.item, one.round) for one in failed} & {
        (one.bidder, one.item, one.round) for one in of_type(log, LimitSet) if one.attempt > 1
    }


# ---------------------------------------------------------------- the built-in model


def test_by_limit_the_built_in_model_plays_the_sale_that_it_plays_call_by_call():
    for mind, policy in (
        ({"planning": "none"}, "minimum"),
        ({"chain_of_thought": False, "objective": "items"}, "judge"),
        ({"theory_of_mind": "second"}, "judge"),
    ):
        mood = Simulated(policy=policy, limit_share=0.45)
        by_call, limited = (sale(bidding, mood, rules={"lowerings": 2}, **mind) for bidding in ("call", "limit"))
        assert public(by_call) == public(limited)
        assert [*bids(limited.log)]
        assert limited.metrics().calls.count < by_call.metrics().calls.count


def rows(kind: str, least: int, most: int, **fields: Any) -> Any:
    """Draw lists of rows with these fields, each named by its number."""
    drawn = st.lists(st.fixed_dictionaries(fields), min_size=least, max_size=most)
    return drawn.map(lambda found: [{kind: f"{kind.title()} {number}", **row} for number, row in enumerate(found)])


facts_of_calls = st.fixed_dictionaries(
    {
        "minimum": dollars,
        "budget": dollars,
        "items_finished": st.integers(0, 3),
        "objective": st.sampled_from(["profit", "items", "win Item 1"]),
        "items": rows("item", 1, 4, start=st.integers(1, 3_000), estimate=st.decimals(1, 5_000, places=2)),
    }
)


@settings(max_examples=300)
@given(facts_of_calls, st.lists(dollars, max_size=5), st.sampled_from(["judge", "minimum"]))
def test_the_limit_of_the_built_in_model_is_where_its_bids_would_end(facts, raises, policy):
    known = {"you": "Ann", "personas": [], "mean_estimate": 1_000, **facts}
    mood = Simulated(policy=policy)
    limit = reply_to({"task": "limit", **known}, mood, stream(0, "any"))["limit"]
    for least in [facts["minimum"], *(facts["minimum"] + more for more in raises)]:
        alone = reply_to({"task": "bid", **known, "minimum": least}, mood, stream(0, "any"))["action"]
        event(alone)
        assert (alone == "bid") == (limit is not None and least <= Decimal(str(limit)))


def test_the_standard_sale_by_limit_takes_at_most_100_calls_and_a_chain_of_at_most_40():
    standard = load("standard")
    bidders = [bidder.model_copy(update={"bidding": "limit"}) for bidder in standard.bidders]
    used = calls(Auction(**{**dict(standard), "bidders": bidders}).run().log)
    assert used.count <= 100
    assert used.chain <= 40


# ---------------------------------------------------------------- with everything else


def test_the_reasons_of_a_limit_are_remembered_as_those_of_the_decision():
    bidding = bidding_on(GraphBidder(Desk().mind)._view.after([*opening(), limit_of(1_500)]).part)
    assert bidding is not None
    assert bidding.reasons == "so"


@pytest.mark.parametrize("last", ["LimitSet", "RoundClosed"])
def test_a_run_that_is_resumed_asks_for_no_limit_again(tmp_path, last):
    bidders = [Bidder(name, bidding="limit", model="mine") for name in ("Ann", "Ben")]
    auction, given = Auction(items=LOTS, bidders=bidders, models={"mine": {}}), {"mine": SimulatedChat()}
    whole = auction.run(models=given)
    crash = breaking(lambda entry: type(entry.event).__name__ == last)
    with pytest.raises(Broken):
        auction.run(out=tmp_path / "run", models=given, listen=crash)
    assert any(call["purpose"] == "limit" for call in calls_in(tmp_path / "run"))
    equal(whole.log, resume(tmp_path / "run", models=given).log)
    assert {*Counter(tuple(call["prompt"]) for call in calls_in(tmp_path / "run")).values()} == {1}
    assert read_log(tmp_path / "run" / "events.jsonl").complete


# ---------------------------------------------------------------- the bid follows the strategic action


@pytest.mark.parametrize("action", ACTIONS)
def test_a_bid_follows_from_a_raise_and_a_withdrawal_from_a_quit(action):
    desk = Desk({"strategy": action}, strategy="on")
    answer = desk.answer()
    assert isinstance(answer, Bid) == (action in "ABC")
    assert isinstance(answer, Withdraw) == (action in "DEF")
    assert [one.action for one in desk.of(Strategized)] == [action]
    assert [one.contradicts for one in desk.of(Decided)] == [False]


def test_the_action_its_reasons_and_what_is_expected_of_rivals_are_in_the_prompt_of_the_bid_and_no_earlier_action():
    desk = Desk({"strategy": "B", "reasons": "let them pay"}, strategy="on", theory_of_mind="inferred")
    forecast = Predicted("Ann", "Lot A", (Prediction("Ben", 0.75, Decimal(1_800)),))
    desk.answer([forecast, Strategized("Ann", "Lot A", 1, 1, "E", "earlier")], attempt=2)
    assert [prompt["task"] for prompt in desk.prompts] == ["strategize", "bid"]
    assert (desk.prompts[1]["strategy"], desk.prompts[1]["strategy_reasons"]) == ("B", "let them pay")
    assert [(one.attempt, one.action) for one in desk.of(Strategized)] == [(2, "B")]
    row = {"rival": "Ben", "interest": 0.75, "limit": 1_800}
    assert [prompt["forecasts"] for prompt in desk.prompts] == [[row], [row]]


def test_without_a_strategy_no_prompt_speaks_of_one_and_no_decision_contradicts_it():
    desk = Desk({"action": "withdraw", "amount": None})
    assert desk.answer() == Withdraw()
    assert [prompt["task"] for prompt in desk.prompts] == ["bid"]
    assert not {"strategy", "strategy_reasons"} & set(desk.prompts[0])
    assert ([one.contradicts for one in desk.of(Decided)], desk.of(Strategized)) == ([False], [])


# ---------------------------------------------------------------- contradictions


@pytest.mark.parametrize("strategy", ["on", "fused"])
def test_a_contradicting_answer_counts_as_it_was_given(strategy):
    withdraws, bids_on = {"action": "withdraw", "amount": None}, {"action": "bid", "amount": 1_200}
    for action, words, expected in (("A", withdraws, Withdraw()), ("E", bids_on, Bid(Decimal(1_200)))):
        desk = Desk({"strategy": action, **words}, strategy=strategy)
        assert desk.answer() == expected
        assert [one.contradicts for one in desk.of(Decided)] == [True]


def test_an_action_is_understood_in_another_case_and_with_words_after_it():
    for said, understood in (("a", "A"), (" B", "B"), ("C) go on", "C"), ("D: save", "D"), ("e\nleave", "E")):
        desk = Desk({"strategy": said}, strategy="on")
        desk.answer()
        assert [one.action for one in desk.of(Strategized)] == [understood]
        assert [call.outcome for call in desk.of(ModelCalled)] == ["ok", "ok"]


@pytest.mark.parametrize("letter", ["G", "", "AB", "Raise", "raise A", None])
def test_an_action_that_is_none_of_the_six_is_sent_back(letter):
    desk = Desk({"strategy": letter}, strategy="on")
    with pytest.raises(Exception, match=r"the reply can't be used: 'strategy' is"):
        desk.answer()
    assert [call.outcome for call in desk.of(ModelCalled)] == ["unreadable"] * 3


def test_an_unreadable_fused_reply_is_a_failed_bid_and_leaves_no_action():
    desk = Desk({"strategy": "G"}, strategy="fused")
    assert isinstance(desk.answer(), Unreadable)
    assert len(desk.prompts) == 1
    assert desk.of(Strategized) == desk.of(Decided) == []


# ---------------------------------------------------------------- one call or two


def test_a_strategy_costs_two_calls_a_bid_and_a_fused_one_a_single_call_in_the_same_game():
    mind = {"theory_of_mind": "inferred", "planning": "none"}
    faithful, fused = (sale("call", strategy=strategy, **mind).log for strategy in ("on", "fused"))
    two, one = (Counter(call.purpose for call in of_type(log, ModelCalled)) for log in (faithful, fused))
    assert two["strategize"] == two["bid"] == one["fused"] > 20
    assert two["fused"] == one["strategize"] == one["bid"] == 0
    assert of_type(faithful, ItemSold) == of_type(fused, ItemSold)
    assert strategies(faithful) == strategies(fused)
    assert agreement(faithful) == agreement(fused) == {"Ann": 1.0, "Ben": 1.0, "Cho": 1.0}


# ---------------------------------------------------------------- draining

prices, share = st.integers(1, 3_000), st.floats(0, 1)
calls_to_bid = st.fixed_dictionaries(
    {
        "minimum": prices,
        "budget": prices,
        "items": rows("item", 1, 4, start=prices, estimate=prices, priority=st.integers(1, 3)),
        "bids": rows("bidder", 0, 3, round=st.integers(1, 3), bidder=st.just("Rival 0"), amount=prices),
        "forecasts": rows("rival", 0, 3, limit=st.integers(0, 4_000), interest=share, expected_interest_of_yours=share),
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
ROW = {"item": "Lot 1", "start": 500, "estimate": 1_100, "priority": 2}
TEMPTING = {"minimum": 950, "budget": 1_000, "items": [ROW, {**ROW, "item": "Lot 2"}]}


def action(**more: Any) -> str:
    call = {**TEMPTING, "bids": [{"round": 1, "bidder": "Ben", "amount": 900}], **more}
    return str(reply_to({"task": "strategize", **about(call)}, Simulated(), stream(0, "x"))["strategy"])


def rival(limit: int) -> dict[str, Any]:
    return {"rival": "Ben", "limit": limit, "interest": 0.9}


def test_the_order_in_which_the_bids_of_a_round_are_listed_does_not_change_the_action():
    bids = [{"round": 1, "bidder": name, "amount": amount} for name, amount in (("Ben", 900), ("Cho", 700))]
    assert action(forecasts=[rival(1_150)], bids=bids) == action(forecasts=[rival(1_150)], bids=bids[::-1]) == "B"


KEEN = {"forecasts": [rival(1_400)]}
CHOSEN = {
    "a leader that will probably raise again": (KEEN, "B"),
    "nobody expected": ({"forecasts": []}, "D"),
    "a leader at its limit": ({"forecasts": [rival(950)]}, "ACDEF"),
    "not surely": ({"forecasts": [rival(1_100)]}, "ACDEF"),
    "another leads": ({**KEEN, "leader": "Cho"}, "F"),
    "gone": ({**KEEN, "withdrawn": ["Ben"]}, "ACDEF"),
    "last item": ({**KEEN, "items": [ROW], "budget": 960, "minimum": 955}, "ACDEF"),
    "above worth": ({"forecasts": [rival(5_000)], "minimum": 1_105, "budget": 5_000}, "DEF"),
    "no margin": ({"forecasts": [], "minimum": 1_105, "budget": 5_000}, "E"),
    "top priority": ({"forecasts": [], "minimum": 600, "items": [{**ROW, "priority": 3}]}, "A"),
    "lower priority": ({"forecasts": [], "minimum": 600, "items": [ROW]}, "C"),
}


@pytest.mark.parametrize(("stands", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_a_leader_is_drained_only_if_it_will_raise_again_and_other_actions_follow_worth_money_and_priority(
    stands, expected
):
    assert action(**stands) in expected
