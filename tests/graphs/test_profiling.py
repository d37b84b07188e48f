"""Profiling: what a bidder makes of its rivals, how wrong it is, and what is no evidence."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Auction, Bidder, ModelSettings, SimulatedChat, houses, of_type
from harbor._config.auction import MindSettings
from harbor._core.asking.asks import Pause
from harbor._core.log.events import BidderLabelled, BidderSeated, BidderWithdrew, ModelCalled, ThoughtFailed
from harbor._games.english.opponent_model import BiddingRecord, update
from harbor._games.english.valuation import worth
from harbor._games.replies import Share, Weight
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import read_facts
from harbor.evaluation._metrics.profiling import divergence, profiling_errors
from harbor.events import Acted, CatalogShown, ItemOpened, Lot, Profiled, RoundClosed, SaleOpened, Signal, ValueRevealed
from harbor.games import Bid, Entry, Event, Withdraw
from harbor.graphs._context.context import BidderContext
from harbor.graphs._nodes.profile import mend, scaled
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import HOMES, personas
from harbor.personas._catalog.traits import fit
from support.folders import calls
from support.sold import sold

TEXTS = {key: one.text for key, one in personas().items()}
HOUSES = list(HOMES.items.values())
LOFT = next(house for house in HOUSES if house.persona == "urban-dwellers")
RIVALS = ("Ben", "Cho", "Dan")
LAW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
PAPER = {"protocol": "aucarena", "reply": "tool", "context": "fresh", "facts": "json"}
"""The prompts of a paper, in which profiles are weights."""


class Desk:
    """A mind, and everything that comes out of it."""

    def __init__(self, chat: SimulatedChat | None = None, **switches: Any) -> None:
        self.notes: list[Event] = []
        self.prompts: list[dict[str, Any]] = []
        note, keep = self.notes.append, lambda call: self.prompts.append(read_facts("\n".join(call.prompt)))
        model = ModelClient("Ann", "model", chat or SimulatedChat(), ModelSettings(), note, keep, play_on=True)
        self.mind = BidderContext(model, MindSettings(**{"theory_of_mind": "inferred", **switches}), lambda: note)

    def after(self, seen: Sequence[Event], closed: tuple[str, ...] = (LOFT.name,)) -> dict[str, Profiled]:
        """Think after a hammer; return the new profiles by rival."""
        asyncio.run(GraphBidder(self.mind).act(Pause("Ann", closed), seen))
        return {note.rival: note for note in self.notes if isinstance(note, Profiled)}

    def asked(self, task: str = "profile") -> list[dict[str, Any]]:
        return [prompt for prompt in self.prompts if prompt["task"] == task]


def sold_to_ben(rivals: Sequence[str] = RIVALS, of_cho: str = "declined") -> list[Event]:
    """Return what Ann has seen: Ben bought the loft for $330,000, Cho went out at $300,000 without a bid.

    Dan did nothing at all. A shed follows.
    """
    broke = BidderWithdrew(LOFT.name, 2, "Cho", "cannot afford")
    lots = Lot(LOFT.name, LOFT.start, LOFT.listing), Lot("Shed", Decimal(1_000))
    return [
        BidderSeated("Ann", Decimal(1_000_000), {}, "profit"),
        Signal("Ann", {LOFT.name: Decimal(440_000), "Shed": Decimal(2_000)}, noisy=True),
        CatalogShown("Ann", TEXTS),
        SaleOpened(("Ann", *rivals), lots, "true value"),
        ItemOpened(LOFT.name, LOFT.start, Decimal(15_000)),
        Acted("Ben", LOFT.name, Bid(Decimal(285_000))),
        RoundClosed(LOFT.name, 1, "Ben", Decimal(285_000)),
        broke if of_cho == broke.reason else Acted("Cho", LOFT.name, Withdraw(of_cho), 2),  # type: ignore[arg-type]
        Acted("Ben", LOFT.name, Bid(Decimal(330_000)), 3),
        RoundClosed(LOFT.name, 3, "Ben", Decimal(330_000)),
        *sold(LOFT.name, "Ben", Decimal(330_000)),
    ]


# ---------------------------------------------------------------- KL, by hand


ONE, MIX = traits.truth({"downsizing": 1.0}, TEXTS), traits.truth({"downsizing": 0.5, "urban-dwellers": 0.5}, TEXTS)
SURE = {persona: 1.0 if share else -1.0 for persona, share in ONE.items()}
THREE = {"a": 0.5, "b": 0.5, "c": 0.0}
GUESS = {"a": 0.5, "b": -0.5, "c": 0.0}
"""Shifted, these weights are 1.5, 0.5 and 1 of 3 in all: shares of 1/2, 1/6 and 1/3.

With a tenth added to each and 1.3 in all: truth 0.6, 0.6, 0.1 and guess 0.6, 0.26667, 0.43333, over 1.3.
"""


def test_a_divergence_is_as_worked_by_hand():
    for truth, profile, epsilon, expected in (
        (ONE, SURE, None, pytest.approx(0, abs=1e-9)),
        (ONE, {}, 1e-12, pytest.approx(math.log(10))),
        (ONE, {}, None, pytest.approx(2.30, abs=0.005)),
        (MIX, {}, 1e-12, pytest.approx(math.log(5))),
        (THREE, GUESS, 1e-12, pytest.approx(math.log(3) / 2)),
        (THREE, GUESS, 0.1, pytest.approx(0.26148, abs=1e-5)),
    ):
        assert divergence(truth, profile, **({"epsilon": epsilon} if epsilon else {})) == expected


@pytest.mark.parametrize(
    ("share", "epsilon", "complaint"),
    [(0.5, 0.1, "the shares of the truth add up to 0.5; give"), (2.0, 0.1, "add up to 2; give shares that add up to 1")]
    + [(1.0, bad, "is not above zero; give a small positive number") for bad in (0, math.nan)],
)
def test_a_truth_that_does_not_add_up_to_one_and_an_epsilon_not_above_nought_are_refused(share, epsilon, complaint):
    with pytest.raises(ValueError, match=complaint):
        divergence({"a": share, "b": 0.0}, {"a": 0.5}, epsilon)


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=10), st.sampled_from(sorted(TEXTS)))
@example([1.0] + [-1.0] * 9, next(reversed(TEXTS)))
def test_a_divergence_is_never_below_nought_and_finite_even_of_a_certain_mistake(weights, persona):
    found = divergence(traits.truth({persona: 1.0}, TEXTS), dict(zip(TEXTS, weights, strict=True)))
    assert -1e-9 <= found < math.inf


HAPPENED = {  # whose personas are which, what is said of personas a and b, and how far off that is
    "rivals and items": (
        {"Ann": {}, "Ben": {"a": 1.0}, "Cho": {"a": 0.5, "b": 0.5}},
        [("Ben", "Loft", 0.0, 0.0), ("Cho", "Loft", 0.0, 0.0), ("Ben", "Farm", 1.0, -1.0)],
        {("Ben", "Loft"): math.log(2), ("Cho", "Loft"): 0.0, ("Ben", "Farm"): 0.0},
    ),
    "personas outside the catalog or none": (
        {"Ben": {}, "Cho": {"elsewhere": 1.0}, "Dan": {"a": 1.0}, "Eve": {"a": 0.5, "elsewhere": 0.5}},
        [(rival, "Loft", 1.0, -1.0) for rival in (*RIVALS, "Eve")],
        {("Dan", "Loft"): 0.0},
    ),
}


@pytest.mark.parametrize(("labels", "profiles", "expected"), HAPPENED.values(), ids=HAPPENED)
def test_profiles_are_compared_with_a_truth_within_the_catalog_rival_by_rival_and_item_by_item(
    labels, profiles, expected
):
    happened = [
        *(BidderLabelled(name, personas, "simulated") for name, personas in labels.items()),
        CatalogShown("Ann", {"a": "A.", "b": "B."}),
        *(Profiled("Ann", rival, item, {"a": a, "b": b}, 0) for rival, item, a, b in profiles),
    ]
    log = [Entry(number, number / 10, event) for number, event in enumerate(happened)]
    for epsilon, near in ({"epsilon": 1e-12}, 1e-9), ({}, 1e-3):  # the usual epsilon lowers each divergence
        found = profiling_errors(log, **epsilon)
        assert {one.bidder for one in found} == {"Ann"}
        assert {(one.rival, one.item): one.divergence for one in found} == pytest.approx(expected, abs=near)


# ---------------------------------------------------------------- the update, by hand

# A house of $400 that suits one persona entirely, to which it is worth $460, and the other not at all: 0.85 of $400
# are $340. Limits lie at that over 1, 1.2, 1.4 or 1.6, with a deviation of 0.12 * $400 = $48.
TWO = {"urban": "A loft above the tram, with a gym and a bakery.", "rural": "A farm with a barn and an orchard."}
HARD = BiddingRecord(TWO["urban"], 400, 340, None)
"""It bid $340 and never declined: that is less than the limit in 58.835 % of cases if urban, in 16.108 % if rural.

One in twenty bids is odd, with a limit anywhere up to $600: 260 of 600 of these are above.
"""
URBAN, RURAL = 0.05 * 260 / 600 + 0.95 * 0.58835, 0.05 * 260 / 600 + 0.95 * 0.16108


def shares_after(profile: dict[str, float], *seen: BiddingRecord) -> dict[str, float]:
    for conduct in seen:
        profile = update(profile, TWO, conduct)
    return traits.shares(profile, TWO)


def test_a_profile_is_updated_by_bayes_rule_from_what_it_was():
    before = {"urban": -0.5, "rural": 0.5}
    for times, urban in ((0, 0.25), (1, 0.5256), (2, 0.7864)):
        expected = URBAN**times / (URBAN**times + 3 * RURAL**times)
        assert expected == pytest.approx(urban, abs=1e-4)
        assert shares_after(before, *[HARD] * times)["urban"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("bid", "declined"), [(0, 20), (10, 60)])
def test_a_single_odd_bid_never_rules_a_persona_out_entirely(bid, declined):
    """A loft-lover that declines a loft at next to nothing; a farmer that does is hardly less odd."""
    before, odd = {"urban": 0.9, "rural": -0.9}, BiddingRecord(TWO["urban"], 400, bid, declined)
    assert shares_after(before, odd)["urban"] > 0.8
    assert shares_after(before, odd, HARD, HARD, HARD)["urban"] > 0.95


def test_one_that_stops_early_may_be_saving_and_not_indifferent():
    """To go out at $310 after $250 is likely only with a dear dollar if one wants the house: 20.6 % against 31.5 %."""
    odd = 0.05 * 60 / 600
    after = shares_after({}, BiddingRecord(TWO["urban"], 400, 250, 310))
    assert after["urban"] / after["rural"] == pytest.approx((odd + 0.95 * 0.20577) / (odd + 0.95 * 0.31469), rel=1e-4)


# ---------------------------------------------------------------- laws of the update

listings = st.sampled_from([house.listing for house in HOUSES])
amounts = st.floats(0, 600_000)
conducts = st.builds(BiddingRecord, listings | st.just(""), st.just(400_000.0), amounts, st.none() | amounts)
profiles = st.lists(st.floats(-1, 1), min_size=10, max_size=10).map(lambda found: dict(zip(TEXTS, found, strict=True)))


@LAW
@given(profiles, st.lists(conducts, max_size=5))
def test_an_updated_profile_stays_between_minus_one_and_one(profile, seen):
    for conduct in seen:
        profile = update(profile, TEXTS, conduct)
    assert set(profile) == set(TEXTS)
    assert all(-1 <= weight <= 1 for weight in profile.values())


@LAW
@given(profiles, listings, amounts)
def test_where_there_is_no_evidence_a_profile_is_left_alone_exactly(profile, listing, amount):
    assert update(profile, TEXTS, BiddingRecord(listing, 400_000, 0.0, None)) == profile
    assert update(profile, TEXTS, BiddingRecord("", 400_000, amount, amount)) == profile


@LAW
@given(st.sampled_from(HOUSES), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_bid_speaks_more_for_the_persona_that_a_listing_was_written_for_and_an_early_refusal_against_it(
    house, one, other
):
    """Up to what the house is worth to one whom it does not suit at all; beyond that everyone would be odd."""
    suits = {persona: fit({text: 1.0}, house.listing) for persona, text in TEXTS.items()}
    lower, higher = (share * worth(400_000, 0.0) for share in sorted((one, other)))
    assume(lower > 0)
    profiles = [update({}, TEXTS, BiddingRecord(house.listing, 400_000, bid, None)) for bid in (lower, higher)]
    before, after = (traits.shares(profile, TEXTS) for profile in profiles)
    for persona in (persona for persona in TEXTS if suits[persona] < suits[house.persona]):
        odds = [shares[house.persona] / shares[persona] for shares in (before, after)]
        assert odds[1] >= odds[0] * (1 - 1e-9)
    worst = min(suits, key=suits.__getitem__)
    if suits[worst] < suits[house.persona] and higher >= 0.05 * worth(400_000, 0.0):
        refused = update({}, TEXTS, BiddingRecord(house.listing, 400_000, 0.0, higher))
        assert refused[house.persona] <= refused[worst] + 1e-9


# ---------------------------------------------------------------- the node


def test_every_rival_is_profiled_over_the_whole_catalog_by_whether_it_bid_hard_or_declined_in_whatever_order_they_sit():
    found, other = (Desk().after(sold_to_ben(rivals)) for rivals in (RIVALS, RIVALS[::-1]))
    assert all(set(one.weights) == set(TEXTS) and one.closed == LOFT.name for one in found.values())
    ben, cho = found["Ben"].weights, found["Cho"].weights
    assert ben["urban-dwellers"] > 0 > ben["rural-home-seekers"]
    assert cho["urban-dwellers"] < cho["rural-home-seekers"]
    assert {rival: one.weights for rival, one in found.items()} == {rival: one.weights for rival, one in other.items()}


def test_a_profile_starts_with_nothing_and_goes_on_from_what_it_was():
    for protocol, told, nothing, so_far in (
        ({}, "shares", {}, traits.in_percent),
        (PAPER, "profile", dict.fromkeys(TEXTS, 0), lambda weights, _: weights),
    ):
        desk, again = Desk(**protocol), Desk(**protocol)
        before = desk.after(sold_to_ben())["Ben"].weights
        again.after([*sold_to_ben(), Profiled("Ann", "Ben", "Attic", before, 0)])
        assert [prompt[told] for prompt in desk.asked()] == [nothing] * len(RIVALS)
        assert [prompt[told] for prompt in again.asked() if prompt["bidder"] == "Ben"] == [so_far(before, TEXTS)]


GIVEN = traits.profile(traits.truth({"downsizing": 1.0}, TEXTS))


@pytest.mark.parametrize(
    ("theory_of_mind", "true", "told"),
    [("true", {"Ben": GIVEN}, [True, True]), ("true", {}, [False, False]), ("second", {}, [False, True])],
)
def test_a_plan_is_told_of_rivals_if_and_only_if_there_are_profiles(theory_of_mind, true, told):
    desk, (seated, *more) = Desk(theory_of_mind=theory_of_mind), sold_to_ben()
    seen = [replace(seated, rivals=true), *more]
    desk.after(seen[:4], closed=())
    desk.after(seen)
    (plan,), (new,) = desk.asked("plan"), desk.asked("replan")
    for key in ("rivals", "catalog"):
        assert [key in prompt for prompt in (plan, new)] == told
    assert not told[0] or [row["shares"] for row in plan["rivals"]] == [{"downsizing": 100}, {}, {}]
    spent = [(row["rival"], row["spent"]) for row in new.get("rivals", [])]
    assert spent == ([("Ben", 330_000), ("Cho", 0), ("Dan", 0)] if told[1] else [])


def test_a_rival_is_judged_by_its_own_bids_beside_those_of_all_bidders():
    desk = Desk()
    desk.after(sold_to_ben())
    bids = [{"round": turn, "bidder": "Ben", "amount": amount} for turn, amount in ((1, 285_000), (3, 330_000))]
    assert [prompt["bidding"] for prompt in desk.asked()] == [[{"item": LOFT.name, "bids": bids}]] * 3
    ends = ("bidder", "went_up_to", "declined_at", "ended")
    assert [tuple(prompt.get(key) for key in ends) for prompt in desk.asked()] == [
        ("Ben", 330_000, None, "won"), ("Cho", None, 300_000, "declined"), ("Dan", None, None, "not asked"),
    ]  # fmt: skip


# ---------------------------------------------------------------- rivals of whom there is nothing to learn


@pytest.mark.parametrize("reason", ["cannot afford", "failed bids", "fault"])
def test_a_rival_that_did_nothing_or_left_for_another_reason_than_taste_keeps_its_profile_exactly(reason):
    desk = Desk()
    found = desk.after(sold_to_ben(of_cho=reason))
    _, prompt, _ = desk.asked()
    assert (prompt["bidder"], prompt["ended"], "declined_at" in prompt) == ("Cho", reason, False)
    assert found["Cho"].weights == found["Dan"].weights == dict.fromkeys(TEXTS, 0.0)
    assert found["Dan"].repaired == 0


# ---------------------------------------------------------------- bad weights and shares

OLD = st.dictionaries(st.sampled_from([*"abc"]), st.floats(-1, 1))


def test_bad_weights_are_clipped_kept_or_dropped_and_counted():
    for said, expected, repaired in (  # what is said, what becomes of 0.5 each, and how much was wrong
        ([("a", 0.2), ("b", -0.2), ("c", 1)], {"a": 0.2, "b": -0.2, "c": 1}, 0),
        ([("a", -5), ("b", 1.01), ("c", 0)], {"a": -1, "b": 1, "c": 0}, 2),
        ([("b", 0.2), ("c", 0)], {"a": 0.5, "b": 0.2, "c": 0}, 1),
        ([("a", 0), ("b", 0), ("c", 0), ("A", 0.9)], {"a": 0, "b": 0, "c": 0}, 1),
        ([("a", 0), ("b", 0), ("c", 0), ("a", 0.75)], {"a": 0.75, "b": 0, "c": 0}, 1),
        ([], {"a": 0.5, "b": 0.5, "c": 0.5}, 3),
    ):
        given = [Weight(persona=one, weight=weight) for one, weight in said]
        assert mend(given, "abc", dict.fromkeys("abc", 0.5)) == (expected, repaired), said


def test_shares_are_scaled_or_dropped_and_what_was_wrong_is_counted_and_without_any_the_old_profile_stays():
    halves, old = {"a": 50, "b": 50}, {"c": 100}
    for said, expected, repaired in (
        ([("a", 60), ("b", 40)], {"a": 60, "b": 40}, 0),
        ([("a", 49.5), ("b", 49.5)], halves, 0),
        ([("a", 49.4), ("b", 49.4)], halves, 1),
        ([("a", 50), ("b", 50), ("x", 20)], halves, 1),
        ([("a", 30), ("b", 30), ("A", 40)], halves, 2),
        ([("a", 90), ("b", 50), ("a", 50)], halves, 1),
        ([("a", 60), ("b", 60), ("c", -20)], halves, 2),
        ([], old, 1),
        ([("a", 0)], old, 1),
        ([("a", -100)], old, 2),
        ([("x", 100)], old, 2),
    ):
        given = [Share(persona=one, share=share) for one, share in said]
        weights, wrong = scaled(given, "abc", {"a": -1.0, "b": -1.0, "c": 1.0})
        assert (list(weights), traits.in_percent(weights, "abc"), wrong) == ([*"abc"], expected, repaired), said


class Careless(SimulatedChat):
    """Says this number of every persona and rival, as weights or as shares."""

    said: float

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            for scale in {"weights", "shares"} & call["args"].keys():
                call["args"][scale] = [{"persona": persona, scale.removesuffix("s"): self.said} for persona in TEXTS]
        return result


@pytest.mark.parametrize(("protocol", "weight", "repaired"), [({}, 0.0, 1), (PAPER, 1.0, 10)])
def test_what_a_model_said_wrongly_is_repaired_in_its_profiles_and_no_number_is_sent_back(protocol, weight, repaired):
    before = Profiled("Ann", "Ben", "Attic", GIVEN, 0)
    found = Desk(Careless(said=50), **protocol).after([*sold_to_ben(), before])
    assert [(one.weights, one.repaired) for one in found.values()] == [(dict.fromkeys(TEXTS, weight), repaired)] * 3
    for number in (math.nan, math.inf):
        desk = Desk(Careless(said=number), planning="none", **protocol)
        desk.after(sold_to_ben())
        assert [note.purpose for note in desk.notes if isinstance(note, ThoughtFailed)] == ["profile"]
        made = [(note.purpose, note.outcome) for note in desk.notes if isinstance(note, ModelCalled)]
        assert made.count(("profile", "unreadable")) == sum(purpose == "profile" for purpose, _ in made) == 9


def whole(weights: dict[str, float]) -> bool:
    return list(weights) == [*"abc"] and all(-1 <= weight <= 1 for weight in weights.values())


@given(st.lists(st.builds(Weight, persona=st.sampled_from([*"abcxy"]), weight=st.floats(-9, 9)), max_size=8), OLD)
def test_mended_weights_are_whole_and_bounded_whatever_was_said(said, old):
    weights, repaired = mend(said, "abc", old)
    assert whole(weights)
    assert (repaired == 0) <= ({one.persona for one in said} == {*"abc"})


@given(st.lists(st.builds(Share, persona=st.sampled_from([*"abcxy"]), share=st.floats(-9, 200)), max_size=8), OLD)
def test_scaled_shares_are_whole_and_bounded_whatever_was_said(said, old):
    weights, repaired = scaled(said, "abc", old)
    assert whole(weights)
    fits = all(one.share >= 0 for one in said) and abs(sum(one.share for one in said) - 100) <= 1
    assert (repaired == 0) == (fits and len(said) == len({one.persona for one in said} & {*"abc"}))


# ---------------------------------------------------------------- at the same moment


class Meeting(SimulatedChat):
    """Calls of each of these groups of tasks wait for each other: a lone one never ends."""

    barriers: dict[str, Any]

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **named: Any) -> ChatResult:
        task = read_facts("\n".join(str(message.content) for message in messages))["task"]
        if task in self.barriers:
            await self.barriers[task].wait()
        return await super()._agenerate(messages, *args, **named)


@pytest.mark.parametrize(("theory_of_mind", "more"), [("inferred", []), ("second", ["mirror"])])
async def test_profiles_and_the_belief_are_asked_at_the_same_moment_and_then_prediction_and_the_new_plan(
    theory_of_mind, more
):
    first, last = ["profile"] * len(RIVALS) + ["believe", *more], ["predict", "replan"]
    barriers = {**dict.fromkeys(first, asyncio.Barrier(len(first))), **dict.fromkeys(last, asyncio.Barrier(2))}
    desk = Desk(Meeting(barriers=barriers), theory_of_mind=theory_of_mind, correct_beliefs=not more)
    async with asyncio.timeout(20):
        await GraphBidder(desk.mind).act(Pause("Ann", (LOFT.name,)), sold_to_ben())
    tasks = [prompt["task"] for prompt in desk.prompts]
    assert (sorted(tasks[:-2]), sorted(tasks[-2:])) == (sorted(first), last)


@pytest.mark.parametrize(("persona", "mind", "items"), [("downsizing", {}, 3), (None, {}, 2), (None, PAPER, 3)])
def test_profiling_costs_one_call_a_rival_and_item_after_which_profiles_are_of_use(persona, mind, items):
    rivals = [Bidder(name, rule="truthful", persona=persona) for name in RIVALS]
    held = Auction(items=houses(3, 2), bidders=[Bidder("Ann", theory_of_mind="inferred", **mind), *rivals]).run().log
    assert [call.purpose for call in of_type(held, ModelCalled)].count("profile") == items * len(RIVALS)


# ---------------------------------------------------------------- labels


def test_the_prompts_of_a_profiler_are_the_same_whatever_its_rivals_truly_are(tmp_path):
    told = []
    for ben, cho in (("downsizing", "urban-dwellers"), ("vacation-homes", None)):
        rivals = Bidder("Ben", rule="minimum-raise", persona=ben), Bidder("Cho", rule="truthful", persona=cho)
        items = [item.model_copy(update={"persona": ben}) for item in houses(3, 4)]
        bidders = [Bidder("Ann", theory_of_mind="second", strategy="on"), *rivals]
        Auction(items=items, bidders=bidders).run(out=tmp_path / ben)
        told.append([call["prompt"] for call in calls(tmp_path / ben)])
    assert len(told[0]) > 10
    assert told[0] == told[1]


@pytest.mark.parametrize("protocol", [{}, PAPER])
def test_a_value_that_is_revealed_is_told_with_results_alone_and_changes_no_profile(protocol):
    desk, found = Desk(**protocol), []
    for at, value in ((desk, "371234.56"), (Desk(**protocol), "1.00")):
        profiles = at.after([*sold_to_ben(), ValueRevealed(LOFT.name, Decimal(value))])
        found.append({rival: one.weights for rival, one in profiles.items()})
    told = ["371234" in json.dumps(prompt.pop("results", [])) for prompt in desk.asked()]
    assert told == [not protocol] * len(RIVALS)
    assert "371234" not in json.dumps(desk.asked())
    assert found[0] == found[1]
