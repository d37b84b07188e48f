"""Prices by place, and predictions beside what came to be: worked by hand on small logs, and the law of calibration."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from harbor._core.asking.asks import Bid
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, Paid
from harbor._core.log.events import BidderLabelled, CatalogShown, LogOpened, Lot
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Predicted, Prediction, Profiled
from harbor._games.english.events import ItemSold, ItemUnsold, SaleOpened
from harbor._games.sessions.private_games import ItemAllotted
from harbor.evaluation._metrics.measurement import measure
from harbor.evaluation._metrics.profiling import bin_of, binned

OPENED = SaleOpened(("Ann", "Ben", "Cho"), tuple(Lot(name, Decimal(10)) for name in ("Loft", "Farm", "Shed")), "price")


def values(metric, *happened):
    """The values of a metric, by bidder, about and at."""
    entries = [Entry(seq, 0.0, event) for seq, event in enumerate((LogOpened(1, "0.1.0", "run-7", 7), *happened))]
    return {(one.bidder, one.about, one.at): one.value for one in measure([metric], entries)}


def bid(item, bidder, amount):
    return ActedSealed(bidder, item, Bid(Decimal(amount)))


SIDES = ("predicted", "observed")


def reliable(bins):
    """Return what Ann's bins hold: predicted, and observed."""
    return {("Ann", about, at): one for at, two in bins.items() for about, one in zip(SIDES, two, strict=True)}


def bought(item, bidder, amount):
    return [Allocated(bidder, item), Paid(bidder, HOUSE, item, Decimal(amount))]


def closed(run):
    return ItemAllotted(run, (), {}, None)


def test_prices_are_of_what_was_sold_to_one_at_its_place_beside_the_highest_bids_where_winners_do_not_pay_theirs():
    sale = [OPENED, Acted("Ann", "Loft", Bid(Decimal(12))), Acted("Ben", "Loft", Bid(Decimal(15)), 2)]
    sale += [*bought("Loft", "Ben", 15), ItemSold("Loft", "Ben", Decimal(15)), ItemUnsold("Farm")]
    sale += [*bought("Shed", "Ann", 11), ItemSold("Shed", "Ann", Decimal(11))]
    runs = [bid("run 1", "Ann", 40), bid("run 1", "Ben", 60), *bought("run 1", "Ben", 40), closed("run 1")]
    runs += [bid("run 2", "Ann", 70), bid("run 2", "Ben", 50), *bought("run 2", "Ann", 50), closed("run 2")]
    losers_pay = [*bought("run 1", "Ann", 40), Paid("Ben", HOUSE, "run 1", Decimal(60)), closed("run 1")]
    several = [[Allocated(more, "run 1"), *losers_pay] for more in ("Ann", "Ben")]
    for happened, price, highest in (
        (sale, {1: 15, 3: 11}, {}), (runs, {1: 40, 2: 50}, {1: 60, 2: 70}), (losers_pay, {1: 40}, {}),
        *((units, {None: None}, {}) for units in (*several, [bid("run 1", "Ann", 40), closed("run 1")])),
    ):  # fmt: skip
        rows = {"price" if None not in price else "": price, "highest bid": highest}
        assert values("prices", *happened) == {("", of, at): one for of, row in rows.items() for at, one in row.items()}


def test_interest_is_set_beside_bids_on_items_that_are_over_by_the_last_prediction():
    def predicted(item, *interests):
        rivals = zip(("Ben", "Cho"), interests, strict=False)
        return Predicted("Ann", item, tuple(Prediction(name, one, Decimal(9)) for name, one in rivals))

    told = [OPENED, predicted("Loft", 0.9, 0.12), predicted("Loft", 0.72, 0.08), predicted("Farm", 0.7)]
    told += [Acted("Ben", "Loft", Bid(Decimal(12))), ItemSold("Loft", "Ben", Decimal(12)), ItemUnsold("Farm")]
    told += [predicted("Shed", 1.0), Acted("Ben", "Shed", Bid(Decimal(12)))]
    assert values("interest_reliability", *told) == reliable({2: (0.08, 0), 8: (0.71, 0.5)})


def test_shares_of_the_last_profile_are_set_beside_the_rival_s_own():
    told = [BidderLabelled("Ben", {"urban": 1.0}, "simulated"), CatalogShown("Ann", {"urban": "a", "rural": "b"})]
    told += [ItemUnsold("Loft"), Profiled("Ann", "Ben", "Loft", {"urban": -1.0, "rural": 1.0}, 0)]
    told += [ItemUnsold("Farm"), Profiled("Ann", "Ben", "Farm", {"urban": 0.5, "rural": -0.5}, 0)]
    assert values("profile_reliability", OPENED, *told) == reliable({4: (0.25, 0), 9: (0.75, 1)})


def test_a_bin_reaches_from_half_below_its_tenth_to_half_above_and_the_ends_are_one_sided():
    assert [bin_of(share) for share in (0, 0.049, 0.05, 0.149, 0.5, 0.949, 0.95, 1)] == [1, 1, 2, 2, 6, 10, 11, 11]


@given(st.lists(st.integers(0, 10), min_size=1))
def test_of_a_calibrated_source_as_much_comes_true_in_each_bin_as_was_predicted(tenths):
    pairs = [("Ann", tenth / 10, float(nth < tenth)) for tenth in tenths for nth in range(10)]
    found = {(one.about, one.at): one for one in binned("x", pairs)}
    for tenth in tenths:
        sure, seen = (found[about, tenth + 1] for about in ("predicted", "observed"))
        assert abs(sure.value - seen.value) < 1e-9
        assert sure.counted == seen.counted == 10 * tenths.count(tenth)
