"""The metrics by name: each formula worked by hand on a small log, and the laws that they keep on any."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, PaidSealed, Tried
from harbor._core.log.events import (
    AuctionHeld,
    BidderLabelled,
    BidderSeated,
    BidderWithdrew,
    CatalogShown,
    ItemLabelled,
    LogOpened,
    Lot,
    SeriesOpened,
)
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import (
    Belief,
    Believed,
    Decided,
    LimitSet,
    Planned,
    Predicted,
    Prediction,
    Profiled,
    Strategized,
)
from harbor._core.plugins.finding import found
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.english.events import ItemOpened, ItemSold, ItemUnsold, PriceLowered, RoundClosed, SaleOpened
from harbor._games.sessions.session import RunLabelled, RunOpened
from harbor._games.water.rules import DayClosed, DayOpened, Status, WaterOpened
from harbor.evaluation._metrics.behaviour import BINS
from harbor.evaluation._metrics.built_in import METRICS
from harbor.evaluation._metrics.measurement import Measurement, measure
from support.sold import sold

QUICK = settings(max_examples=60)
NOTHING = Belief(Decimal(0), {}, {})


def log(*happened):
    return [Entry(number, number / 10, event) for number, event in enumerate(happened)]


def usd(amount):
    return Decimal(str(amount))


def values(metric, entries):
    """The values of a metric, by whatever of bidder, about and at there is."""
    found = {}
    for one in measure([metric], entries):
        assert one.value is not None, one
        key = tuple(part for part in (one.bidder, one.about, one.at) if part not in ("", None))
        found.setdefault(key if len(key) > 1 else (key or ("",))[0], []).append(one.value)
    return {key: several[0] if len(several) == 1 else several for key, several in found.items()}


def missing(metric, entries):
    return {one.bidder: one.missing for one in measure([metric], entries) if one.value is None}


def seated(bidder, objective="profit"):
    return BidderSeated(bidder, usd(1000), {}, objective)


def withdrew(item, number, bidder, reason="declined"):
    if reason == "cannot afford":
        return BidderWithdrew(item, number, bidder, reason)
    return Acted(bidder, item, Withdraw(reason), number)


def failed(item, number, bidder, attempt=1):
    return Tried(bidder, item, number, attempt, "too low")


def believed(bidder, wrong_self, of_self, wrong_others, of_others):
    return Believed(bidder, (), NOTHING, wrong_self, wrong_others, of_self, of_others, NOTHING)


# Ann (urban) has the loft for 121 and Ben (rural) the farm for 300; nobody wants the shed at 50, and Cho (no persona)
# takes it for the lowered 25. True values are 200, 400 and 100: all could have earned 100 + 200 + 50 = 350.
LABELS = [
    LogOpened(1, "0.1.0", "run-7", 7),
    ItemLabelled("Loft", usd(200), "urban"),
    ItemLabelled("Farm", usd(400), "rural"),
    ItemLabelled("Shed", usd(100), ""),
    BidderLabelled("Ann", {"urban": 1.0}, "simulated"),
    BidderLabelled("Ben", {"rural": 1.0}, "simulated"),
    BidderLabelled("Cho", {}, "truthful"),
    seated("Ann"),
    seated("Ben", "items"),
    seated("Cho"),
    CatalogShown("Ann", {"urban": "in town", "rural": "far out"}),
]
OPENED = SaleOpened(
    ("Ann", "Ben", "Cho"), (Lot("Loft", usd(100)), Lot("Farm", usd(200)), Lot("Shed", usd(50))), "price"
)
LOFT = [
    ItemOpened("Loft", usd(100), usd(10)),
    Planned("Ann", "first", {"Loft": 3, "Farm": 1, "Shed": 2}),
    Predicted("Ann", "Loft", (Prediction("Ben", 0.5, usd(132)), Prediction("Cho", 0.1, usd(90)))),
    Acted("Ann", "Loft", Bid(usd(100))),
    Acted("Ben", "Loft", Bid(usd(110))),
    withdrew("Loft", 1, "Cho"),
    RoundClosed("Loft", 1, "Ben", usd(110)),
    failed("Loft", 2, "Ann"),
    failed("Loft", 2, "Ann", 2),
    Strategized("Ann", "Loft", 2, 3, "A", "mine"),
    Decided("Ann", "Loft", 2, 3, "so", usd(121)),
    Acted("Ann", "Loft", Bid(usd(121)), 2),
    RoundClosed("Loft", 2, "Ann", usd(121)),
    failed("Loft", 3, "Ben"),
    withdrew("Loft", 3, "Ben", "failed bids"),
    *sold("Loft", "Ann", usd(121)),
]
FARM = [
    ItemOpened("Farm", usd(200), usd(20)),
    believed("Ann", 1, 3, 0, 4),
    Profiled("Ann", "Ben", "Loft", {"urban": 0.0, "rural": 0.0}, 0),
    Planned("Ann", "second", {"Farm": 2, "Shed": 3}),
    Strategized("Ann", "Farm", 1, 1, "D", "save"),
    Decided("Ann", "Farm", 1, 1, "so", usd(220), contradicts=True),
    withdrew("Farm", 1, "Ann"),
    Acted("Ben", "Farm", Bid(usd(300))),
    withdrew("Farm", 1, "Cho"),
    RoundClosed("Farm", 1, "Ben", usd(300)),
    *sold("Farm", "Ben", usd(300)),
]
SHED = [
    ItemOpened("Shed", usd(50), usd(5)),
    believed("Ann", 0, 3, 1, 5),
    Profiled("Ann", "Ben", "Farm", {"urban": -1.0, "rural": 1.0}, 0),
    *(withdrew("Shed", 1, bidder) for bidder in ("Ann", "Ben", "Cho")),
    PriceLowered("Shed", usd(25), usd(2)),
    withdrew("Shed", 1, "Ann"),
    withdrew("Shed", 1, "Ben"),
    Acted("Cho", "Shed", Bid(usd(25))),
    RoundClosed("Shed", 1, "Cho", usd(25)),
    *sold("Shed", "Cho", usd(25)),
]
HELD = log(*LABELS, OPENED, *LOFT, *FARM, *SHED)


# ---------------------------------------------------------------- the ascending auction: results


@pytest.mark.parametrize(
    ("metric", "worked"),
    [
        ("profit", {"Ann": 79, "Ben": 100, "Cho": 75}),
        ("profit_ratio", {"Ann": 79 / 350, "Ben": 100 / 350, "Cho": 75 / 350}),
        ("items_won", {"Ann": 1, "Ben": 1, "Cho": 1}),
        ("spent", {"Ann": 121, "Ben": 300, "Cho": 25}),
        ("rank", {"Ben": 1, "Ann": 2, "Cho": 3}),
    ],
)
def test_what_a_bidder_won_is_counted_paid_and_ranked(metric, worked):
    assert values(metric, HELD) == worked


def test_the_seller_gets_all_winning_bids():
    assert values("revenue", HELD) == {"": 121 + 300 + 25}


def test_equal_profits_share_the_best_rank_and_the_next_is_left_out():
    assert values("rank", log(*LABELS, OPENED, *FARM)) == {"Ben": 1, "Ann": 2, "Cho": 2}


def test_the_remaining_budget_falls_by_what_was_won():
    assert values("remaining_budget", HELD) == {
        ("Ann", 1): 879,
        ("Ben", 1): 1000,
        ("Cho", 1): 1000,
        ("Ann", 2): 879,
        ("Ben", 2): 700,
        ("Cho", 2): 1000,
        ("Ann", 3): 879,
        ("Ben", 3): 700,
        ("Cho", 3): 975,
    }


def test_the_profit_on_an_item_is_of_its_winner_and_nothing_for_the_others():
    earned = {("Ann", 1): 79, ("Ben", 2): 100, ("Cho", 3): 75}
    assert values("profit_by_item", HELD) == {
        (name, place): earned.get((name, place), 0) for name in ("Ann", "Ben", "Cho") for place in (1, 2, 3)
    }


def test_a_winning_bid_tells_its_winners_objective_and_the_place_of_its_item():
    assert values("winning_bid", HELD) == {
        ("Ann", "profit", 1): 121,
        ("Ben", "items", 2): 300,
        ("Cho", "profit", 3): 25,
    }


# ---------------------------------------------------------------- engagement and what suits a bidder


def test_the_acquisition_rate_is_of_the_items_that_match():
    assert {one.bidder: one.value for one in measure(["acquisition_rate"], HELD)} == {"Ann": 1, "Ben": 1, "Cho": None}
    assert missing("acquisition_rate", HELD) == {"Cho": "the bidder has no persona"}


def test_without_a_matched_item_the_acquisition_rate_is_missing_and_not_0():
    entries = log(BidderLabelled("Dan", {"beach": 1.0}, "simulated"), *LABELS[1:4], OPENED)
    assert missing("acquisition_rate", entries) == {"Dan": "no item that matches its persona was offered"}


def test_engagement_is_the_number_of_bids_on_an_item_zeros_included():
    assert values("engagement", HELD) == {
        ("Ann", "Loft", 1): 2,
        ("Ann", "Farm", 2): 0,
        ("Ann", "Shed", 3): 0,
        ("Ben", "Loft", 1): 1,
        ("Ben", "Farm", 2): 1,
        ("Ben", "Shed", 3): 0,
        ("Cho", "Loft", 1): 0,
        ("Cho", "Farm", 2): 0,
        ("Cho", "Shed", 3): 1,
    }


def test_engagement_is_averaged_over_the_items_that_match_and_over_the_others():
    matched = {one.bidder: one.value for one in measure(["matched_engagement"], HELD)}
    unmatched = {one.bidder: one.value for one in measure(["unmatched_engagement"], HELD)}
    assert matched == {"Ann": 2, "Ben": 1, "Cho": None}
    assert unmatched == {"Ann": 0, "Ben": 1 / 2, "Cho": None}


# ---------------------------------------------------------------- plans


def test_the_priority_heatmap_goes_by_place_and_leaves_out_what_is_gone():
    assert values("priority", HELD) == {
        ("Ann", "1", 1): 3,
        ("Ann", "2", 1): 1,
        ("Ann", "3", 1): 2,
        ("Ann", "2", 2): 2,
        ("Ann", "3", 2): 3,
        ("Ann", "3", 3): 3,
    }


def test_priorities_are_averaged_over_the_items_to_come_that_match_and_over_the_others():
    assert values("matched_priority", HELD) == {("Ann", 1): 3}
    assert values("unmatched_priority", HELD) == {("Ann", 1): 1.5, ("Ann", 2): 2.5, ("Ann", 3): 3}


def test_each_item_matches_a_bidder_or_not_at_its_place():
    matched = {place for place, value in values("persona_match", HELD).items() if value}
    assert matched == {("Ann", 1), ("Ben", 2)}
    assert {bidder for bidder, _ in values("persona_match", HELD)} == {"Ann", "Ben"}  # Cho has no persona


def test_what_is_correlated_stands_at_the_same_places():
    assert values("priority_initial", HELD) == {("Ann", 1): 3, ("Ann", 2): 1, ("Ann", 3): 2}
    assert values("priority_current", HELD) == {("Ann", 1): 3, ("Ann", 2): 2, ("Ann", 3): 3}
    assert {key: value for key, value in values("bids", HELD).items() if value} == {
        ("Ann", 1): 2,
        ("Ben", 1): 1,
        ("Ben", 2): 1,
        ("Cho", 3): 1,
    }
    assert {key for key, value in values("won", HELD).items() if value} == {("Ann", 1), ("Ben", 2), ("Cho", 3)}
    assert set(values("bids", HELD)) == set(values("won", HELD))


def test_a_plan_made_after_a_hammer_is_no_initial_one():
    late = log(*LABELS, OPENED, *(event for event in (*LOFT, *FARM) if event != LOFT[1]))
    assert missing("priority_initial", late) == {"": "no bidder has a plan for an item that is over"}
    assert values("priority_current", late) == {("Ann", 2): 2}


# ---------------------------------------------------------------- bidding


def test_a_raise_is_set_against_the_price_before_its_round():
    assert values("bid_increase", HELD) == {
        "Ann": [0, pytest.approx(0.1)],  # 100 over the start of 100, 121 over 110
        "Ben": [pytest.approx(0.1), 0.5],  # 110 over the start and not over Ann's 100; 300 over 200
        "Cho": 0,  # 25 over the lowered start
    }


def test_raises_fall_into_bins_whose_lower_end_is_in_them():
    shares = values("bid_increase_share", HELD)
    assert {key: share for key, share in shares.items() if share} == {
        ("Ann", "[0, 10)"): 0.5,
        ("Ann", "[10, 11)"): 0.5,
        ("Ben", "[10, 11)"): 0.5,
        ("Ben", "[50, inf)"): 0.5,
        ("Cho", "[0, 10)"): 1,
    }
    assert {label for _, label in shares} == set(BINS)


@pytest.mark.parametrize(
    ("amount", "label"),
    [
        (200, "[0, 10)"),
        (219.99, "[0, 10)"),
        (220, "[10, 11)"),
        (221.99, "[10, 11)"),
        (222, "[11, 20)"),
        (239.99, "[11, 20)"),
        (240, "[20, 50)"),
        (300, "[50, inf)"),
    ],
)
def test_bins_meet_without_a_gap(amount, label):
    shares = values(
        "bid_increase_share",
        log(*LABELS, OPENED, ItemOpened("Farm", usd(200), usd(20)), Acted("Ben", "Farm", Bid(usd(amount)))),
    )
    assert [name for (_, name), share in shares.items() if share] == [label]


def test_the_failed_bid_rate_is_of_attempts_over_attempts_and_decisions_that_stood():
    assert values("failed_bid_rate", HELD) == {
        "Ann": 2 / (2 + 2 + 3),  # 2 failed; 2 bids and 3 withdrawals stood
        "Ben": 1 / (1 + 2 + 2),  # the withdrawal that its failed bid came to is no decision
        "Cho": 0,
    }


def test_a_limit_is_one_decision_however_often_the_house_bids_for_it():
    limit = LimitSet("Ann", "Loft", 1, 2, "so", usd(150))
    bids = [Acted("Ann", "Loft", Bid(usd(100 + 10 * number)), number) for number in range(1, 4)]
    left = [withdrew("Loft", 1, bidder) for bidder in ("Ben", "Cho")]
    entries = log(*LABELS, OPENED, failed("Loft", 1, "Ann"), limit, *left, *bids, withdrew("Loft", 4, "Ann"))
    assert values("failed_bid_rate", entries) == {"Ann": 1 / 2, "Ben": 0, "Cho": 0}


def test_who_was_never_asked_has_no_failed_bid_rate():
    entries = log(*LABELS, OPENED, withdrew("Loft", 1, "Ann", "cannot afford"), withdrew("Loft", 1, "Ben"))
    assert missing("failed_bid_rate", entries) == dict.fromkeys(("Ann", "Cho"), "the bidder answered no call")


def test_forced_withdrawals_are_answers_to_the_rate_of_the_source_and_to_no_other():
    declined = [withdrew("Loft", 1, bidder) for bidder in ("Ann", "Ben", "Cho")]
    forced = [withdrew(item, 1, bidder, "cannot afford") for item in ("Farm", "Mill") for bidder in ("Ann", "Ben")]
    entries = log(*LABELS, OPENED, failed("Loft", 1, "Ben"), *declined, *forced)
    assert values("failed_bid_rate", entries) == {"Ann": 0, "Ben": 1 / 2, "Cho": 0}
    assert values("failed_bid_rate_forced", entries) == {"Ann": 0, "Ben": 1 / 4, "Cho": 0}


# ---------------------------------------------------------------- beliefs, profiles, strategies, predictions


def test_belief_errors_are_counted_over_all_updates_and_every_field_is_right_in_the_end():
    assert values("belief_error_rate_self", HELD) == {"Ann": 1 / (3 + 3 + 1)}
    assert values("belief_error_rate_others", HELD) == {"Ann": 1 / (4 + 5 + 1)}


def test_alone_there_is_nothing_to_believe_about_others():
    entries = log(*LABELS, OPENED, believed("Ann", 3, 3, 0, 0))
    assert values("belief_error_rate_self", entries) == {"Ann": 1 / 2}  # all wrong, then all put right
    assert missing("belief_error_rate_others", entries) == {"Ann": "there was nothing to believe about others"}


def test_profiling_errors_are_nats_at_the_item_learned_from_and_the_last_one_is_final():
    assert values("profiling_error", HELD) == {
        ("Ann", "Ben", 1): pytest.approx(math.log(2), abs=1e-4),
        ("Ann", "Ben", 2): pytest.approx(0, abs=1e-4),
    }
    assert values("final_profiling_error", HELD) == {("Ann", "Ben"): pytest.approx(0, abs=1e-4)}


def test_a_uniform_guess_is_off_by_the_logarithm_of_how_many_kinds_there_are():
    assert values("uniform_profiling_error", HELD) == {("Ann", "Ben"): pytest.approx(math.log(2), abs=1e-4)}


def test_the_shares_of_strategic_actions_name_all_six():
    shares = values("strategy_share", HELD)
    assert shares == {("Ann", letter): 0.5 if letter in "AD" else 0 for letter in "ABCDEF"}


def test_strategic_agreement_is_of_decisions_that_follow_from_their_action():
    assert values("strategy_agreement", HELD) == {"Ann": 0.5}


def test_the_error_of_a_prediction_is_of_rivals_that_bid_and_lost():
    assert values("prediction_error", HELD) == {"Ann": pytest.approx((132 - 110) / 110)}  # Cho did not bid
    winner = log(*LABELS, OPENED, Predicted("Ann", "Farm", (Prediction("Ben", 0.5, usd(9)),)), *FARM)
    assert missing("prediction_error", winner) == {"": "nobody has predicted the limit of a rival that bid and lost"}


# ---------------------------------------------------------------- water


def day(number, bids, served, statuses):
    acts = {name: Withdraw() if bid is None else Bid(usd(bid)) for name, bid in bids.items()}
    stood = {name: Status(health, usd(balance), 1) for name, (health, balance) in statuses.items()}
    item = f"day {number}"
    return [
        DayOpened(item, 10),
        *(Acted(name, item, act) for name, act in acts.items()),
        DayClosed(item, served, stood),
    ]


# Al needs 8 units and Bo 12; on average 10 are there. Al is served on day 1, nobody on day 2, and Bo dies.
WATER = [
    LogOpened(1, "0.1.0", "run-7", 7),
    *(BidderLabelled(name, {}, "simulated") for name in ("Al", "Bo")),
    WaterOpened({"Al": 8, "Bo": 12}, {"Al": usd(70), "Bo": usd(75)}, 2, 10, 10, 10.0),
    *day(1, {"Al": 30, "Bo": 5}, ("Al",), {"Al": (10, 40), "Bo": (7, 75)}),
    *day(2, {"Al": None, "Bo": 0}, (), {"Al": (9, 110), "Bo": (0, 150)}),
]


@pytest.mark.parametrize(
    ("metric", "worked"),
    [
        ("survived", {"Al": 1, "Bo": 0}),
        ("days_lived", {"Al": 2, "Bo": 1}),
        ("survivors", {"": 1}),
        ("rsr_start", {"": 10 / 20}),
        ("rsr_end", {"": 10 / 8}),
        ("health", {("Al", 1): 10, ("Al", 2): 9, ("Bo", 1): 7, ("Bo", 2): 0}),
        ("balance", {("Al", 1): 40, ("Al", 2): 110, ("Bo", 1): 75, ("Bo", 2): 150}),
    ],
)
def test_the_water_game_is_told_by_resident_and_by_day(metric, worked):
    assert values(metric, log(*WATER)) == worked


def test_a_day_that_served_nobody_has_no_lowest_bid_and_a_missing_bid_is_not_0():
    assert measure(["lowest_bid"], log(*WATER)) == [
        Measurement("lowest_bid", 30.0, at=1),
        Measurement("lowest_bid", None, at=2, missing="nobody was served"),
    ]
    assert [(one.bidder, one.at, one.value, one.missing) for one in measure(["water_bid"], log(*WATER))] == [
        *[("Al", 1, 30, ""), ("Al", 2, None, "no bid")],
        *[("Bo", 1, 5, ""), ("Bo", 2, 0, "")],
    ]


def test_who_was_alive_when_the_log_broke_off_may_have_survived_or_not():
    cut = log(*WATER[:-2])
    for metric in ("survived", "survivors", "rsr_end"):
        assert set(missing(metric, cut).values()) == {"the game broke off before its last day"}
    dead = log(*WATER[:4], *day(1, {"Al": 3, "Bo": 5}, (), {"Al": (7, 40), "Bo": (0, 75)}))
    assert [(one.bidder, one.value) for one in measure(["survived"], dead)] == [("Al", None), ("Bo", 0)]


def test_a_game_ends_with_its_last_resident_and_then_nobody_survived():
    gone = log(*WATER[:4], *day(1, {"Al": 3, "Bo": 5}, (), {"Al": (0, 40), "Bo": (0, 75)}))
    assert values("survivors", gone) == {"": 0}
    assert missing("rsr_end", gone) == {"": "nobody survived"}


def test_before_the_first_day_is_over_nothing_is_said_of_the_residents():
    assert missing("survived", log(*WATER[:4])) == {"": "no day is over yet"}
    assert values("rsr_start", log(*WATER[:4])) == {"": 0.5}


# ---------------------------------------------------------------- sessions


def picked(bidder, run, number):
    return ActedSealed(bidder, f"run {run}", Withdraw("failed bids") if number is None else Bid(usd(number)))


def won(bidder, run, prize):
    return PaidSealed((bidder,), HOUSE, bidder, f"run {run}", usd(prize))


CONTEST = BeautyOpened(
    bidders=("Ann", "Ben"),
    runs=2,
    show="nothing",
    history=0,
    rational_rivals=False,
    assets=usd(0),
    fee=usd(0),
    bound=usd(100),
    fraction=Fraction(2, 3),
    prize=usd(60),
)


# Two runs for a prize of 60: Ann picks 30 and 20 and wins it, then shares it; Ben picks 60, then fails to pick.
RUNS = [
    RunOpened("run 1"),
    picked("Ann", 1, 30),
    picked("Ben", 1, 60),
    won("Ann", 1, 60),
    RunLabelled("run 1", {"Ann": usd(0), "Ben": usd(0)}, {"Ann": usd(30), "Ben": usd(30)}),
    PrizeAwarded("run 1", (), None),
    RunOpened("run 2"),
    Tried("Ben", "run 2", 1, 1, "not a number"),
    picked("Ann", 2, 20),
    picked("Ben", 2, None),
    won("Ann", 2, 60),
    RunLabelled("run 2", {"Ann": usd(0), "Ben": usd(0)}, {"Ann": usd(30), "Ben": usd(30)}),
    PrizeAwarded("run 2", (), None),
]
SESSION = [
    LogOpened(1, "0.1.0", "run-7", 7),
    *(BidderLabelled(name, {}, "simulated") for name in ("Ann", "Ben")),
    CONTEST,
    *RUNS,
]


@pytest.mark.parametrize(
    ("metric", "worked"),
    [
        ("earned", {"Ann": 120, "Ben": 0}),
        ("points", {"Ann": 2, "Ben": 0}),
        ("payoff", {"Ann": 1, "Ben": 0}),
        ("payoff_ratio", {"Ann": 2, "Ben": 0}),  # over the half that everyone has in equilibrium
        ("deviation", {"Ann": pytest.approx(0.25), "Ben": 0.6}),  # Ben's second run has none
        ("broken_share", {"Ann": 0, "Ben": 0.5}),
    ],
)
def test_sessions_are_summed_up_over_their_runs(metric, worked):
    assert values(metric, log(*SESSION)) == worked


@pytest.mark.parametrize(("metric", "anns", "ben"), [("deviation_path", [0.3, 0.2], 0.6), ("action", [30, 20], 60)])
def test_paths_go_run_by_run_and_a_run_without_an_action_keeps_its_place(metric, anns, ben):
    assert measure([metric], log(*SESSION)) == [
        *(Measurement(metric, pytest.approx(value), "Ann", at=run) for run, value in enumerate(anns, start=1)),
        Measurement(metric, ben, "Ben", at=1),
        Measurement(metric, None, "Ben", at=2, missing="no action"),
    ]


def test_dollars_are_told_run_by_run_too():
    found = {(one.bidder, one.at): one.value for one in measure(["earned_by_run"], log(*SESSION))}
    assert found == {("Ann", 1): 60, ("Ann", 2): 60, ("Ben", 1): 0, ("Ben", 2): 0}


def test_where_no_equilibrium_is_known_payoffs_are_missing_and_actions_and_dollars_are_not():
    unlabelled = log(*SESSION[:4], *(event for event in RUNS[:6] if not isinstance(event, RunLabelled)))
    assert values("earned", unlabelled) == {"Ann": 60, "Ben": 0}
    for metric in ("payoff", "payoff_ratio", "deviation"):
        assert set(missing(metric, unlabelled)) == {"Ann", "Ben"}
    assert missing("deviation_path", unlabelled) == {"": "no equilibrium to deviate from is known"}
    assert values("action", unlabelled) == {("Ann", 1): 30, ("Ben", 1): 60}


def test_before_the_first_run_is_over_nothing_is_said_of_the_bidders():
    assert missing("payoff", log(*SESSION[:4])) == {"": "no run is over yet"}


# ---------------------------------------------------------------- series


def held(number, ann, ben):
    ranks = {"Ann": 1 + (ben > ann), "Ben": 1 + (ann > ben)}
    return AuctionHeld(number, number, ranks, {"Ann": usd(ann), "Ben": usd(ben)}, {})


SERIES = log(
    LogOpened(1, "0.1.0", "row", 7),
    SeriesOpened(3, {"Ann": "simulated", "Ben": "truthful"}),
    held(1, 10, 20.5),
    held(2, -5, -5),
)


@pytest.mark.parametrize(
    ("metric", "worked"),
    [
        ("series_rank", {("Ann", 1): 2, ("Ben", 1): 1, ("Ann", 2): 1, ("Ben", 2): 1}),
        ("series_profit", {("Ann", 1): 10, ("Ben", 1): 20.5, ("Ann", 2): -5, ("Ben", 2): -5}),
        ("mean_rank", {"Ann": 1.5, "Ben": 1}),
        ("rank_trend", {"Ann": -1, "Ben": 0}),
        ("total_profit", {"Ann": 5, "Ben": 15.5}),
    ],
)
def test_a_series_is_told_auction_by_auction_and_in_all(metric, worked):
    assert values(metric, SERIES) == worked


def test_one_auction_has_no_trend():
    assert missing("rank_trend", SERIES[:3]) == dict.fromkeys(("Ann", "Ben"), "one auction has no trend")


def test_the_calls_of_a_series_are_not_in_its_log_and_so_not_0():
    assert missing("calls", SERIES) == {"": "the log is of another game: it has no BidderLabelled"}


# ---------------------------------------------------------------- laws


@st.composite
def sales(draw):
    """A sale of up to three items among up to four bidders, as the rules would log it."""
    names = draw(st.lists(st.sampled_from(["Ann", "Ben", "Cho", "Dan"]), min_size=1, unique=True))
    kinds = draw(st.lists(st.sampled_from(["urban", "rural", ""]), min_size=1, max_size=3))
    items = [f"item {number}" for number in range(len(kinds))]
    events = []
    for item in items:
        events.append(ItemOpened(item, usd(100), usd(10)))
        price, leader = 100, None
        for number in range(draw(st.integers(0, 3))):
            leader, price = draw(st.sampled_from(names)), price + draw(st.integers(0, 90))
            events += [failed(item, number, leader)] * draw(st.integers(0, 2))
            events += [Strategized(leader, item, number, 1, draw(st.sampled_from("ABCDEF")), "")]
            events += [Acted(leader, item, Bid(usd(price)), number), RoundClosed(item, number, leader, usd(price))]
        wrong = draw(st.integers(0, 3))
        events += sold(item, leader, usd(price)) if leader else [ItemUnsold(item)]
        events.append(believed(names[0], wrong, 3, wrong, 4))
        events.append(Planned(names[0], "", {item: draw(st.integers(1, 3)) for item in items}))
    labels = [ItemLabelled(item, usd(300), kind) for item, kind in zip(items, kinds, strict=True)]
    personas = {name: draw(st.sampled_from([{}, {"urban": 1.0}, {"beach": 1.0}])) for name in names}
    return (
        names,
        personas,
        labels,
        SaleOpened(tuple(names), tuple(Lot(item, usd(100)) for item in items), "price"),
        events,
    )


def told(sale, turned=False):
    names, personas, labels, opened, events = sale
    seats = names[::-1] if turned else names
    bidders = [event for name in seats for event in (BidderLabelled(name, personas[name], "x"), seated(name))]
    opened = SaleOpened(tuple(seats), opened.lots, "price")
    head = LogOpened(1, "0.1.0", "r", 0, parts=(found("game", "english").part,))
    return log(head, *labels, *bidders, opened, *events)


@QUICK
@given(sales())
def test_shares_add_up_to_1_and_failure_rates_stay_below_it(sale):
    entries = told(sale)
    for metric in ("bid_increase_share", "strategy_share"):
        totals = {}
        for one in measure([metric], entries):
            totals[one.bidder] = totals.get(one.bidder, 0) + (one.value or 0)
        assert all(total == pytest.approx(1) for bidder, total in totals.items() if bidder)
    assert all(0 <= one.value < 1 for one in measure(["failed_bid_rate"], entries) if one.value is not None)
    for metric in ("belief_error_rate_self", "belief_error_rate_others"):
        assert all(0 <= one.value <= 1 / 2 for one in measure([metric], entries))


@QUICK
@given(sales())
def test_the_parts_make_the_whole(sale):
    entries = told(sale)
    _, _, labels, opened, events = sale
    total = {
        name: sum(one.value or 0 for one in measure([name], entries))
        for name in ("profit", "profit_ratio", "profit_by_item", "items_won", "spent", "won", "winning_bid", "bids")
    }
    assert total["profit_ratio"] == pytest.approx(total["profit"] / (200 * len(labels)))
    assert total["profit_ratio"] <= 1
    assert total["profit_by_item"] == pytest.approx(total["profit"])
    assert total["items_won"] == total["won"] == sum(isinstance(event, ItemSold) for event in events)
    assert total["spent"] == total["winning_bid"]
    engaged = sum(one.value or 0 for one in measure(["engagement"], entries))
    assert total["bids"] == engaged == sum(isinstance(event, Acted) and isinstance(event.act, Bid) for event in events)
    last = [one.value for one in measure(["remaining_budget"], entries) if one.at == len(opened.lots)]
    assert sum(last) == 1000 * len(last) - total["spent"]


@QUICK
@given(sales())
def test_a_rank_is_one_more_than_how_many_have_more_profit(sale):
    profit, ranks = values("profit", told(sale)), values("rank", told(sale))
    assert min(ranks.values()) == 1
    assert all((profit[one] > profit[two]) == (ranks[one] < ranks[two]) for one in ranks for two in ranks)


@QUICK
@given(sales())
def test_no_value_hangs_on_who_sits_where(sale):
    def measured(entries):
        found = measure([one.name for one in METRICS], entries)
        return sorted((one.metric, one.bidder, one.about, one.at or 0, repr(one.value), one.missing) for one in found)

    assert measured(told(sale, turned=True)) == measured(told(sale))
