"""Bidding by limit: asked once per item, then raised for by the minimum, up to the limit and within the budget."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Auction, Bidder, ModelSettings, Result, Simulated, SimulatedChat, houses, resume
from harbor._cli.shared.files import load
from harbor._config.auction import Item, MindSettings, check
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Answer, Ask, Bid, Unreadable, Withdraw
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Acted, Signal, Tried
from harbor._core.log.events import BidderSeated, Event, Lot, ModelCalled, PublicEvent, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._core.log.thoughts import Decided, LimitSet, Predicted, Prediction
from harbor._games.english.events import ItemOpened, PriceLowered, RoundClosed, SaleOpened
from harbor._games.english.facts import bidding_on
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import reply_to
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._metrics.calls import calls
from harbor.evaluation._rating.transcript import rateables
from harbor.graphs._context.context import BidderContext
from harbor.graphs._nodes.bid import within
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.testing._playing import equal
from support.breaking import Broken, breaking

PERSONAS = ("urban-dwellers", "rural-home-seekers", "eco-conscious-buyers")
LOTS = tuple(Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "ABC")
dollars = st.decimals(0, 5_000, places=2)


@pytest.mark.parametrize(
    ("game", "mind", "way"),
    [
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
    ],
)
def test_a_bidder_goes_by_limit_unless_a_setting_or_the_game_asks_for_calls(game, mind, way):
    rivals = [Bidder(name, rule="rational") for name in ("Bob", "Cindy", "David", "Eric")]
    auction = Auction(rules={"game": game}, bidders=[Bidder("Alex", **mind), *rivals])
    assert auction.bidders[0].bidding == way
    again = Auction.model_validate(auction.model_dump())
    assert again == auction


def test_a_mind_outside_an_auction_goes_by_call_where_a_game_has_no_words_for_limits():
    mind = BidderContext.of(Bidder("Ann"), SimulatedChat(), game="second-price")
    assert "bid" in GraphBidder(mind).graph.nodes


class Limited(SimulatedChat):
    """Plays like the built-in model, and sets these limits, one after another."""

    limits: list[Any]

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            if "limit" in call["args"]:
                call["args"]["limit"] = self.limits.pop(0) if self.limits else None
        return result


class Desk:
    """A mind that bids by limit, what it was asked, and all that comes out of it."""

    def __init__(self, *limits: Any) -> None:
        self.notes: list[Event] = []
        chat = Limited(limits=list(limits)) if limits else SimulatedChat()
        model = ModelClient("Ann", "model", chat, ModelSettings(), self.notes.append)
        switches = MindSettings(bidding="limit", planning="none", theory_of_mind="inferred")
        self.mind = BidderContext(model, switches, lambda: self.notes.append)

    def answer(self, seen: Sequence[Event] = (), least: int = 1_000, attempt: int = 1, refusal: str = "") -> Answer:
        ask = Ask("Ann", "Lot A", 1, Amount(Decimal(least), Decimal(10_000)), attempt, refusal)
        answer = asyncio.run(GraphBidder(self.mind).act(ask, [*opening(), *seen]))
        assert answer is not None
        return answer

    @property
    def asked(self) -> list[str]:
        return [f"{note.purpose}: {note.outcome}" for note in self.notes if isinstance(note, ModelCalled)]


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


def sale(bidding: str, mood: Simulated | None = None, seed: int = 3, rules: Any = None, **mind: Any) -> Result:
    """Hold a sale of five houses between three minds with personas, with little money, so that plans matter."""
    bidders = [
        Bidder(name, persona=persona, bidding=bidding, budget=900_000, **mind)
        for name, persona in zip(("Ann", "Ben", "Cho"), PERSONAS, strict=True)
    ]
    items = houses(5, seed, dict.fromkeys(PERSONAS, 1))
    models = {"simulated": ModelSettings(simulated=mood or Simulated())}
    return Auction(seed=seed, items=items, bidders=bidders, rules=rules or {}, models=models).run()


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
    log = auction.run(models={"mine": Limited(limits=list(limits))}).log
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
            case Tried() | SeatFailed() | Decided():
                pytest.fail(f"{entry.event}")
    event(f"{offers} offers, {asked.total()} limits")
    assert [call.purpose for call in of_type(log, ModelCalled)].count("limit") == asked.total()
    assert max(asked.values(), default=0) <= offers


# ---------------------------------------------------------------- when the model is asked


def test_the_first_call_on_an_item_asks_for_a_limit_and_bids_the_minimum():
    desk = Desk("$1,500.50")
    assert desk.answer() == Bid(Decimal(1_000))
    (made,) = [note for note in desk.notes if isinstance(note, LimitSet)]
    assert (made.item, made.round, made.attempt, made.limit) == ("Lot A", 1, 1, Decimal("1500.50"))


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
    desk = Desk(limit)
    assert desk.answer(seen, **asks) == answer
    assert desk.asked == ["limit: ok"] * asked


@pytest.mark.parametrize("limit", ["-$5", "a lot", "NaN", [1_000], True, 10**16])
def test_a_limit_that_is_no_amount_is_a_failed_bid_and_sets_none(limit):
    desk = Desk(limit)
    assert isinstance(desk.answer(), Unreadable)
    assert desk.asked == ["limit: unreadable"]
    assert not any(isinstance(note, LimitSet) for note in desk.notes)


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


@pytest.mark.parametrize(
    ("mind", "policy"),
    [
        ({}, "judge"),
        ({"planning": "none"}, "minimum"),
        ({"chain_of_thought": False, "objective": "items"}, "judge"),
        pytest.param({"theory_of_mind": "second"}, "judge", marks=pytest.mark.slow),
    ],
)
def test_by_limit_the_built_in_model_plays_the_sale_that_it_plays_call_by_call(mind, policy):
    rules = {"lowerings": 2}
    mood = Simulated(policy=policy, limit_share=0.45)
    by_call, by_limit = (sale(bidding, mood, rules=rules, **mind) for bidding in ("call", "limit"))
    assert public(by_call) == public(by_limit)
    assert [*bids(by_limit.log)]
    assert by_limit.metrics().calls.count < by_call.metrics().calls.count


facts_of_calls = st.fixed_dictionaries(
    {
        "minimum": dollars,
        "budget": dollars,
        "items_finished": st.integers(0, 3),
        "objective": st.sampled_from(["profit", "items", "win Lot 1"]),
        "items": st.lists(
            st.fixed_dictionaries({"start": st.integers(1, 3_000), "estimate": st.decimals(1, 5_000, places=2)}),
            min_size=1,
            max_size=4,
        ).map(lambda rows: [{"item": f"Lot {place}", **row} for place, row in enumerate(rows)]),
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
    assert bidding
    assert bidding.reasons == "so"


def test_a_bidder_by_limit_can_be_rated(tmp_path):
    bidders = [Bidder("Ann", bidding="limit"), Bidder("Ben", rule="truthful")]
    Auction(items=LOTS, bidders=bidders).run(out=tmp_path / "run")
    (only,) = rateables([tmp_path / "run"])
    assert only.bidder == "Ann"
    assert "Player A bids up to $" in only.transcript().text


@pytest.mark.parametrize("strategy", ["on", "fused"])
def test_a_strategy_is_refused_in_one_line_as_it_is_chosen_at_each_call(strategy):
    with pytest.raises(ConfigError) as refused:
        check(Auction, {"bidders": [{"name": "Ann", "bidding": "limit", "strategy": strategy}]}, "auction.toml")
    said = f"strategy {strategy!r} is chosen at each call, bidding 'limit' once per item; drop one"
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("last", ["LimitSet", "RoundClosed"])
def test_a_run_that_is_resumed_asks_for_no_limit_again(tmp_path, last):
    bidders = [Bidder(name, bidding="limit", model="mine") for name in ("Ann", "Ben")]
    auction = Auction(items=LOTS, bidders=bidders, models={"mine": {}})
    whole = auction.run(models={"mine": SimulatedChat()})
    crash = breaking(lambda entry: type(entry.event).__name__ == last)
    with pytest.raises(Broken):
        auction.run(out=tmp_path / "run", models={"mine": SimulatedChat()}, listen=crash)
    assert any(call["purpose"] == "limit" for call in kept(tmp_path / "run"))
    resumed = resume(tmp_path / "run", models={"mine": SimulatedChat()})
    equal(whole.log, resumed.log)
    asked = Counter(tuple(call["prompt"]) for call in kept(tmp_path / "run"))
    assert set(asked.values()) == {1}
    assert read_log(tmp_path / "run" / "events.jsonl").complete


def kept(folder: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
