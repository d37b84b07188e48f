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
    ItemLabelled("Loft", Decimal(400), "urban"), ItemLabelled("Farm", Decimal(500), "rural"),
    ItemLabelled("Flat", Decimal(425), "urban"), BidderLabelled("Ann", {"urban": 1.0}, "simulated"),
    BidderLabelled("Ben", {"urban": 0.5, "rural": 0.5}, "simulated"), BidderLabelled("Cho", {}, "truthful"),
    BidderLabelled("Dan", {"beach": 1.0}, "simulated"),
]  # fmt: skip
OPENED = SaleOpened(
    ("Ann", "Ben", "Cho", "Dan"), (Lot("Loft", Decimal(150)), Lot("Farm", Decimal(200)), Lot("Flat", Decimal(160))),
    "true value",
)  # fmt: skip


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
    OPENED, ItemOpened("Loft", Decimal(150), Decimal(15)), bid("Ann", "Loft", 1, 150), bid("Ben", "Loft", 1, 200),
    bid("Ann", "Loft", 2, 250), *sold("Loft", "Ann", Decimal(250)), ItemOpened("Farm", Decimal(200), Decimal(20)),
    bid("Ben", "Farm", 1, 350), *sold("Farm", "Ben", Decimal(350)), ItemOpened("Flat", Decimal(160), Decimal(16)),
    ItemUnsold("Flat"),
]  # fmt: skip


# ---------------------------------------------------------------- profit, acquisition, priorities


def test_a_profit_ratio_is_of_the_profit_in_all_items_and_a_mix_is_shown_with_both_its_personas():
    found = {row.bidder: (row.profit_ratio, row.persona) for row in standings(log(*LABELS, *HELD))}
    share = 150 / 815
    assert found == {
        "Ann": (share, "urban"), "Ben": (share, "urban + rural"), "Cho": (0.0, None), "Dan": (0.0, "beach"),
    }  # fmt: skip


def test_the_acquisition_rate_is_matched_items_won_over_matched_items_offered():
    found = acquisitions(log(*LABELS, *HELD))
    assert found == [Acquisition("Ann", 1, 2), Acquisition("Ben", 1, 3), Acquisition("Dan", 0, 0)]
    assert [one.rate for one in found] == [1 / 2, 1 / 3, None]
    (ann, *_) = acquisitions(log(*LABELS, *sold("Farm", "Ann", Decimal(300))))
    assert (ann.won, ann.offered) == (0, 2)  # an item won that does not match is no acquisition
    shed = acquisitions(log(ItemLabelled("Shed", Decimal(9), ""), *LABELS[3:], *sold("Shed", "Ann", Decimal(5))))
    assert all((one.won, one.offered) == (0, 0) for one in shed)  # an item of no persona matches nobody


@pytest.mark.parametrize(("happened", "cells"), [
    ([Planned("Ann", "only", {"Flat": 2}), *HELD[13:]], [("Flat", "Flat", 2)]),
    (
        [Planned("Ann", "only", {"Loft": 3, "Farm": 1}), *HELD[:13]],
        [("Loft", "Loft", 3), ("Loft", "Farm", 1), ("Farm", "Loft", 3), ("Farm", "Farm", 1)],
    ),
    (HELD, []),
], ids=["an item that nobody bought", "a static plan stays in force to the end", "no plan"])  # fmt: skip
def test_the_priority_heatmap_holds_the_plan_in_force_when_each_item_goes(happened, cells):
    assert priorities(log(*LABELS, *happened)) == [PriorityCell("Ann", *cell) for cell in cells]


# ---------------------------------------------------------------- strategy


def test_strategic_actions_are_counted_by_bidder():
    happened = [chose("Ann", "A"), chose("Ann", "B"), chose("Ben", "F"), chose("Ann", "A", 2)]
    assert strategies(log(*LABELS, *happened)) == {"Ann": Counter(A=2, B=1), "Ben": Counter(F=1)}


def test_agreement_is_the_share_of_decisions_that_follow_from_their_action():
    happened = [
        *(chose("Ann", "A", number) for number in (1, 2, 3, 4)), *(decided("Ann", 200, round=n) for n in (1, 2, 3)),
        decided("Ann", None, contradicts=True, round=4), chose("Ben", "E"), decided("Ben", 200, contradicts=True),
    ]  # fmt: skip
    assert agreement(log(*LABELS, *happened)) == {"Ann": 0.75, "Ben": 0.0}
    assert agreement(log(*LABELS, decided("Ann", 200))) == agreement(log(*LABELS, chose("Ann", "A"))) == {}


# ---------------------------------------------------------------- foresight


@pytest.mark.parametrize(("bidder", "item", "limits", "found"), [
    ("Ben", "Loft", {"Ann": 300, "Cho": 50}, [("Ann", 300, 250, True)]),  # Cho never bid
    ("Ann", "Loft", {"Ben": 210}, [("Ben", 210, 200, False)]), ("Ann", "Farm", {"Cho": 50}, []),
    ("Ann", "Flat", {"Ben": 90}, []),  # its bids are on other items
])  # fmt: skip
def test_a_predicted_limit_is_set_beside_the_last_bid_of_that_rival_on_that_item(bidder, item, limits, found):
    expected = tuple(Prediction(rival, 0.5, Decimal(limit)) for rival, limit in limits.items())
    assert foresights(log(*LABELS, Predicted(bidder, item, expected), *HELD)) == [
        Foresight(bidder, rival, item, Decimal(limit), Decimal(last), won) for rival, limit, last, won in found
    ]


def test_nobody_won_an_item_that_was_not_sold():
    happened = [OPENED, bid("Ben", "Flat", 1, 170), ItemUnsold("Flat")]
    found = foresights(log(Predicted("Ann", "Flat", (Prediction("Ben", 0.5, Decimal(90)),)), *happened))
    assert [one.won for one in found] == [False]


@pytest.mark.parametrize("measure", [acquisitions, engagements, priorities, strategies, agreement, foresights])
def test_a_log_of_nothing_gives_no_figures(measure):
    assert not measure(log())
