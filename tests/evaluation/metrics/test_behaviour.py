"""The metrics of behaviour and of profit: one formula a test, worked by hand on a small log."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest

from harbor._core.asking.asks import Bid
from harbor._core.log.acts import Acted
from harbor._core.log.events import BidderLabelled, ItemLabelled, Lot
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Decided, Planned, Predicted, Prediction, Strategized
from harbor._games.english.events import ItemOpened, ItemUnsold, SaleOpened
from harbor._games.english.measures import standings
from harbor.evaluation._metrics.behaviour import Acquisition, acquisitions, engagements
from harbor.evaluation._metrics.plans import PriorityCell, priorities
from harbor.evaluation._metrics.strategy import Foresight, agreement, foresights, strategies
from support.sold import sold

LABELS = [
    ItemLabelled("Loft", Decimal(400), "urban"),
    ItemLabelled("Farm", Decimal(500), "rural"),
    ItemLabelled("Flat", Decimal(425), "urban"),
    BidderLabelled("Ann", {"urban": 1.0}, "simulated"),
    BidderLabelled("Ben", {"urban": 0.5, "rural": 0.5}, "simulated"),
    BidderLabelled("Cho", {}, "truthful"),
    BidderLabelled("Dan", {"beach": 1.0}, "simulated"),
]
OPENED = SaleOpened(
    ("Ann", "Ben", "Cho", "Dan"),
    (Lot("Loft", Decimal(150)), Lot("Farm", Decimal(200)), Lot("Flat", Decimal(160))),
    "true value",
)


def log(*happened):
    return [Entry(number, number / 10, event) for number, event in enumerate(happened)]


def bid(bidder, item, round, amount):  # noqa: A002
    return Acted(bidder, item, Bid(Decimal(amount)), round)


def chose(bidder, action, round=1):  # noqa: A002
    return Strategized(bidder, "Loft", round, 1, action, "because")


def decided(bidder, amount, contradicts=False, round=1):  # noqa: A002
    return Decided(bidder, "Loft", round, 1, "so", None if amount is None else Decimal(amount), contradicts)


# The loft goes to Ann for 250, the farm to Ben for 350, the flat to nobody. Starts are 150, 200 and 160, true values
# 400, 500 and 425: all items together could have earned 250 + 300 + 265 = 815.
HELD = [
    OPENED,
    ItemOpened("Loft", Decimal(150), Decimal(15)),
    bid("Ann", "Loft", 1, 150),
    bid("Ben", "Loft", 1, 200),
    bid("Ann", "Loft", 2, 250),
    *sold("Loft", "Ann", Decimal(250)),
    ItemOpened("Farm", Decimal(200), Decimal(20)),
    bid("Ben", "Farm", 1, 350),
    *sold("Farm", "Ben", Decimal(350)),
    ItemOpened("Flat", Decimal(160), Decimal(16)),
    ItemUnsold("Flat"),
]


# ---------------------------------------------------------------- profit


def test_the_profit_ratio_is_profit_won_over_the_profit_in_all_items():
    ratios = {row.bidder: row.profit_ratio for row in standings(log(*LABELS, *HELD))}
    assert ratios == {"Ann": 150 / 815, "Ben": 150 / 815, "Cho": 0.0, "Dan": 0.0}


def test_a_mix_is_shown_with_both_its_personas():
    shown = {row.bidder: row.persona for row in standings(log(*LABELS, *HELD))}
    assert shown == {"Ann": "urban", "Ben": "urban + rural", "Cho": None, "Dan": "beach"}


# ---------------------------------------------------------------- acquisition, engagement, priorities


def test_the_acquisition_rate_is_matched_items_won_over_matched_items_offered():
    found = acquisitions(log(*LABELS, *HELD))
    assert found == [Acquisition("Ann", 1, 2), Acquisition("Ben", 1, 3), Acquisition("Dan", 0, 0)]
    assert [one.rate for one in found] == [1 / 2, 1 / 3, None]


def test_an_item_won_that_does_not_match_is_no_acquisition():
    (ann, *_) = acquisitions(log(*LABELS, *sold("Farm", "Ann", Decimal(300))))
    assert (ann.won, ann.offered) == (0, 2)


def test_an_item_of_no_persona_matches_nobody():
    found = acquisitions(log(ItemLabelled("Shed", Decimal(9), ""), *LABELS[3:], *sold("Shed", "Ann", Decimal(5))))
    assert all((one.won, one.offered) == (0, 0) for one in found)


def test_engagement_counts_the_bids_of_everyone_on_everything():
    assert engagements(log(*LABELS, *HELD)) == {
        "Ann": {"Loft": 2, "Farm": 0, "Flat": 0},
        "Ben": {"Loft": 1, "Farm": 1, "Flat": 0},
        "Cho": {"Loft": 0, "Farm": 0, "Flat": 0},
        "Dan": {"Loft": 0, "Farm": 0, "Flat": 0},
    }


def test_the_priority_heatmap_holds_the_plan_in_force_when_each_item_goes():
    happened = [
        Planned("Ann", "first", {"Loft": 3, "Farm": 1, "Flat": 2}),
        *HELD[:8],
        Planned("Ann", "second", {"Farm": 2, "Flat": 3}),
        *HELD[8:13],
    ]
    assert priorities(log(*LABELS, *happened)) == [
        PriorityCell("Ann", "Loft", "Loft", 3),
        PriorityCell("Ann", "Loft", "Farm", 1),
        PriorityCell("Ann", "Loft", "Flat", 2),
        PriorityCell("Ann", "Farm", "Farm", 2),
        PriorityCell("Ann", "Farm", "Flat", 3),
    ]


def test_the_priority_heatmap_has_a_row_for_an_item_that_nobody_bought():
    happened = [Planned("Ann", "only", {"Flat": 2}), *HELD[13:]]
    assert priorities(log(*LABELS, *happened)) == [PriorityCell("Ann", "Flat", "Flat", 2)]


def test_a_static_plan_stays_in_force_to_the_end():
    cells = priorities(log(*LABELS, Planned("Ann", "only", {"Loft": 3, "Farm": 1}), *HELD[:13]))
    assert [(cell.during, cell.item, cell.priority) for cell in cells] == [
        ("Loft", "Loft", 3),
        ("Loft", "Farm", 1),
        ("Farm", "Loft", 3),
        ("Farm", "Farm", 1),
    ]


def test_who_does_not_plan_is_not_in_the_heatmap():
    assert priorities(log(*LABELS, *HELD)) == []


# ---------------------------------------------------------------- strategy


def test_strategic_actions_are_counted_by_bidder():
    happened = [chose("Ann", "A"), chose("Ann", "B"), chose("Ben", "F"), chose("Ann", "A", 2)]
    assert strategies(log(*LABELS, *happened)) == {"Ann": Counter(A=2, B=1), "Ben": Counter(F=1)}


def test_agreement_is_the_share_of_decisions_that_follow_from_their_action():
    happened = [
        *(chose("Ann", "A", number) for number in (1, 2, 3, 4)),
        *(decided("Ann", 200, round=number) for number in (1, 2, 3)),
        decided("Ann", None, contradicts=True, round=4),
        chose("Ben", "E"),
        decided("Ben", 200, contradicts=True),
    ]
    assert agreement(log(*LABELS, *happened)) == {"Ann": 0.75, "Ben": 0.0}


def test_who_has_no_strategy_agrees_with_nothing():
    assert agreement(log(*LABELS, decided("Ann", 200))) == {}


def test_a_strategist_without_a_decision_has_no_agreement():
    assert agreement(log(*LABELS, chose("Ann", "A"))) == {}


# ---------------------------------------------------------------- foresight


def test_a_predicted_limit_is_set_beside_the_last_bid_of_that_rival_on_that_item():
    expected = (Prediction("Ann", 0.9, Decimal(300)), Prediction("Cho", 0.1, Decimal(50)))
    found = foresights(log(*LABELS, Predicted("Ben", "Loft", expected), *HELD))
    assert found == [Foresight("Ben", "Ann", "Loft", Decimal(300), Decimal(250), won=True)]


def test_of_a_rival_that_lost_it_is_said_so():
    expected = (Prediction("Ben", 0.4, Decimal(210)),)
    found = foresights(log(*LABELS, Predicted("Ann", "Loft", expected), *HELD))
    assert found == [Foresight("Ann", "Ben", "Loft", Decimal(210), Decimal(200), won=False)]


def test_nobody_won_an_item_that_was_not_sold():
    happened = [OPENED, bid("Ben", "Flat", 1, 170), ItemUnsold("Flat")]
    found = foresights(log(Predicted("Ann", "Flat", (Prediction("Ben", 0.5, Decimal(90)),)), *happened))
    assert [one.won for one in found] == [False]


def test_a_rival_that_never_bid_has_no_last_bid_to_be_compared_with():
    assert foresights(log(*LABELS, Predicted("Ann", "Farm", (Prediction("Cho", 0.1, Decimal(50)),)), *HELD)) == []


def test_a_bid_on_another_item_is_not_compared():
    assert foresights(log(*LABELS, Predicted("Ann", "Flat", (Prediction("Ben", 0.5, Decimal(90)),)), *HELD)) == []


@pytest.mark.parametrize("measure", [acquisitions, engagements, priorities, strategies, agreement, foresights])
def test_a_log_of_nothing_gives_no_figures(measure):
    assert not measure(log())
