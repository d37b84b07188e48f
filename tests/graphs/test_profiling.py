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

from harbor import Auction, Bidder, ModelSettings, SimulatedChat, houses
from harbor._config.auction import MindSettings
from harbor._core.asking.asks import Bid, Pause, Withdraw
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import (
    BidderLabelled,
    BidderSeated,
    BidderWithdrew,
    CatalogShown,
    Event,
    Lot,
    ModelCalled,
    ThoughtFailed,
)
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Profiled
from harbor._games.english.events import ItemOpened, RoundClosed, SaleOpened, ValueRevealed
from harbor._games.english.opponent_model import BiddingRecord, update
from harbor._games.english.valuation import worth
from harbor._games.replies import Share, Weight
from harbor._models.calls.client import ModelClient
from harbor._models.simulated.chat_model import read_facts
from harbor.evaluation._metrics.profiling import divergence, profiling_errors
from harbor.graphs._context.context import BidderContext
from harbor.graphs._nodes.profile import mend, scaled
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import HOMES, personas
from harbor.personas._catalog.traits import fit
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


ONE, MIX = ({persona: 1 / len(some) if persona in some else 0.0 for persona in TEXTS} for some in (
    ["downsizing"], ["downsizing", "urban-dwellers"],
))  # fmt: skip
SURE = {persona: 1.0 if share else -1.0 for persona, share in ONE.items()}
THREE = {"a": 0.5, "b": 0.5, "c": 0.0}
GUESS = {"a": 0.5, "b": -0.5, "c": 0.0}
"""Shifted, these weights are 1.5, 0.5 and 1 of 3 in all: shares of 1/2, 1/6 and 1/3.

With a tenth added to each and 1.3 in all: truth 0.6, 0.6, 0.1 and guess 0.6, 0.26667, 0.43333, over 1.3.
"""


@pytest.mark.parametrize(
    ("truth", "profile", "epsilon", "expected"),
    [
        (ONE, SURE, {}, pytest.approx(0, abs=1e-9)),
        (ONE, {}, {"epsilon": 1e-12}, pytest.approx(math.log(10))),
        (ONE, {}, {}, pytest.approx(2.30, abs=0.005)),
        (MIX, {}, {"epsilon": 1e-12}, pytest.approx(math.log(5))),
        (THREE, GUESS, {"epsilon": 1e-12}, pytest.approx(math.log(3) / 2)),
        (THREE, GUESS, {"epsilon": 0.1}, pytest.approx(0.26148, abs=1e-5)),
    ],
)
def test_a_divergence_is_as_worked_by_hand(truth, profile, epsilon, expected):
    assert divergence(truth, profile, **epsilon) == expected


@pytest.mark.parametrize(
    ("truth", "epsilon", "complaint"),
    [
        ({"a": 0.5, "b": 0.0}, 0.1, "the shares of the truth add up to 0.5; give shares that add up to 1"),
        ({"a": 1.0, "b": 1.0}, 0.1, "the shares of the truth add up to 2; give shares that add up to 1"),
        *(({"a": 1.0, "b": 0.0}, bad, "is not above zero; give a small positive number") for bad in (0, math.nan)),
    ],
)
def test_a_truth_that_does_not_add_up_to_one_and_an_epsilon_not_above_nought_are_refused(truth, epsilon, complaint):
    with pytest.raises(ValueError, match=complaint):
        divergence(truth, {"a": 0.5}, epsilon)


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=10), st.sampled_from(sorted(TEXTS)))
@example([1.0] + [-1.0] * 9, next(reversed(TEXTS)))
def test_a_divergence_is_never_below_nought_and_finite_even_of_a_certain_mistake(weights, persona):
    found = divergence(traits.truth({persona: 1.0}, TEXTS), dict(zip(TEXTS, weights, strict=True)))
    assert -1e-9 <= found < math.inf


@pytest.mark.parametrize(
    ("labels", "profiles", "expected"),
    [
        (
            {"Ann": {}, "Ben": {"a": 1.0}, "Cho": {"a": 0.5, "b": 0.5}},
            [("Ben", "Loft", 0.0, 0.0), ("Cho", "Loft", 0.0, 0.0), ("Ben", "Farm", 1.0, -1.0)],
            [("Ben", "Loft", math.log(2)), ("Cho", "Loft", 0.0), ("Ben", "Farm", 0.0)],
        ),
        (
            {"Ben": {}, "Cho": {"elsewhere": 1.0}, "Dan": {"a": 1.0}, "Eve": {"a": 0.5, "elsewhere": 0.5}},
            [(rival, "Loft", 1.0, -1.0) for rival in (*RIVALS, "Eve")],
            [("Dan", "Loft", 0.0)],
        ),
    ],
    ids=["rivals and items", "personas outside the catalog or none"],
)
def test_profiles_are_compared_with_a_truth_within_the_catalog_rival_by_rival_and_item_by_item(
    labels, profiles, expected
):
    happened = [
        *(BidderLabelled(name, personas, "simulated") for name, personas in labels.items()),
        CatalogShown("Ann", {"a": "A.", "b": "B."}),
        *(Profiled("Ann", rival, item, {"a": a, "b": b}, 0) for rival, item, a, b in profiles),
    ]
    log = [Entry(number, number / 10, event) for number, event in enumerate(happened)]
    found = profiling_errors(log, 1e-12)
    assert [(one.bidder, one.rival, one.item) for one in found] == [("Ann", *one[:2]) for one in expected]
    smoothed = [one.divergence for one in profiling_errors(log)]  # by the usual epsilon, which lowers each divergence
    assert smoothed == pytest.approx([one[2] for one in expected], abs=1e-3)
    assert [one.divergence for one in found] == pytest.approx([one[2] for one in expected], abs=1e-9)


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
    odd = BiddingRecord(TWO["urban"], 400, bid, declined)
    assert shares_after({"urban": 0.9, "rural": -0.9}, odd)["urban"] > 0.8
    assert shares_after({"urban": 0.9, "rural": -0.9}, odd, HARD, HARD, HARD)["urban"] > 0.95


def test_one_that_stops_early_may_be_saving_and_not_indifferent():
    """To go out at $310 after $250 is likely only with a dear dollar if one wants the house: 20.6 % against 31.5 %."""
    odd = 0.05 * 60 / 600
    likely = odd + 0.95 * 0.20577, odd + 0.95 * 0.31469
    after = shares_after({}, BiddingRecord(TWO["urban"], 400, 250, 310))
    assert after["urban"] / after["rural"] == pytest.approx(likely[0] / likely[1], rel=1e-4)


# ---------------------------------------------------------------- laws of the update

listings = st.sampled_from([house.listing for house in HOUSES])
amounts = st.floats(0, 600_000)
conducts = st.builds(
    BiddingRecord, st.one_of(listings, st.just("")), st.just(400_000.0), amounts, st.one_of(st.none(), amounts)
)
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
    less, more = (update({}, TEXTS, BiddingRecord(house.listing, 400_000, bid, None)) for bid in (lower, higher))
    before, after = (traits.shares(profile, TEXTS) for profile in (less, more))
    for persona in (persona for persona in TEXTS if suits[persona] < suits[house.persona]):
        odds = [shares[house.persona] / shares[persona] for shares in (before, after)]
        assert odds[1] >= odds[0] * (1 - 1e-9)
    worst = min(suits, key=lambda persona: suits[persona])
    if suits[worst] < suits[house.persona] and higher >= 0.05 * worth(400_000, 0.0):
        refused = update({}, TEXTS, BiddingRecord(house.listing, 400_000, 0.0, higher))
        assert refused[house.persona] <= refused[worst] + 1e-9


# ---------------------------------------------------------------- the node


def test_every_rival_is_profiled_over_the_whole_catalog_by_whether_it_bid_hard_or_declined_in_whatever_order_they_sit():
    found, other = (Desk().after(sold_to_ben(rivals)) for rivals in (RIVALS, RIVALS[::-1]))
    assert all(set(one.weights) == set(TEXTS) and one.closed == LOFT.name for one in found.values())
    ben, cho, _ = (found[rival].weights for rival in RIVALS)
    assert ben["urban-dwellers"] > 0 > ben["rural-home-seekers"]
    assert cho["urban-dwellers"] < cho["rural-home-seekers"]
    assert [found[rival].weights for rival in RIVALS] == [other[rival].weights for rival in RIVALS]


@pytest.mark.parametrize(
    ("protocol", "told", "nothing", "so_far"),
    [({}, "shares", {}, traits.in_percent), (PAPER, "profile", dict.fromkeys(TEXTS, 0), lambda weights, _: weights)],
    ids=["native", "paper"],
)
def test_a_profile_starts_with_nothing_and_goes_on_from_what_it_was(protocol, told, nothing, so_far):
    desk, again = Desk(**protocol), Desk(**protocol)
    before = desk.after(sold_to_ben())["Ben"].weights
    again.after([*sold_to_ben(), Profiled("Ann", "Ben", "Attic", before, 0)])
    starts = [{prompt["bidder"]: prompt[told] for prompt in one.asked()} for one in (desk, again)]
    assert starts[0] == dict.fromkeys(RIVALS, nothing)
    assert starts[1]["Ben"] == so_far(before, TEXTS)


GIVEN = {"Ben": traits.profile(traits.truth({"downsizing": 1.0}, TEXTS))}
TOLD_PLANS = {
    "none": ("none", {}, False, False),
    "true": ("true", GIVEN, True, True),
    "true of nobody": ("true", {}, False, False),
    "second": ("second", {}, False, True),
}


@pytest.mark.parametrize(("theory_of_mind", "given", "first", "later"), TOLD_PLANS.values(), ids=TOLD_PLANS)
def test_a_plan_is_told_of_rivals_if_and_only_if_there_are_profiles(theory_of_mind, given, first, later):
    desk, (seated, *more) = Desk(theory_of_mind=theory_of_mind), sold_to_ben()
    seen = [replace(seated, rivals=given), *more]
    desk.after(seen[:4], closed=())
    desk.after(seen)
    (plan,), (new,) = desk.asked("plan"), desk.asked("replan")
    told = [[key in prompt for key in ("rivals", "catalog")] for prompt in (plan, new)]
    assert told == [[first] * 2, [later] * 2]
    if first:
        assert [row["shares"] for row in plan["rivals"]] == [{"downsizing": 100}, {}, {}]
    if later:
        assert [(row["rival"], row["spent"]) for row in new["rivals"]] == [("Ben", 330_000), ("Cho", 0), ("Dan", 0)]
        assert any(new["rivals"][0]["shares"].values())


def test_a_rival_is_judged_by_its_own_bids_beside_those_of_all_bidders():
    desk = Desk()
    desk.after(sold_to_ben())
    conduct = {prompt["bidder"]: prompt for prompt in desk.asked()}
    bids = [{"round": turn, "bidder": "Ben", "amount": amount} for turn, amount in ((1, 285_000), (3, 330_000))]
    assert [conduct[rival]["bidding"] for rival in RIVALS] == [[{"item": LOFT.name, "bids": bids}]] * 3
    assert [[conduct[rival].get(key) for key in ("went_up_to", "declined_at", "ended")] for rival in RIVALS] == [
        [330_000, None, "won"], [None, 300_000, "declined"], [None, None, "not asked"],
    ]  # fmt: skip


# ---------------------------------------------------------------- rivals of whom there is nothing to learn


@pytest.mark.parametrize("reason", ["cannot afford", "failed bids", "fault"])
def test_a_rival_that_did_nothing_or_left_for_another_reason_than_taste_keeps_its_profile_exactly(reason):
    desk = Desk()
    found = desk.after(sold_to_ben(of_cho=reason))
    (prompt,) = [prompt for prompt in desk.asked() if prompt["bidder"] == "Cho"]
    assert (prompt["ended"], "declined_at" in prompt) == (reason, False)
    assert found["Cho"].weights == found["Dan"].weights == dict.fromkeys(TEXTS, 0.0)
    assert found["Dan"].repaired == 0


# ---------------------------------------------------------------- bad weights and shares

Said = list[tuple[str, float]]
OLD = st.dictionaries(st.sampled_from([*"abc"]), st.floats(-1, 1))
HALVES = {"a": 50, "b": 50}
WEIGHTS: list[tuple[Said, dict[str, float], int]] = [  # what is said, what becomes of 0.5 each, and how much was wrong
    ([("a", 0.2), ("b", -0.2), ("c", 1)], {"a": 0.2, "b": -0.2, "c": 1}, 0),
    ([("a", -5), ("b", 1.01), ("c", 0)], {"a": -1, "b": 1, "c": 0}, 2),
    ([("b", 0.2), ("c", 0)], {"a": 0.5, "b": 0.2, "c": 0}, 1),
    ([("a", 0), ("b", 0), ("c", 0), ("A", 0.9)], {"a": 0, "b": 0, "c": 0}, 1),
    ([("a", 0), ("b", 0), ("c", 0), ("a", 0.75)], {"a": 0.75, "b": 0, "c": 0}, 1),
    ([], {"a": 0.5, "b": 0.5, "c": 0.5}, 3),
]
SHARES: list[tuple[Said, dict[str, float], int]] = [
    ([("a", 60), ("b", 40)], {"a": 60, "b": 40}, 0),
    ([("a", 49.5), ("b", 49.5)], HALVES, 0),
    ([("a", 49.4), ("b", 49.4)], HALVES, 1),
    ([("a", 300), ("b", 300)], HALVES, 1),
    ([("a", 50), ("b", 50), ("x", 20)], HALVES, 1),
    ([("a", 30), ("b", 30), ("A", 40)], HALVES, 2),
    ([("a", 90), ("b", 50), ("a", 50)], HALVES, 1),
    ([("a", 60), ("b", 60), ("c", -20)], HALVES, 2),
    ([], {"c": 100}, 1),
    ([("a", 0)], {"c": 100}, 1),
    ([("a", -100)], {"c": 100}, 2),
    ([("x", 100)], {"c": 100}, 2),
]


def test_bad_weights_are_clipped_kept_or_dropped_and_counted():
    for said, expected, repaired in WEIGHTS:
        given = [Weight(persona=one, weight=weight) for one, weight in said]
        assert mend(given, "abc", dict.fromkeys("abc", 0.5)) == (expected, repaired), said


def test_shares_are_scaled_or_dropped_and_what_was_wrong_is_counted_and_without_any_the_old_profile_stays():
    for said, expected, repaired in SHARES:
        given = [Share(persona=one, share=share) for one, share in said]
        weights, wrong = scaled(given, "abc", {"a": -1.0, "b": -1.0, "c": 1.0})
        assert (list(weights), traits.in_percent(weights, "abc"), wrong) == ([*"abc"], expected, repaired), said


class Careless(SimulatedChat):
    """Says this number of every persona and rival, as weights or as shares."""

    said: float

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            for scale, name in (("weights", "weight"), ("shares", "share")):
                if scale in call["args"]:
                    call["args"][scale] = [{"persona": persona, name: self.said} for persona in TEXTS]
        return result


@pytest.mark.parametrize(
    ("protocol", "weight", "repaired"), [({}, 0.0, 1), (PAPER, 1.0, 10)], ids=["shares", "weights"]
)
def test_what_a_model_said_wrongly_is_repaired_in_its_profiles_and_no_number_is_sent_back(protocol, weight, repaired):
    before = Profiled("Ann", "Ben", "Attic", GIVEN["Ben"], 0)
    found = Desk(Careless(said=50), **protocol).after([*sold_to_ben(), before])
    assert [(one.weights, one.repaired) for one in found.values()] == [(dict.fromkeys(TEXTS, weight), repaired)] * 3
    for number in (math.nan, math.inf):
        desk = Desk(Careless(said=number), planning="none", **protocol)
        desk.after(sold_to_ben())
        assert [note.purpose for note in desk.notes if isinstance(note, ThoughtFailed)] == ["profile"]
        outcomes = [note.outcome for note in desk.notes if isinstance(note, ModelCalled) and note.purpose == "profile"]
        assert outcomes == ["unreadable"] * 9


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
    names, said_shares = [one.persona for one in said], [one.share for one in said]
    fits = all(share >= 0 for share in said_shares) and abs(sum(said_shares) - 100) <= 1
    assert (repaired == 0) == (fits and len(names) == len({*names} & {*"abc"}))


# ---------------------------------------------------------------- at the same moment


class Meeting(SimulatedChat):
    """Calls of each of these groups of tasks wait for each other: a lone one never ends."""

    barriers: dict[str, Any]

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **named: Any) -> ChatResult:
        task = read_facts("\n".join(str(message.content) for message in messages))["task"]
        if task in self.barriers:
            await self.barriers[task].wait()
        return await super()._agenerate(messages, *args, **named)


@pytest.mark.parametrize(
    ("theory_of_mind", "more", "correct_beliefs"), [("inferred", [], True), ("second", ["mirror"], False)]
)
async def test_profiles_and_the_belief_are_asked_at_the_same_moment_and_then_prediction_and_the_new_plan(
    theory_of_mind, more, correct_beliefs
):
    first, last = ["profile"] * len(RIVALS) + ["believe", *more], ["predict", "replan"]
    barriers = {**dict.fromkeys(first, asyncio.Barrier(len(first))), **dict.fromkeys(last, asyncio.Barrier(2))}
    desk = Desk(Meeting(barriers=barriers), theory_of_mind=theory_of_mind, correct_beliefs=correct_beliefs)
    async with asyncio.timeout(20):
        await GraphBidder(desk.mind).act(Pause("Ann", (LOFT.name,)), sold_to_ben())
    tasks = [prompt["task"] for prompt in desk.prompts]
    assert (sorted(tasks[:-2]), sorted(tasks[-2:])) == (sorted(first), last)


@pytest.mark.parametrize(
    ("persona", "mind", "items"),
    [("downsizing", {}, 3), (None, {}, 2), (None, PAPER, 3)],
    ids=["of rivals with personas", "of rivals without", "in a paper"],
)
def test_profiling_costs_one_call_a_rival_and_item_after_which_profiles_are_of_use(persona, mind, items):
    rivals = [Bidder(name, rule="truthful", persona=persona) for name in RIVALS]
    held = Auction(items=houses(3, 2), bidders=[Bidder("Ann", theory_of_mind="inferred", **mind), *rivals]).run().log
    assert [call.purpose for call in of_type(held, ModelCalled)].count("profile") == items * len(RIVALS)


# ---------------------------------------------------------------- labels


def test_the_prompts_of_a_profiler_are_the_same_whatever_its_rivals_truly_are(tmp_path):
    told = []
    for ben, cho in (("downsizing", "urban-dwellers"), ("vacation-homes", None)):
        bidders = [
            Bidder("Ann", theory_of_mind="second", strategy="on"),
            Bidder("Ben", rule="minimum-raise", persona=ben),
            Bidder("Cho", rule="truthful", persona=cho),
        ]
        items = [item.model_copy(update={"persona": ben}) for item in houses(3, 4)]
        Auction(items=items, bidders=bidders).run(out=tmp_path / ben)
        told.append([json.loads(one)["prompt"] for one in (tmp_path / ben / "calls.jsonl").read_text().splitlines()])
    assert len(told[0]) > 10
    assert told[0] == told[1]


@pytest.mark.parametrize("protocol", [{}, PAPER], ids=["native", "paper"])
def test_a_value_that_is_revealed_is_told_with_results_alone_and_changes_no_profile(protocol):
    desk, other = Desk(**protocol), Desk(**protocol)
    found, cheap = (
        [one.weights for one in at.after([*sold_to_ben(), ValueRevealed(LOFT.name, Decimal(value))]).values()]
        for at, value in ((desk, "371234.56"), (other, "1.00"))
    )
    told = ["371234" in json.dumps(prompt.pop("results", [])) for prompt in desk.asked()]
    assert told == [not protocol] * len(RIVALS)
    assert "371234" not in json.dumps(desk.asked())
    assert found == cheap
