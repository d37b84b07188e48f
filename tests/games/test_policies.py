"""Bidders that follow a script: what they answer depends on the ask and on what they have seen, and on nothing else."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, Item
from harbor._games.english.events import ItemOpened, ItemSold, PriceLowered, SaleOpened, ValueRevealed
from harbor._games.english.game import ENGLISH
from harbor._games.english.valuation import Knapsack, Prospect, earnings
from harbor._games.policies import MinimumRaise, Truthful
from harbor.events import Acted, BidderSeated, Lot, Signal
from harbor.games import Amount, Ask, Bid, Withdraw, of_type


def ask(minimum=100, maximum=1000, bidder="Ann", turn=1):
    return Ask(bidder, "Vase", turn, Amount(Decimal(minimum), Decimal(maximum)))


def opened(item="Vase"):
    return ItemOpened(item, Decimal(100), Decimal(10))


def placed(bidder="Ann", item="Vase", times=1):
    return [Acted(bidder, item, Bid(Decimal(100)))] * times


def seated(**estimates):
    return Signal("Ann", {item: Decimal(amount) for item, amount in estimates.items()}, noisy=True)


# ---------------------------------------------------------------- the rule bidder


@settings(max_examples=100)
@given(*[st.integers(least, 12) for least in (1, 0, 0, 0, 0)])
def test_a_rule_bidder_raises_by_the_minimum_until_it_has_made_its_bids_on_the_item(most, before, made, led, rivals):
    seen = [opened("Urn"), *placed(item="Urn", times=before), opened(), *placed(times=made)]
    answer = MinimumRaise(most).decide(ask(turn=made + led + 1), [*seen, *placed("Ben", times=rivals)])
    assert answer == (Bid(Decimal(100)) if made < most else Withdraw())


def test_a_rule_bidder_counts_its_own_bids_and_anew_after_a_lowered_price():
    seen = [opened(), *placed(times=4), PriceLowered("Vase", Decimal(50), Decimal(5))]
    assert MinimumRaise(4).decide(ask(50, turn=5), seen) == Bid(Decimal(50))
    seen = [opened(), *placed("Bidder 10", times=9)]  # a name that begins alike
    assert MinimumRaise(1).decide(ask(bidder="Bidder 1", turn=9), seen) == Bid(Decimal(100))


# ---------------------------------------------------------------- the truthful bidder


@settings(max_examples=100)
@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_truthful_bidder_raises_by_the_minimum_up_to_its_estimate(minimum, estimate):
    answer = Truthful().decide(ask(minimum, 10**7), [seated(Vase=estimate, Urn=1), opened()])
    assert answer == (Bid(Decimal(minimum)) if minimum <= estimate else Withdraw())


# ---------------------------------------------------------------- the rational bidder of the ascending auction

FIVE = ([100, 40, 260, 75, 120], [210, 95, 500, 160, 230])


def profits(bidders, starts=FIVE[0], values=FIVE[1], **rules):
    """Hold an auction of these bidders; give the profit of each purchase by (item, bidder)."""
    given = enumerate(zip(starts, values, strict=True), start=1)
    items = [Item(name=f"Item {number}", start=start, true_value=value) for number, (start, value) in given]
    log = Auction(items=items, bidders=bidders, rules=rules).run().log
    value = {item.name: item.true_value for item in items}
    return {(sale.item, sale.winner): value[sale.item] - sale.price for sale in of_type(log, ItemSold)}


@pytest.mark.parametrize("overestimate", [-0.3, 0, 0.1, 0.5, 2])
def test_rational_bidders_never_buy_at_a_loss_whatever_their_estimates_are(overestimate):
    found = profits([Bidder(name, rule="rational", overestimate=overestimate) for name in ("Ann", "Ben", "Cho")])
    assert len(found) == 5
    assert min(found.values()) >= 0


@pytest.mark.parametrize("overestimate", [0.1, 0.5])
def test_against_truthful_bidders_the_rational_one_lets_them_have_the_losses(overestimate):
    bidders = [Bidder("Ann", rule="rational", overestimate=overestimate)]
    bidders += [Bidder(name, rule="truthful", overestimate=overestimate) for name in ("Ben", "Cho")]
    found = profits(bidders)
    assert min(profit for (_, bidder), profit in found.items() if bidder != "Ann") < 0
    assert all(profit >= 0 for (_, bidder), profit in found.items() if bidder == "Ann")


@pytest.mark.parametrize("reveal", ["true value", "price"])
def test_before_a_true_value_is_revealed_a_rational_bidder_raises_nobody(reveal):
    bidders = [Bidder("Ann", rule="rational"), Bidder("Ben", rule="minimum-raise", max_bids=9)]
    items = [Item(name=name, start=100, true_value=300) for name in ("Loft", "Farm")]
    log = Auction(items=items, bidders=bidders, rules={"reveal": reveal}).run().log
    rounds = [(one.item, one.round) for one in of_type(log, Acted) if one.bidder == "Ann" and isinstance(one.act, Bid)]
    assert max(turn for item, turn in rounds if item == "Loft") == 1
    assert (max(turn for item, turn in rounds if item == "Farm") > 1) == (reveal == "true value")


def test_a_rational_bidder_declines_a_starting_price_above_its_estimate():
    assert ENGLISH.rational(ask(90), [seated(Vase=88), opened()]) == Withdraw()
    assert ENGLISH.rational(ask(90), [seated(Vase=165), opened()]) == Bid(Decimal(90))


# ---------------------------------------------------------------- what money can earn, and the knapsack bidder

QUICK = settings(max_examples=150, deadline=None)
WORTHS = st.integers(1, 400)
amounts = WORTHS.map(Decimal)
prospects = st.lists(st.builds(Prospect, amounts, amounts), max_size=7)


def best_subset(given, budget):
    """Give the most that whole items can earn, by trying all subsets."""
    subsets = chain.from_iterable(combinations(given, size) for size in range(len(given) + 1))
    affordable = [chosen for chosen in subsets if sum(one.cost for one in chosen) <= budget]
    return max(sum((one.profit for one in chosen), Decimal(0)) for chosen in affordable)


def answer(minimum, budget, current, *later, revealed=()):
    """Ask for a bid on an item of this estimate, with these (start, estimate) to come."""
    lots = [Lot("Now", Decimal(1)), *(Lot(f"Later {place}", Decimal(start)) for place, (start, _) in enumerate(later))]
    estimates = {"Before": Decimal(100), "Now": Decimal(current)}
    estimates |= {f"Later {place}": Decimal(estimate) for place, (_, estimate) in enumerate(later)}
    opening = SaleOpened(("Ann",), (Lot("Before", Decimal(1)), *lots), "true value")
    seen = [opening, BidderSeated("Ann", Decimal(budget), {}, "profit"), Signal("Ann", estimates, noisy=True)]
    seen += [ValueRevealed("Before", Decimal(value)) for value in revealed]
    return Knapsack().decide(Ask("Ann", "Now", 1, Amount(Decimal(minimum), Decimal(budget))), seen)


@QUICK
@given(prospects, st.integers(0, 1500).map(Decimal))
def test_money_earns_at_least_what_the_best_subset_earns_and_less_than_one_item_more(given_, budget):
    best, relaxed = best_subset(given_, budget), earnings(given_, budget)
    assert best - Decimal("1e-9") <= relaxed
    assert relaxed <= best + max((one.profit for one in given_ if one.profit > 0), default=0) + Decimal("1e-9")


@QUICK
@given(st.lists(amounts, max_size=8), amounts, st.integers(0, 8))
def test_where_all_items_cost_the_same_it_is_the_best_subset_to_the_cent(worths, cost, number):
    given_ = [Prospect(worth, cost) for worth in worths]
    assert earnings(given_, number * cost) == best_subset(given_, number * cost)


@QUICK
@given(prospects, st.integers(0, 1500).map(Decimal), st.integers(0, 1500).map(Decimal))
def test_more_money_never_earns_less_and_each_dollar_less_than_the_one_before(given_, budget, more):
    half = earnings(given_, budget + more / 2)
    low, high = earnings(given_, budget), earnings(given_, budget + more)
    assert low <= half <= high
    assert half - low >= high - half - Decimal("1e-9")


@QUICK
@given(st.lists(st.integers(1, 199), min_size=1, max_size=6), st.integers(1, 199), st.integers(1, 4))
def test_it_bids_where_the_best_subset_with_the_item_is_as_good_as_that_without(worths, current, number):
    """Starting prices are such that all later items will probably cost the price of this one."""
    price = 100
    later = [(price if worth < price else 2 * price - worth, worth) for worth in worths]
    given_ = [Prospect(Decimal(worth), Decimal(price)) for _, worth in later]
    budget = Decimal(number * price)
    bids = current - price + best_subset(given_, budget - price) >= best_subset(given_, budget)
    assert answer(price, budget, current, *later) == (Bid(Decimal(price)) if bids else Withdraw())


@QUICK
@given(WORTHS, WORTHS, st.lists(st.tuples(st.integers(1, 99), WORTHS), max_size=5))
def test_with_money_for_everything_it_bids_up_to_what_the_item_is_worth(minimum, current, later):
    assert answer(minimum, 10_000, current, *later) == (Bid(Decimal(minimum)) if minimum <= current else Withdraw())


def test_short_of_money_it_leaves_an_item_for_a_later_one_that_earns_more_for_the_money():
    # The later one costs (100 + 300) / 2 = 200 and earns 100; at 100 this one earns 20 and takes half the money.
    assert answer(100, 200, 120, (100, 300)) == Withdraw()
    assert answer(80, 200, 120, (100, 300)) == Bid(Decimal(80))  # 40 earned for the 40 that 80 dollars would earn later


def test_revealed_true_values_put_its_estimates_right():
    assert answer(96, 1000, 100) == Bid(Decimal(96))
    assert answer(96, 1000, 100, revealed=[95]) == Withdraw()  # estimates of 100 are worth 95
