"""The knapsack bidder, against every subset of the items that it could still buy."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.log.acts import Signal
from harbor._core.log.events import BidderSeated, Lot
from harbor._games.english.events import SaleOpened, ValueRevealed
from harbor._games.english.valuation import Knapsack, Prospect, earnings

QUICK = settings(max_examples=150, deadline=None)
amounts = st.integers(1, 400).map(Decimal)
prospects = st.lists(st.builds(Prospect, amounts, amounts), max_size=7)


def best_subset(given, budget):
    """Give the most that whole items can earn, by trying all subsets."""
    subsets = chain.from_iterable(combinations(given, size) for size in range(len(given) + 1))
    affordable = [chosen for chosen in subsets if sum(one.cost for one in chosen) <= budget]
    return max(sum((one.profit for one in chosen), Decimal(0)) for chosen in affordable)


def dollars(number):
    return Decimal(number)


def answer(minimum, budget, current, *later, revealed=()):
    """Ask for a bid on an item of this estimate, with these (start, estimate) to come."""
    lots = [Lot("Now", dollars(1)), *(Lot(f"Later {place}", dollars(start)) for place, (start, _) in enumerate(later))]
    estimates = {"Before": dollars(100), "Now": dollars(current)}
    estimates |= {f"Later {place}": dollars(estimate) for place, (_, estimate) in enumerate(later)}
    seen = [
        SaleOpened(("Ann",), (Lot("Before", dollars(1)), *lots), "true value"),
        BidderSeated("Ann", dollars(budget), {}, "profit"),
        Signal("Ann", estimates, noisy=True),
        *(ValueRevealed("Before", dollars(value)) for value in revealed),
    ]
    return Knapsack().decide(Ask("Ann", "Now", 1, Amount(dollars(minimum), dollars(budget))), seen)


# ---------------------------------------------------------------- what money can earn


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


# ---------------------------------------------------------------- what it decides


@QUICK
@given(st.lists(st.integers(1, 199), min_size=1, max_size=6), st.integers(1, 199), st.integers(1, 4))
def test_it_bids_where_the_best_subset_with_the_item_is_as_good_as_that_without(worths, current, number):
    """Starting prices are such that all later items will probably cost the price of this one."""
    price = 100
    later = [(price if worth < price else 2 * price - worth, worth) for worth in worths]
    given_ = [Prospect(dollars(worth), dollars(price)) for _, worth in later]
    budget = dollars(number * price)
    bids = current - price + best_subset(given_, budget - price) >= best_subset(given_, budget)
    assert answer(price, budget, current, *later) == (Bid(dollars(price)) if bids else Withdraw())


@QUICK
@given(
    st.integers(1, 400), st.integers(1, 400), st.lists(st.tuples(st.integers(1, 99), st.integers(1, 400)), max_size=5)
)
def test_with_money_for_everything_it_bids_up_to_what_the_item_is_worth(minimum, current, later):
    assert answer(minimum, 10_000, current, *later) == (Bid(dollars(minimum)) if minimum <= current else Withdraw())


def test_short_of_money_it_leaves_an_item_for_a_later_one_that_earns_more_for_the_money():
    # The later one costs (100 + 300) / 2 = 200 and earns 100; at 100 this one earns 20 and takes half the money.
    assert answer(100, 200, 120, (100, 300)) == Withdraw()
    assert answer(80, 200, 120, (100, 300)) == Bid(dollars(80))  # 40 earned for the 40 that 80 dollars would earn later


def test_revealed_true_values_put_its_estimates_right():
    assert answer(96, 1000, 100) == Bid(dollars(96))
    assert answer(96, 1000, 100, revealed=[95]) == Withdraw()  # estimates of 100 are worth 95
