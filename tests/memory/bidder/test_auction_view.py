"""A bidder's notebook: a fold over what it has seen, which agrees with the rules about everything public."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, cycle
from random import Random

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
USD = Decimal
LOTS = (Lot("Vase", USD(100)), Lot("Urn", USD(50)), Lot("Clock", USD(300)))
VASE = ItemOpened("Vase", USD(100), USD(10))


def opening(reveal="true value"):
    return [
        SaleOpened(("Ann", "Ben"), LOTS, reveal), BidderSeated("Ann", USD(1000), {"a collector": 1.0}, "items"),
        Signal("Ann", {"Vase": USD(220)}, noisy=True),
    ]  # fmt: skip


def vase_sold():
    """Ann and Ben bid for the vase; Ann wins it for $120."""
    return [
        VASE, Acted("Ann", "Vase", Bid(USD(100)), 1), Acted("Ben", "Vase", Bid(USD(110)), 1),
        RoundClosed("Vase", 1, "Ben", USD(110)), Acted("Ann", "Vase", Bid(USD(120)), 2),
        RoundClosed("Vase", 2, "Ann", USD(120)), Acted("Ben", "Vase", Withdraw(), 3), *sold("Vase", "Ann", USD(120)),
    ]  # fmt: skip


@st.composite
def held_sales(draw):
    """Any sale, held to its end, in which every bidder is seated and plans now and then."""
    starts = draw(st.lists(st.integers(1, 300), min_size=1, max_size=5))
    budgets = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=4))
    choices = cycle(draw(st.lists(st.sampled_from([None, 0, 0, USD("0.3"), 1]), min_size=1, max_size=9)))
    items = tuple(ValuedLot(Lot(f"Item {n}", USD(start)), USD(2 * start)) for n, start in enumerate(starts, 1))
    purses = {f"Bidder {n}": USD(budget) for n, budget in enumerate(budgets, 1)}
    rules = EnglishRules(lowerings=draw(st.integers(0, 3)), reveal=draw(st.sampled_from(["price", "true value"])))
    sale = Sale(English(items, purses, rules), [*purses], Log(), Random(7), "open", "open")
    for name, initial_budget in purses.items():
        sale.record(BidderSeated(name, initial_budget, {}, "profit"))
    sale.settle({})
    while asks := sale.asks():
        actions = {
            ask.bidder: Withdraw() if share is None else Bid(ask.minimum + (ask.maximum - ask.minimum) * share // 1)
            for ask, share in zip(asks, choices, strict=False)
        }
        sale.record(Planned(asks[0].bidder, f"round {asks[0].round}", {asks[0].item: 1}))
        take_turn(sale, actions)
    return sale


# ---------------------------------------------------------------- laws


@LAW
@given(held_sales(), st.data())
def test_a_notebook_is_the_same_wherever_its_reading_is_broken_off_and_reading_on_changes_no_earlier_one(sale, data):
    seen = sale.seen_by("Bidder 1")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(seen)), max_size=4)))
    parts = [seen[start:end] for start, end in zip([0, *cuts], [*cuts, len(seen)], strict=True)]
    views = [*accumulate(parts, View.after, initial=EMPTY)]
    assert views[-1] == EMPTY.after(seen)
    assert views[1:-1] == [EMPTY.after(seen[:end]) for end in cuts]


@LAW
@given(held_sales())
def test_a_notebook_agrees_with_the_rules_about_its_budget_and_with_all_others_about_profits_and_wins(sale):
    views = {name: EMPTY.after(sale.seen_by(name)) for name in sale.bidders}
    assert {name: view.budget for name, view in views.items()} == sale.state.budgets
    first, *others = [view.truth() for view in views.values()]
    assert all((truth.profits, truth.wins) == (first.profits, first.wins) for truth in others)


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


# ---------------------------------------------------------------- worked numbers


def test_the_truth_after_two_sales_is_worked_out_to_the_cent():
    urn = [
        ItemOpened("Urn", USD(50), USD(5)), Acted("Ben", "Urn", Bid(USD("90.5")), 1),
        RoundClosed("Urn", 1, "Ben", USD("90.5")), *sold("Urn", "Ben", USD("90.5")), ValueRevealed("Urn", USD(60)),
    ]  # fmt: skip
    view = EMPTY.after([*opening(), *vase_sold(), ValueRevealed("Vase", USD(150))])
    anns = (Win("Vase", USD(120)),)
    assert view.truth() == Belief(USD(880), {"Ann": USD(30), "Ben": USD(0)}, {"Ann": anns})
    wins = {"Ann": anns, "Ben": (Win("Urn", USD("90.5")),)}
    assert view.after(urn).truth() == Belief(USD(880), {"Ann": USD(30), "Ben": USD("-30.5")}, wins)
    assert view.after(urn).coming == LOTS[2:]


def test_profits_are_unknown_where_true_values_are_not_revealed():
    truth = EMPTY.after([*opening("price"), *vase_sold()]).truth()
    assert truth == Belief(USD(880), {}, {"Ann": (Win("Vase", USD(120)),)})


def test_an_unsold_item_is_a_result_without_a_winner():
    view = EMPTY.after([*opening(), VASE, ItemUnsold("Vase"), ValueRevealed("Vase", USD(9))])
    (only,) = view.results
    assert (only.item, only.winner, only.price, only.true_value) == ("Vase", None, None, USD(9))
    assert view.truth() == Belief(USD(1000), {"Ann": USD(0), "Ben": USD(0)}, {})


def test_bids_and_refusals_and_who_is_out_why_are_kept_round_by_round_until_a_lowered_price_starts_afresh():
    view = EMPTY.after([*opening(), *vase_sold()[:7]])
    bids = ((1, "Ann", USD(100)), (1, "Ben", USD(110)), (2, "Ann", USD(120)))
    out = {"Ben": Withdrawal(USD(130), "declined")}
    assert bidding_on(view.part) == LotBidding(USD(100), USD(10), bids, "Ann", USD(120), out)
    tried = Tried("Ann", "Vase", 1, 1, "$90 is below the least bid of $100", Bid(USD(90)))
    view = EMPTY.after([*opening(), VASE, tried, Signal("Ann", {"Urn": USD(60)})])
    assert (bidding_on(view.part).refused, view.estimates) == (tried.reason, {"Vase": 220, "Urn": 60})
    view = view.after(
        [BidderWithdrew("Vase", 1, "Ben", "cannot afford"), Acted("Ann", "Vase", Withdraw("failed bids"), 1, 4)]
    )
    reasons = {"Ben": Withdrawal(USD(100), "cannot afford"), "Ann": Withdrawal(USD(100), "failed bids")}
    assert bidding_on(view.part).withdrawn == reasons
    view = view.after([PriceLowered("Vase", USD(50), USD(5))])
    assert (view.part.item, bidding_on(view.part)) == ("Vase", LotBidding(USD(50), USD(5)))


def test_the_last_plan_and_the_belief_that_is_held_count():
    said, held = Belief(USD(1), {}, {}), Belief(USD(880), {"Ann": USD(30)}, {})
    notes = [Planned("Ann", "first", {"Vase": 1}), Planned("Ann", "second", {"Urn": 3})]
    view = EMPTY.after([*opening(), *notes, Believed("Ann", ("Vase",), said, 1, 0, 1, 3, held)])
    assert (view.plan, view.priorities, view.notes["believe"].held) == ("second", {"Urn": 3}, held)
    assert current_belief(replace(view, mind=MindSettings(correct_beliefs="none"))) == held


def test_what_was_predicted_is_forgotten_at_the_hammer():
    expected = Predicted("Ann", "Vase", (Prediction("Ben", 0.9, USD(150)),))
    before = EMPTY.after([*opening(), expected, *vase_sold()[:4]])
    assert forecasts(before) == [{"rival": "Ben", "interest": 0.9, "limit": 150}]
    for gone in (sold("Vase", "Ben", USD(110)), (ItemUnsold("Vase"),)):
        assert forecasts(before.after(gone)) == []
        assert forecasts(before.after([*gone, ItemOpened("Urn", USD(50), USD(5))])) == []
