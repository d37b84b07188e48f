"""The winners of the bundle auction are those of an exhaustive search."""

from __future__ import annotations

import sys
from decimal import Decimal
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.folders import ROOT

ITEMS = ("north", "east", "south", "west")
DOLLARS = st.integers(0, 10**8).map(lambda cents: Decimal(cents) / 100)
BIDS = st.lists(
    st.tuples(st.lists(st.sampled_from(ITEMS), min_size=1, unique=True), DOLLARS | st.integers(0, 3).map(Decimal)),
    max_size=7,
)


@pytest.fixture(scope="module")
def best_bids():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "examples" / "bundles")
        from bundle_auction.winners import best_bids

        yield best_bids


@pytest.fixture(autouse=True, scope="module")
def _forgotten():
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "bundle_auction"]:
        del sys.modules[name]


def most(bids) -> Decimal:
    """Try all sets of bids."""
    sets = (chosen for size in range(len(bids) + 1) for chosen in combinations(bids.values(), size))
    return max(total(chosen) for chosen in sets if fits(chosen))


def fits(chosen) -> bool:
    sold = [item for items, _ in chosen for item in items]
    return len(sold) == len(set(sold))


def total(chosen) -> Decimal:
    return sum((amount for _, amount in chosen), Decimal(0))


@given(listed=BIDS, seed=st.integers(0, 9))
@example(
    listed=[(["north", "east"], Decimal("999999.99")), (["north"], Decimal(999_999)), (["east"], Decimal(1))], seed=0
)
def test_no_other_bids_that_fit_each_other_bring_more(best_bids, listed, seed):
    bids = {f"bidder {number}": bid for number, bid in enumerate(listed)}
    chosen = [bids[name] for name in best_bids(bids, Random(seed))]
    assert fits(chosen)
    assert total(chosen) == most(bids)


@pytest.mark.parametrize("seed", [2, 7, 8, 23])
def test_of_many_bids_that_bring_nearly_the_same_the_best_win(best_bids, seed):
    rng = Random(seed)
    sets = [rng.sample(range(11), rng.randint(3, 4)) for _ in range(90)]
    bids = {
        str(number): (items, Decimal(len(items) * 10**7 + rng.randint(0, 3000)) / 100)
        for number, items in enumerate(sets)
    }
    assert total([bids[name] for name in best_bids(bids, rng)]) == most_of_many(bids)


def most_of_many(bids) -> Decimal:
    """Find the most that each set of items can bring, from those of the smaller sets."""
    masks = [(sum(1 << item for item in items), amount) for items, amount in bids.values()]
    best = [Decimal(0)]
    for free in range(1, 1 << 11):
        best.append(
            max((best[free & ~mask] + amount for mask, amount in masks if not mask & ~free), default=Decimal(0))
        )
    return best[-1]


def test_among_equal_bids_the_lot_decides(best_bids):
    bids = {name: (("north",), Decimal(5)) for name in ("Ann", "Ben", "Cho")}
    assert {best_bids(bids, Random(seed)) for seed in range(30)} == {("Ann",), ("Ben",), ("Cho",)}
