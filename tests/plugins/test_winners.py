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
SETS = st.lists(st.sampled_from(ITEMS), min_size=1, unique=True)
BIDS = st.lists(st.tuples(SETS, DOLLARS | st.integers(0, 3).map(Decimal)), max_size=7)
NEAR = [(["north", "east"], Decimal("999999.99")), (["north"], Decimal(999_999)), (["east"], Decimal(1))]


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


def fits(chosen) -> bool:
    sold = [item for items, _ in chosen for item in items]
    return len(sold) == len(set(sold))


def total(chosen) -> Decimal:
    return sum((amount for _, amount in chosen), Decimal(0))


@given(listed=BIDS, seed=st.integers(0, 9))
@example(listed=NEAR, seed=0)
def test_no_other_bids_that_fit_each_other_bring_more(best_bids, listed, seed):
    bids = {f"bidder {number}": bid for number, bid in enumerate(listed)}
    chosen = [bids[name] for name in best_bids(bids, Random(seed))]
    assert fits(chosen)
    sets = (one for size in range(len(bids) + 1) for one in combinations(bids.values(), size))
    assert total(chosen) == max(total(one) for one in sets if fits(one))


@pytest.mark.parametrize("seed", [2, 7, 8, 23])
def test_of_many_bids_that_bring_nearly_the_same_the_best_win(best_bids, seed):
    rng = Random(seed)
    bids = {}
    for number in range(90):
        items = rng.sample(range(11), rng.randint(3, 4))
        bids[str(number)] = items, Decimal(len(items) * 10**7 + rng.randint(0, 3000)) / 100
    assert total([bids[name] for name in best_bids(bids, rng)]) == most_of_many(bids)


def most_of_many(bids) -> Decimal:
    """Find the most that each set of items can bring, from those of the smaller sets."""
    masks = [(sum(1 << item for item in items), amount) for items, amount in bids.values()]
    best = [Decimal(0)]
    for free in range(1, 1 << 11):
        sums = (best[free & ~mask] + amount for mask, amount in masks if not mask & ~free)
        best.append(max(sums, default=Decimal(0)))
    return best[-1]


def test_among_equal_bids_the_lot_decides(best_bids):
    bids = {name: (("north",), Decimal(5)) for name in ("Ann", "Ben", "Cho")}
    assert {best_bids(bids, Random(seed)) for seed in range(30)} == {("Ann",), ("Ben",), ("Cho",)}
