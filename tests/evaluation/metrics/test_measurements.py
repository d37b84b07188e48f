"""The metrics by name: each formula worked by hand on a small log, and the laws that they keep on any."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log import events as log_events
from harbor._core.log import thoughts
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, Paid, PaidSealed, Tried
from harbor._core.log.events import BidderLabelled, BidderSeated, ItemLabelled, LogOpened, Lot
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Decided, Planned, Predicted, Prediction, Profiled, Strategized
from harbor._core.plugins.finding import found
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.english.events import ItemOpened, ItemSold, ItemUnsold, PriceLowered, RoundClosed, SaleOpened
from harbor._games.sessions.private_games import ItemAllotted
from harbor._games.sessions.session import RunLabelled, RunOpened
from harbor._games.water.rules import DayClosed, DayOpened, Status, WaterOpened
from harbor.evaluation._metrics.behaviour import BINS
from harbor.evaluation._metrics.built_in import METRICS
from harbor.evaluation._metrics.measurement import measure
from harbor.evaluation._metrics.profiling import bin_of, binned
from support.sold import sold

QUICK = settings(max_examples=60)
NOTHING = thoughts.Belief(Decimal(0), {}, {})


def log(*happened):
    return [Entry(number, number / 10, event) for number, event in enumerate(happened)]


def usd(amount):
    return Decimal(str(amount))


def values(metric, entries):
    """Return the values of a metric, by whatever of bidder, about and at there is. What is missing has its reason."""
    found = {}
    for one in measure([metric], entries):
        key = tuple(part for part in (one.bidder, one.about, one.at) if part not in ("", None))
        value = one.missing if one.value is None else one.value
        found.setdefault(key if len(key) > 1 else (key or ("",))[0], []).append(value)
    return {key: several[0] if len(several) == 1 else several for key, several in found.items()}


def by_place(**rows):
    """Return the value at each place, by bidder."""
    return {(bidder, at): value for bidder, row in rows.items() for at, value in enumerate(row, 1)}


def seated(bidder, objective="profit"):
    return BidderSeated(bidder, usd(1000), {}, objective)


def withdrew(item, number, bidder, reason="declined"):
    if reason == "cannot afford":
        return log_events.BidderWithdrew(item, number, bidder, reason)
    return Acted(bidder, item, Withdraw(reason), number)


def failed(item, number, bidder, attempt=1):
    return Tried(bidder, item, number, attempt, "too low")


def believed(bidder, wrong_self, of_self, wrong_others, of_others):
    return thoughts.Believed(bidder, (), NOTHING, wrong_self, wrong_others, of_self, of_others, NOTHING)


# Ann (urban) has the loft for 121 and Ben (rural) the farm for 300; nobody wants the shed at 50, and Cho (no persona)
# takes it for the lowered 25. True values are 200, 400 and 100: all could have earned 100 + 200 + 50 = 350.
LABELS = [
    LogOpened(1, "0.1.0", "run-7", 7), ItemLabelled("Loft", usd(200), "urban"), ItemLabelled("Farm", usd(400), "rural"),
    ItemLabelled("Shed", usd(100), ""), BidderLabelled("Ann", {"urban": 1.0}, "simulated"),
    BidderLabelled("Ben", {"rural": 1.0}, "simulated"), BidderLabelled("Cho", {}, "truthful"), seated("Ann"),
    seated("Ben", "items"), seated("Cho"), log_events.CatalogShown("Ann", {"urban": "in town", "rural": "far out"}),
]  # fmt: skip
LOTS = (Lot("Loft", usd(100)), Lot("Farm", usd(200)), Lot("Shed", usd(50)))
OPENED = SaleOpened(("Ann", "Ben", "Cho"), LOTS, "price")
LOFT = [
    ItemOpened("Loft", usd(100), usd(10)), Planned("Ann", "first", {"Loft": 3, "Farm": 1, "Shed": 2}),
    Predicted("Ann", "Loft", (Prediction("Ben", 0.5, usd(132)), Prediction("Cho", 0.1, usd(90)))),
    Acted("Ann", "Loft", Bid(usd(100))), Acted("Ben", "Loft", Bid(usd(110))), withdrew("Loft", 1, "Cho"),
    RoundClosed("Loft", 1, "Ben", usd(110)), failed("Loft", 2, "Ann"), failed("Loft", 2, "Ann", 2),
    Strategized("Ann", "Loft", 2, 3, "A", "mine"), Decided("Ann", "Loft", 2, 3, "so", usd(121)),
    Acted("Ann", "Loft", Bid(usd(121)), 2), RoundClosed("Loft", 2, "Ann", usd(121)), failed("Loft", 3, "Ben"),
    withdrew("Loft", 3, "Ben", "failed bids"), *sold("Loft", "Ann", usd(121)),
]  # fmt: skip
FARM = [
    ItemOpened("Farm", usd(200), usd(20)), believed("Ann", 1, 3, 0, 4),
    Profiled("Ann", "Ben", "Loft", {"urban": 0.0, "rural": 0.0}, 0), Planned("Ann", "second", {"Farm": 2, "Shed": 3}),
    Strategized("Ann", "Farm", 1, 1, "D", "save"), Decided("Ann", "Farm", 1, 1, "so", usd(220), contradicts=True),
    withdrew("Farm", 1, "Ann"), Acted("Ben", "Farm", Bid(usd(300))), withdrew("Farm", 1, "Cho"),
    RoundClosed("Farm", 1, "Ben", usd(300)), *sold("Farm", "Ben", usd(300)),
]  # fmt: skip
SHED = [
    ItemOpened("Shed", usd(50), usd(5)), believed("Ann", 0, 3, 1, 5),
    Profiled("Ann", "Ben", "Farm", {"urban": -1.0, "rural": 1.0}, 0),
    *(withdrew("Shed", 1, bidder) for bidder in ("Ann", "Ben", "Cho")), PriceLowered("Shed", usd(25), usd(2)),
    withdrew("Shed", 1, "Ann"), withdrew("Shed", 1, "Ben"), Acted("Cho", "Shed", Bid(usd(25))),
    RoundClosed("Shed", 1, "Cho", usd(25)), *sold("Shed", "Cho", usd(25)),
]  # fmt: skip
HELD = log(*LABELS, OPENED, *LOFT, *FARM, *SHED)


# ---------------------------------------------------------------- water


def day(number, bids, served, statuses):
    acts = [Acted(name, f"day {number}", Withdraw() if bid is None else Bid(usd(bid))) for name, bid in bids.items()]
    stood = {name: Status(health, usd(balance), 1) for name, (health, balance) in statuses.items()}
    return [DayOpened(f"day {number}", 10), *acts, DayClosed(f"day {number}", served, stood)]


# Al needs 8 units and Bo 12; on average 10 are there. Al is served on day 1, nobody on day 2, and Bo dies.
WATER = [
    LogOpened(1, "0.1.0", "run-7", 7), *(BidderLabelled(name, {}, "simulated") for name in ("Al", "Bo")),
    WaterOpened({"Al": 8, "Bo": 12}, {"Al": usd(70), "Bo": usd(75)}, 2, 10, 10, 10.0),
    *day(1, {"Al": 30, "Bo": 5}, ("Al",), {"Al": (10, 40), "Bo": (7, 75)}),
    *day(2, {"Al": None, "Bo": 0}, (), {"Al": (9, 110), "Bo": (0, 150)}),
]  # fmt: skip


# ---------------------------------------------------------------- sessions


CONTEST = BeautyOpened(
    bidders=("Ann", "Ben"), runs=2, show="nothing", history=0, rational_rivals=False, assets=usd(0), fee=usd(0),
    bound=usd(100), fraction=Fraction(2, 3), prize=usd(60),
)  # fmt: skip


def run(number, ann, ben, *tried):
    name = f"run {number}"
    picks = {"Ann": Bid(usd(ann)), "Ben": Withdraw("failed bids") if ben is None else Bid(usd(ben))}
    ends = (dict.fromkeys(picks, usd(dollars)) for dollars in (0, 30))
    return [
        RunOpened(name), *tried, *(ActedSealed(bidder, name, act) for bidder, act in picks.items()),
        PaidSealed(("Ann",), HOUSE, "Ann", name, usd(60)), RunLabelled(name, *ends), PrizeAwarded(name, (), None),
    ]  # fmt: skip


RUNS = [*run(1, 30, 60), *run(2, 20, None, Tried("Ben", "run 2", 1, 1, "not a number"))]
LABELLED = (BidderLabelled(name, {}, "simulated") for name in ("Ann", "Ben"))
SESSION = [LogOpened(1, "0.1.0", "run-7", 7), *LABELLED, CONTEST, *RUNS]


# ---------------------------------------------------------------- series


def held(number, ranks, ann, ben):
    return log_events.AuctionHeld(number, number, ranks, {"Ann": usd(ann), "Ben": usd(ben)}, {})


SERIES = log(
    LogOpened(1, "0.1.0", "row", 7), log_events.SeriesOpened(3, {"Ann": "simulated", "Ben": "truthful"}),
    held(1, {"Ann": 2, "Ben": 1}, 10, 20.5), held(2, {"Ann": 1, "Ben": 1}, -5, -5),
)  # fmt: skip


# ---------------------------------------------------------------- worked values

LOGS = {"english": HELD, "water": log(*WATER), "beauty": log(*SESSION), "series": SERIES}
BIDS = by_place(Ann=(2, 0, 0), Ben=(1, 1, 0), Cho=(0, 0, 1))
NEAR = pytest.approx
HOMELESS, NO_ACTION = "the bidder has no persona", "no action"
WORKED = {
    "english": {
        "profit": {"Ann": 79, "Ben": 100, "Cho": 75}, "rank": {"Ben": 1, "Ann": 2, "Cho": 3},
        "profit_ratio": {"Ann": 79 / 350, "Ben": 100 / 350, "Cho": 75 / 350},
        "items_won": {"Ann": 1, "Ben": 1, "Cho": 1}, "spent": {"Ann": 121, "Ben": 300, "Cho": 25},
        "revenue": {"": 121 + 300 + 25},
        "remaining_budget": by_place(Ann=(879, 879, 879), Ben=(1000, 700, 700), Cho=(1000, 1000, 975)),
        "profit_by_item": by_place(Ann=(79, 0, 0), Ben=(0, 100, 0), Cho=(0, 0, 75)),
        "winning_bid": {("Ann", "profit", 1): 121, ("Ben", "items", 2): 300, ("Cho", "profit", 3): 25},
        "acquisition_rate": {"Ann": 1, "Ben": 1, "Cho": HOMELESS},
        # the number of bids on an item, zeros included
        "engagement": {(name, LOTS[at - 1].name, at): count for (name, at), count in BIDS.items()},
        "matched_engagement": {"Ann": 2, "Ben": 1, "Cho": HOMELESS},
        "unmatched_engagement": {"Ann": 0, "Ben": 1 / 2, "Cho": HOMELESS},
        "bids": BIDS, "won": by_place(Ann=(1, 0, 0), Ben=(0, 1, 0), Cho=(0, 0, 1)),
        # plans: by place, without what is gone
        "priority": {
            ("Ann", "1", 1): 3, ("Ann", "2", 1): 1, ("Ann", "3", 1): 2,
            ("Ann", "2", 2): 2, ("Ann", "3", 2): 3, ("Ann", "3", 3): 3,
        },
        "matched_priority": {("Ann", 1): 3},
        "unmatched_priority": {("Ann", 1): 1.5, ("Ann", 2): 2.5, ("Ann", 3): 3},
        "persona_match": by_place(Ann=(1, 0, 0), Ben=(0, 1, 0)),  # Cho has no persona
        "priority_initial": by_place(Ann=(3, 1, 2)), "priority_current": by_place(Ann=(3, 2, 3)),
        # a raise is set against the price before its round: 100 over the start of 100, 121 over 110; 110 over the
        # start and not over Ann's 100, 300 over 200; 25 over the lowered start
        "bid_increase": {"Ann": [0, NEAR(0.1)], "Ben": [NEAR(0.1), 0.5], "Cho": 0},
        # Ann: 2 failed; 2 bids and 3 withdrawals stood. Ben: the withdrawal that its failed bid came to is no decision
        "failed_bid_rate": {"Ann": 2 / (2 + 2 + 3), "Ben": 1 / (1 + 2 + 2), "Cho": 0},
        # errors of beliefs are counted over all updates, and every field is right in the end
        "belief_error_rate_self": {"Ann": 1 / (3 + 3 + 1)}, "belief_error_rate_others": {"Ann": 1 / (4 + 5 + 1)},
        # nats, at the item learned from; the last one is final
        "profiling_error": {("Ann", "Ben", 1): NEAR(math.log(2), abs=1e-4), ("Ann", "Ben", 2): NEAR(0, abs=1e-4)},
        "final_profiling_error": {("Ann", "Ben"): NEAR(0, abs=1e-4)},
        "uniform_profiling_error": {("Ann", "Ben"): NEAR(math.log(2), abs=1e-4)},
        "strategy_share": {("Ann", letter): 0.5 if letter in "AD" else 0 for letter in "ABCDEF"},
        "strategy_agreement": {"Ann": 0.5},
        "prediction_error": {"Ann": NEAR((132 - 110) / 110)},  # of rivals that bid and lost; Cho did not bid
    },
    "water": {
        "survived": {"Al": 1, "Bo": 0}, "days_lived": {"Al": 2, "Bo": 1}, "survivors": {"": 1},
        "rsr_start": {"": 10 / 20}, "rsr_end": {"": 10 / 8},
        "health": by_place(Al=(10, 9), Bo=(7, 0)), "balance": by_place(Al=(40, 110), Bo=(75, 150)),
        "lowest_bid": {1: 30, 2: "nobody was served"}, "water_bid": by_place(Al=(30, "no bid"), Bo=(5, 0)),
    },
    "beauty": {
        "earned": {"Ann": 120, "Ben": 0}, "points": {"Ann": 2, "Ben": 0}, "payoff": {"Ann": 1, "Ben": 0},
        "payoff_ratio": {"Ann": 2, "Ben": 0},  # over the half that everyone has in equilibrium
        "deviation": {"Ann": NEAR(0.25), "Ben": 0.6},  # Ben's second run has none
        "broken_share": {"Ann": 0, "Ben": 0.5},
        "earned_by_run": by_place(Ann=(60, 60), Ben=(0, 0)),
        "action": by_place(Ann=(30, 20), Ben=(60, NO_ACTION)),
        "deviation_path": by_place(Ann=(NEAR(0.3), NEAR(0.2)), Ben=(0.6, NO_ACTION)),
    },
    "series": {
        "series_rank": by_place(Ann=(2, 1), Ben=(1, 1)), "series_profit": by_place(Ann=(10, -5), Ben=(20.5, -5)),
        "mean_rank": {"Ann": 1.5, "Ben": 1}, "rank_trend": {"Ann": -1, "Ben": 0},
        "total_profit": {"Ann": 5, "Ben": 15.5},
    },
}  # fmt: skip


@pytest.mark.parametrize(("game", "metric"), [(game, metric) for game, worked in WORKED.items() for metric in worked])
def test_a_metric_has_the_values_worked_by_hand_on_a_small_log(game, metric):
    assert values(metric, LOGS[game]) == WORKED[game][metric]


UNLABELLED = log(*SESSION[:4], *(event for event in RUNS[:6] if not isinstance(event, RunLabelled)))
LATE = log(*LABELS, OPENED, *(event for event in (*LOFT, *FARM) if event != LOFT[1]))
DEAD, GONE = (
    log(*WATER[:4], *day(1, {"Al": 3, "Bo": 5}, (), {"Al": (health, 40), "Bo": (0, 75)})) for health in (7, 0)
)
ALONE = log(*LABELS, OPENED, believed("Ann", 3, 3, 0, 0))
MIXED = log(
    BidderLabelled("Dan", {"urban": 0.5, "rural": 0.5}, "simulated"), BidderLabelled("Eve", {"urban": 1.0}, "x"),
    BidderLabelled("Fay", {"beach": 1.0}, "x"), *LABELS[1:4], OPENED, *sold("Loft", "Dan", usd(9)),
    *sold("Shed", "Dan", usd(9)), *sold("Farm", "Eve", usd(9)),
)  # fmt: skip
EARLY, DRY = log(*WATER[:-2]), log(*WATER[:4])
BROKE_OFF, SILENT = "the game broke off before its last day", "the bidder answered no call"
NO_EQUILIBRIUM = dict.fromkeys(CONTEST.bidders, "no equilibrium to compare with is known, or no number was picked")
DECLINED = [withdrew("Loft", 1, bidder) for bidder in ("Ann", "Ben", "Cho")]
LIMITED = log(
    *LABELS, OPENED, failed("Loft", 1, "Ann"), thoughts.LimitSet("Ann", "Loft", 1, 2, "so", usd(150)), *DECLINED[1:],
    *(Acted("Ann", "Loft", Bid(usd(100 + 10 * number)), number) for number in range(1, 4)), withdrew("Loft", 4, "Ann"),
)  # fmt: skip
FORCED = log(
    *LABELS, OPENED, failed("Loft", 1, "Ben"), *DECLINED,
    *(withdrew(item, 1, bidder, "cannot afford") for item in ("Farm", "Mill") for bidder in ("Ann", "Ben")),
)  # fmt: skip
BROKE = log(*LABELS, OPENED, withdrew("Loft", 1, "Ann", "cannot afford"), withdrew("Loft", 1, "Ben"))
FORETOLD = log(*LABELS, OPENED, Predicted("Ann", "Farm", (Prediction("Ben", 0.5, usd(9)),)), *FARM)
TOLD = [
    # of a mix, any persona; what does not match does not count
    ("acquisition_rate", MIXED, {"Dan": 1 / 2, "Eve": 0, "Fay": "no item that matches its persona was offered"}),
    ("priority_initial", LATE, {"": "no bidder has a plan for an item that is over"}),  # made after a hammer
    ("priority_current", LATE, {("Ann", 2): 2}),
    # a limit is one decision however often the house bids for it
    ("failed_bid_rate", LIMITED, {"Ann": 1 / 2, "Ben": 0, "Cho": 0}),
    # forced withdrawals are answers to the rate of the source and to no other
    ("failed_bid_rate", FORCED, {"Ann": 0, "Ben": 1 / 2, "Cho": 0}),
    ("failed_bid_rate_forced", FORCED, {"Ann": 0, "Ben": 1 / 4, "Cho": 0}),
    ("failed_bid_rate", BROKE, {"Ann": SILENT, "Ben": 0, "Cho": SILENT}),
    ("belief_error_rate_self", ALONE, {"Ann": 1 / 2}),  # all wrong, then all put right
    ("belief_error_rate_others", ALONE, {"Ann": "there was nothing to believe about others"}),
    ("prediction_error", FORETOLD, {"": "nobody has predicted the limit of a rival that bid and lost"}),
    ("survived", EARLY, dict.fromkeys(("Al", "Bo"), BROKE_OFF)), ("survivors", EARLY, {"": BROKE_OFF}),
    ("rsr_end", EARLY, {"": BROKE_OFF}), ("survived", DEAD, {"Al": BROKE_OFF, "Bo": 0}),
    ("rsr_end", GONE, {"": "nobody survived"}), ("survivors", GONE, {"": 0}),
    ("survived", DRY, {"": "no day is over yet"}), ("rsr_start", DRY, {"": 0.5}),
    ("payoff", log(*SESSION[:4]), {"": "no run is over yet"}),
    *((metric, UNLABELLED, NO_EQUILIBRIUM) for metric in ("payoff", "payoff_ratio", "deviation")),
    ("deviation_path", UNLABELLED, {"": "no equilibrium to deviate from is known"}),
    ("earned", UNLABELLED, {"Ann": 60, "Ben": 0}), ("action", UNLABELLED, {("Ann", 1): 30, ("Ben", 1): 60}),
    ("rank_trend", SERIES[:3], dict.fromkeys(CONTEST.bidders, "one auction has no trend")),
    ("calls", SERIES, {"": "the log is of another game: it has no BidderLabelled"}),  # and so not 0
]  # fmt: skip


@pytest.mark.parametrize(("metric", "entries", "worked"), TOLD, ids=[one[0] for one in TOLD])
def test_what_a_log_does_not_tell_is_missing_with_the_reason_and_not_0_and_all_else_is_measured(
    metric, entries, worked
):
    assert values(metric, entries) == worked


# ---------------------------------------------------------------- bidding


def test_raises_fall_into_bins_that_meet_without_a_gap_and_whose_lower_end_is_in_them():
    found = values("bid_increase_share", HELD)
    assert {label for _, label in found} == set(BINS)
    assert {key: value for key, value in found.items() if value} == {
        ("Ann", "[0, 10)"): 0.5, ("Ann", "[10, 11)"): 0.5, ("Ben", "[10, 11)"): 0.5, ("Ben", "[50, inf)"): 0.5,
        ("Cho", "[0, 10)"): 1,
    }  # fmt: skip
    ends = {"[0, 10)": (200, 219.99), "[10, 11)": (220, 221.99), "[11, 20)": (222, 239.99), "[20, 50)": (240, 299.99)}
    for label, amounts in (ends | {"[50, inf)": (300,)}).items():
        for amount in amounts:
            entries = log(*LABELS, OPENED, FARM[0], Acted("Ben", "Farm", Bid(usd(amount))))
            assert values("bid_increase_share", entries)["Ben", label] == 1, amount


# ---------------------------------------------------------------- prices, and predictions beside what came to be


def bought(item, bidder, amount):
    return [Allocated(bidder, item), Paid(bidder, HOUSE, item, usd(amount))]


def auctioned(run, winner, price, **bids):
    """Return a run in which these were bid, and one got the item at a price."""
    acts = (ActedSealed(bidder, run, Bid(usd(amount))) for bidder, amount in bids.items())
    return [*acts, *bought(run, winner, price), ItemAllotted(run, (), {}, None)]


def test_prices_are_of_what_was_sold_to_one_at_its_place_beside_the_highest_bids_where_winners_do_not_pay_theirs():
    sale = [OPENED, Acted("Ann", "Loft", Bid(usd(12))), Acted("Ben", "Loft", Bid(usd(15)), 2)]
    sale += [*sold("Loft", "Ben", usd(15)), ItemUnsold("Farm"), *sold("Shed", "Ann", usd(11))]
    runs = [*auctioned("run 1", "Ben", 40, Ann=40, Ben=60), *auctioned("run 2", "Ann", 50, Ann=70, Ben=50)]
    losers_pay = [Paid("Ben", HOUSE, "run 1", usd(60)), *auctioned("run 1", "Ann", 40)]
    nobody = [ActedSealed("Ann", "run 1", Bid(usd(40))), ItemAllotted("run 1", (), {}, None)]
    units = ([Allocated(more, "run 1"), *losers_pay] for more in ("Ann", "Ben"))
    for happened, price, highest in (
        (sale, {1: 15, 3: 11}, {}), (runs, {1: 40, 2: 50}, {1: 60, 2: 70}), (losers_pay, {1: 40}, {}),
    ):  # fmt: skip
        rows = {"price": price, "highest bid": highest}
        assert values("prices", log(SESSION[0], *happened)) == {
            (of, at): one for of, row in rows.items() for at, one in row.items()
        }
    for happened in (*units, nobody):
        missing = {"": "nothing was sold as one unit to one bidder for money"}
        assert values("prices", log(SESSION[0], *happened)) == missing


def reliable(bins):
    """Return what Ann's bins hold: predicted, and observed."""
    sides = ("predicted", "observed")
    return {("Ann", about, at): one for at, two in bins.items() for about, one in zip(sides, two, strict=True)}


def test_interest_is_set_beside_bids_on_items_that_are_over_by_the_last_prediction():
    def predicted(item, *interests):
        rivals = zip(("Ben", "Cho"), interests, strict=False)
        return Predicted("Ann", item, tuple(Prediction(name, one, usd(9)) for name, one in rivals))

    told = [predicted("Loft", 0.9, 0.12), predicted("Loft", 0.72, 0.08), predicted("Farm", 0.7)]
    told += [Acted("Ben", "Loft", Bid(usd(12))), ItemSold("Loft", "Ben", usd(12)), ItemUnsold("Farm")]
    told += [predicted("Shed", 1.0), Acted("Ben", "Shed", Bid(usd(12)))]
    assert values("interest_reliability", log(SESSION[0], OPENED, *told)) == reliable({2: (0.08, 0), 8: (0.71, 0.5)})


def test_shares_of_the_last_profile_are_set_beside_the_rival_s_own():
    told = [LABELS[-1], BidderLabelled("Ben", {"urban": 1.0}, "simulated"), OPENED]
    for item, urban in (("Loft", -1.0), ("Farm", 0.5)):
        told += [ItemUnsold(item), Profiled("Ann", "Ben", item, {"urban": urban, "rural": -urban}, 0)]
    assert values("profile_reliability", log(SESSION[0], *told)) == reliable({4: (0.25, 0), 9: (0.75, 1)})


def test_a_bin_reaches_from_half_below_its_tenth_to_half_above_and_the_ends_are_one_sided():
    assert [bin_of(share) for share in (0, 0.049, 0.05, 0.149, 0.5, 0.949, 0.95, 1)] == [1, 1, 2, 2, 6, 10, 11, 11]


@given(st.lists(st.integers(0, 10), min_size=1))
def test_of_a_calibrated_source_as_much_comes_true_in_each_bin_as_was_predicted(tenths):
    pairs = [("Ann", tenth / 10, float(nth < tenth)) for tenth in tenths for nth in range(10)]
    binned_by = {(one.about, one.at): one for one in binned("x", pairs)}
    for tenth in tenths:
        sure, seen = (binned_by[about, tenth + 1] for about in ("predicted", "observed"))
        assert abs(sure.value - seen.value) < 1e-9
        assert sure.counted == seen.counted == 10 * tenths.count(tenth)


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
    opened = SaleOpened(tuple(names), tuple(Lot(item, usd(100)) for item in items), "price")
    return names, personas, labels, opened, events


def told(sale, turned=False):
    names, personas, labels, opened, events = sale
    seats = names[::-1] if turned else names
    bidders = [event for name in seats for event in (BidderLabelled(name, personas[name], "x"), seated(name))]
    opened = SaleOpened(tuple(seats), opened.lots, "price")
    head = LogOpened(1, "0.1.0", "r", 0, parts=(found("game", "english").part,))
    return log(head, *labels, *bidders, opened, *events)


@QUICK
@given(sales())
def test_the_parts_make_the_whole_shares_stay_below_1_and_a_rank_is_one_more_than_how_many_have_more_profit(sale):
    entries = told(sale)
    _, _, labels, opened, events = sale

    def total(name, by=lambda _: ""):
        found = Counter()
        for one in measure([name], entries):
            found[by(one)] += one.value or 0
        return found

    profit, spent = (total(name)[""] for name in ("profit", "spent"))
    made = [event for event in events if isinstance(event, Acted) and isinstance(event.act, Bid)]
    sales = sum(isinstance(event, ItemSold) for event in events)
    assert total("profit_ratio")[""] == pytest.approx(profit / (200 * len(labels)))
    assert total("profit_ratio")[""] <= 1
    assert total("profit_by_item")[""] == pytest.approx(profit)
    assert total("winning_bid")[""] == spent
    assert (total("items_won")[""], total("won")[""]) == (sales, sales)
    assert (total("bids")[""], total("engagement")[""]) == (len(made), len(made))
    last = [one.value for one in measure(["remaining_budget"], entries) if one.at == len(opened.lots)]
    assert sum(last) == 1000 * len(last) - spent
    for name in ("bid_increase_share", "strategy_share"):
        assert all(of == pytest.approx(1) for bidder, of in total(name, lambda one: one.bidder).items() if bidder)
    for metric, most in (
        ("failed_bid_rate", 1 - 1e-9),
        ("belief_error_rate_self", 0.5),
        ("belief_error_rate_others", 0.5),
    ):
        assert all(one.value is None or 0 <= one.value <= most for one in measure([metric], entries))
    profits = values("profit", entries)
    assert values("rank", entries) == {
        who: 1 + sum(of > own for of in profits.values()) for who, own in profits.items()
    }


@QUICK
@given(sales())
def test_no_value_hangs_on_who_sits_where(sale):
    def measured(entries):
        found = measure([one.name for one in METRICS], entries)
        return sorted((one.metric, one.bidder, one.about, one.at or 0, repr(one.value), one.missing) for one in found)

    assert measured(told(sale, turned=True)) == measured(told(sale))
