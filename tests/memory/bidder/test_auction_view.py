"""A bidder's notebook: a fold over what it has seen, which agrees with the rules about everything public."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import cycle
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._config.auction import MemorySettings, MindSettings
from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import Acted, Signal, Tried
from harbor._core.log.events import BidderSeated, BidderWithdrew, Lot
from harbor._core.log.log import Log
from harbor._core.log.thoughts import Belief, Believed, Planned, Predicted, Prediction, Win
from harbor._games.bidder_view import View
from harbor._games.english.events import ItemOpened, ItemUnsold, PriceLowered, RoundClosed, SaleOpened, ValueRevealed
from harbor._games.english.facts import LotBidding, Withdrawal, bidding_on, current_belief
from harbor._games.english.rules import English, EnglishRules, ValuedLot
from harbor._games.replies import forecasts
from harbor._house.auctioneer import Sale
from harbor.graphs._wiring.mind import first_view, nodes_of
from support.sold import sold
from support.turns import take_turn

MIND = MindSettings(theory_of_mind="inferred")
EMPTY = first_view("Ann", "english", nodes_of("english", MIND, MemorySettings()), MIND)
"""The notebook of a bidder that plans, believes and predicts, before it has seen anything."""
LAW = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
LOTS = (Lot("Vase", Decimal(100)), Lot("Urn", Decimal(50)), Lot("Clock", Decimal(300)))


def opening(reveal="true value"):
    return [
        SaleOpened(("Ann", "Ben"), LOTS, reveal),
        BidderSeated("Ann", Decimal(1000), {"a collector": 1.0}, "items"),
        Signal("Ann", {"Vase": Decimal(220)}, noisy=True),
    ]


def vase_sold(revealed=True):
    """Ann and Ben bid for the vase, worth $150; Ann wins it for $120."""
    happened = [
        ItemOpened("Vase", Decimal(100), Decimal(10)),
        Acted("Ann", "Vase", Bid(Decimal(100)), 1),
        Acted("Ben", "Vase", Bid(Decimal(110)), 1),
        RoundClosed("Vase", 1, "Ben", Decimal(110)),
        Acted("Ann", "Vase", Bid(Decimal(120)), 2),
        RoundClosed("Vase", 2, "Ann", Decimal(120)),
        Acted("Ben", "Vase", Withdraw(), 3),
        *sold("Vase", "Ann", Decimal(120)),
    ]
    return happened + [ValueRevealed("Vase", Decimal(150))] * revealed


def urn_sold():
    """Ben buys the urn for $90.50, worth $60."""
    return [
        ItemOpened("Urn", Decimal(50), Decimal(5)),
        Acted("Ben", "Urn", Bid(Decimal("90.5")), 1),
        RoundClosed("Urn", 1, "Ben", Decimal("90.5")),
        *sold("Urn", "Ben", Decimal("90.5")),
        ValueRevealed("Urn", Decimal(60)),
    ]


@st.composite
def held_sales(draw):
    """Any sale, held to its end, in which every bidder is seated and plans now and then."""
    starts = draw(st.lists(st.integers(1, 300), min_size=1, max_size=5))
    budgets = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=4))
    choices = cycle(draw(st.lists(st.sampled_from([None, 0, 0, Decimal("0.3"), 1]), min_size=1, max_size=9)))
    items = tuple(
        ValuedLot(Lot(f"Item {number}", Decimal(start)), Decimal(2 * start))
        for number, start in enumerate(starts, start=1)
    )
    purses = {f"Bidder {number}": Decimal(budget) for number, budget in enumerate(budgets, start=1)}
    reveal = draw(st.sampled_from(["price", "true value"]))
    sale = Sale(
        English(items, purses, EnglishRules(lowerings=draw(st.integers(0, 3)), reveal=reveal)),
        [*purses],
        Log(),
        Random(7),
        "open",
        "open",
    )
    for name, initial_budget in purses.items():
        sale.record(BidderSeated(name, initial_budget, {}, "profit"))
    sale.settle({})
    while asks := sale.asks():
        actions = {}
        for ask in asks:
            share = next(choices)
            bid = None if share is None else ask.minimum + (ask.maximum - ask.minimum) * share // 1
            actions[ask.bidder] = Withdraw() if bid is None else Bid(bid)
        sale.record(Planned(asks[0].bidder, f"round {asks[0].round}", {asks[0].item: 1}))
        take_turn(sale, actions)
    return sale


# ---------------------------------------------------------------- laws


@LAW
@given(held_sales(), st.data())
def test_a_notebook_is_the_same_wherever_the_reading_of_its_events_is_broken_off(sale, data):
    seen = sale.seen_by("Bidder 1")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(seen)), max_size=4)))
    parts = [seen[start:end] for start, end in zip([0, *cuts], [*cuts, len(seen)], strict=True)]
    assert reduce(View.after, parts, EMPTY) == EMPTY.after(seen)


@LAW
@given(held_sales())
def test_reading_on_changes_no_earlier_notebook(sale):
    seen = sale.seen_by("Bidder 1")
    early, copy = EMPTY.after(seen[:-1]), EMPTY.after(seen[:-1])
    early.after([*seen[-1:], Planned("Bidder 1", "later", {"Item 1": 3})])
    assert early == copy


@LAW
@given(held_sales())
def test_a_notebook_agrees_with_the_rules_about_its_budget(sale):
    for name in sale.bidders:
        assert EMPTY.after(sale.seen_by(name)).budget == sale.state.budgets[name]


@LAW
@given(held_sales())
def test_a_notebook_agrees_with_the_rules_about_the_item_under_the_hammer(sale):
    name, state, view, seen = "Bidder 1", sale.rules.start(), EMPTY, 0
    for entry in sale.log.entries:
        state = sale.rules.apply(state, entry.event)
        if entry.event.audience in ("everyone", f"bidder:{name}"):
            view, seen = view.after([entry.event]), seen + 1
        if not state.item:
            assert view.part is None
            continue
        bidding = bidding_on(view.part)
        assert (view.part.item, bidding.start, bidding.increment) == (state.item, state.start, state.increment)
        assert (bidding.leader, bidding.price or 0) == (state.leader, state.price)
        assert sorted(bidding.withdrawn) == sorted({*sale.bidders} - {*state.active})
        assert [lot.name for lot in view.coming] == [item.lot.name for item in sale.rules.items[state.number :]]
    assert seen == len(sale.seen_by(name))


@LAW
@given(held_sales())
def test_everyone_knows_the_same_about_everyone_elses_profits_and_wins(sale):
    truths = [EMPTY.after(sale.seen_by(name)).truth() for name in sale.bidders]
    assert all((truth.profits, truth.wins) == (truths[0].profits, truths[0].wins) for truth in truths)


# ---------------------------------------------------------------- worked numbers


def test_a_bidder_knows_who_it_is_and_what_will_be_sold():
    view = EMPTY.after(opening())
    assert (view.name, view.initial_budget, view.budget, view.objective) == ("Ann", 1000, 1000, "items")
    assert view.personas == {"a collector": 1.0}
    assert view.estimates == {"Vase": 220}
    assert view.bidders == ("Ann", "Ben")
    assert view.coming == LOTS


def test_the_truth_after_two_sales_is_worked_out_to_the_cent():
    view = EMPTY.after([*opening(), *vase_sold(), *urn_sold()])
    assert view.truth() == Belief(
        budget=Decimal(880),
        profits={"Ann": Decimal(30), "Ben": Decimal("-30.5")},
        wins={"Ann": (Win("Vase", Decimal(120)),), "Ben": (Win("Urn", Decimal("90.5")),)},
    )
    assert view.coming == LOTS[2:]


def test_who_has_won_nothing_has_no_profit_and_no_wins():
    truth = EMPTY.after([*opening(), *vase_sold()]).truth()
    assert truth.profits["Ben"] == 0
    assert "Ben" not in truth.wins


def test_a_win_of_bidder_10_is_not_a_win_of_bidder_1():
    seen = [
        SaleOpened(("Bidder 1", "Bidder 10"), LOTS, "price"),
        BidderSeated("Bidder 1", Decimal(500), {}, "profit"),
        ItemOpened("Vase", Decimal(100), Decimal(10)),
        *sold("Vase", "Bidder 10", Decimal(120)),
    ]
    assert EMPTY.after(seen).truth() == Belief(Decimal(500), {}, {"Bidder 10": (Win("Vase", Decimal(120)),)})


def test_profits_are_unknown_where_true_values_are_not_revealed():
    truth = EMPTY.after([*opening("price"), *vase_sold(revealed=False)]).truth()
    assert truth == Belief(Decimal(880), {}, {"Ann": (Win("Vase", Decimal(120)),)})


def test_an_unsold_item_is_a_result_without_a_winner():
    seen = [
        *opening(),
        ItemOpened("Vase", Decimal(100), Decimal(10)),
        ItemUnsold("Vase"),
        ValueRevealed("Vase", Decimal(9)),
    ]
    view = EMPTY.after(seen)
    (only,) = view.results
    assert (only.item, only.winner, only.price, only.true_value) == ("Vase", None, None, Decimal(9))
    assert bidding_on(only) == LotBidding(Decimal(100), Decimal(10))
    assert view.truth() == Belief(Decimal(1000), {"Ann": Decimal(0), "Ben": Decimal(0)}, {})


def test_the_bids_on_the_item_under_the_hammer_are_kept_round_by_round():
    view = EMPTY.after([*opening(), *vase_sold()[:7]])
    assert view.part.item == "Vase"
    assert bidding_on(view.part) == LotBidding(
        Decimal(100),
        Decimal(10),
        ((1, "Ann", Decimal(100)), (1, "Ben", Decimal(110)), (2, "Ann", Decimal(120))),
        "Ann",
        Decimal(120),
        {"Ben": Withdrawal(Decimal(130), "declined")},
    )


def test_a_lowered_price_starts_the_item_afresh():
    seen = [
        ItemOpened("Vase", Decimal(100), Decimal(10)),
        Acted("Ben", "Vase", Withdraw(), 1),
        PriceLowered("Vase", Decimal(50), Decimal(5)),
    ]
    view = EMPTY.after([*opening(), *seen])
    assert view.part.item == "Vase"
    assert bidding_on(view.part) == LotBidding(Decimal(50), Decimal(5))


def test_who_is_taken_out_by_the_rules_is_out_with_the_reason():
    out = [ItemOpened("Vase", Decimal(100), Decimal(10)), BidderWithdrew("Vase", 1, "Ben", "cannot afford")]
    view = EMPTY.after([*opening(), *out, Acted("Ann", "Vase", Withdraw("failed bids"), 1, 4)])
    assert bidding_on(view.part).withdrawn == {
        "Ben": Withdrawal(Decimal(100), "cannot afford"),
        "Ann": Withdrawal(Decimal(100), "failed bids"),
    }


def test_why_an_attempt_failed_is_kept_and_what_is_signalled_later_is_known_beside_what_was_before():
    tried = Tried("Ann", "Vase", 1, 1, "$90 is below the least bid of $100", Bid(Decimal(90)))
    seen = [*opening(), ItemOpened("Vase", Decimal(100), Decimal(10)), tried, Signal("Ann", {"Urn": Decimal(60)})]
    view = EMPTY.after(seen)
    assert bidding_on(view.part).refused == tried.reason
    assert bidding_on(view.part).bids == ()
    assert view.estimates == {"Vase": 220, "Urn": 60}


def test_the_last_plan_and_the_belief_that_is_held_count():
    said, held = Belief(Decimal(1), {}, {}), Belief(Decimal(880), {"Ann": Decimal(30)}, {})
    notes = [Planned("Ann", "first", {"Vase": 1}), Planned("Ann", "second", {"Urn": 3})]
    view = EMPTY.after([*opening(), *notes, Believed("Ann", ("Vase",), said, 1, 0, 1, 3, held)])
    assert (view.plan, view.priorities, view.notes["believe"].held) == ("second", {"Urn": 3}, held)
    assert current_belief(replace(view, mind=MindSettings(correct_beliefs="none"))) == held


@pytest.mark.parametrize("gone", [sold("Vase", "Ben", Decimal(110)), (ItemUnsold("Vase"),)], ids=["sold", "unsold"])
def test_what_was_predicted_is_forgotten_at_the_hammer(gone):
    expected = Predicted("Ann", "Vase", (Prediction("Ben", 0.9, Decimal(150)),))
    before = EMPTY.after([*opening(), expected, *vase_sold()[:4]])
    assert forecasts(before) == [{"rival": "Ben", "interest": 0.9, "limit": 150}]
    assert forecasts(before.after(gone)) == []
    assert forecasts(before.after([*gone, ItemOpened("Urn", Decimal(50), Decimal(5))])) == []
