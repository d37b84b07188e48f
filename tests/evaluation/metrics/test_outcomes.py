"""Metrics of any game that trades, a stranger's too, and the fold that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import product
from random import Random

import pytest

from harbor import Auction, use
from harbor._cli.display.result_tables import summary_tables
from harbor._core.basics.actions import BundleBid, Withdraw
from harbor._core.log.acts import HOUSE, ActedSealed, Allocated, AllocatedSealed, Paid, PaidSealed, Signal, Tried, Worth
from harbor._core.log.events import BidderLabelled, BidderSeated, Event, ItemLabelled, LotClosed
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import find
from harbor._games.game import TRADE
from harbor._games.outcomes import ItemOutcome, items, outcomes
from harbor.evaluation._metrics.measurement import PRIVATE, fitting, measure
from harbor.evaluation._metrics.results import BUDGETS, BUNDLES, COMMON, UNITS, WORTHLESS, efficiency
from harbor.evaluation._metrics.results import UNTOLD_TO_ALL as UNTOLD
from harbor.evaluation._metrics.summary import summarise
from harbor.testing import check_game
from harbor.testing._playing import public, seated, table
from support.plugins import remembering
from support.sealed import SEALED

NAMES = ("Ann", "Ben", "Cho")


def log_of(*events: Event, names: Iterable[str] = NAMES) -> list[Entry]:
    told = [*(BidderLabelled(name, {}, "rule") for name in names), *events]
    return [Entry(number, 0.0, event) for number, event in enumerate(told)]


def values(metric: str, log: list[Entry]) -> Mapping[str, float | None]:
    return {one.bidder: one.value for one in measure([metric], log)}


def only(metric: str, log: list[Entry]) -> tuple[float | None, str]:
    [one] = measure([metric], log)
    return one.value, one.missing


def worth(**of: int) -> list[Signal]:
    return [Signal(name, {"vase": Decimal(value)}) for name, value in of.items()]


SOLD = [Allocated("Ann", "vase"), Paid("Ann", HOUSE, "vase", Decimal(40)), LotClosed("vase")]
PRIVATE_WORTHS = worth(Ann=60, Ben=80, Cho=10)


# ---------------------------------------------------------------- a stranger's game


@pytest.fixture
def log(monkeypatch):
    with remembering(monkeypatch):
        use(SEALED)
        yield table(SEALED, seated(NAMES, {"rule": "rational"}), {}).run().log


def test_ten_metrics_and_more_measure_a_strangers_sealed_game_that_keeps_its_promises(log):
    check_game(SEALED)
    found = {one.metric for one in measure(fitting(log), log) if one.value is not None}
    assert found >= {
        "profit", "rank", "items_won", "units_won", "spent", "revenue", "prices", "seller_surplus", "consumer_surplus",
        "total_surplus", "efficiency", "efficiency_by_item", "legality",
    }  # fmt: skip
    profits, summary = values("profit", log), summarise(log)
    assert SEALED.measures is TRADE
    rows = [(row.bidder, float(row.profit)) for row in summary.standings]
    assert rows == sorted(profits.items(), key=lambda one: -one[1])
    assert [row.name for row in summary.items] == ["vase"]


def test_a_public_log_has_what_all_were_told_and_says_why_it_lacks_the_rest_and_without_a_sale_revenue_is_0(log):
    told = {one.metric: one for one in measure(fitting(log), public(log))}
    assert told["revenue"].value == only("revenue", log)[0]
    assert told["efficiency"].missing == told["legality"].missing == PRIVATE
    lacks = {one.missing for one in measure(["profit"], public(log)) if one.value is None}
    assert lacks == {"true values that it needs were not made public"}
    unsold = [one for one in log if not isinstance(one.event, Allocated | Paid)]
    assert only("revenue", unsold) == (0, "")
    assert only("revenue", log_of()) == (None, "the log is of another game: it has no Paid or PaidSealed")


def test_what_is_sold_behind_closed_doors_is_missing_of_a_public_log_and_not_0():
    rules = {"game": "second-price", "show": "nothing"}
    session = list(Auction(rules=rules, bidders=seated(NAMES, {"rule": "rational"})).run().log)
    assert only("revenue", session)[0] > 0
    assert only("revenue", public(session)) == only("items_won", public(session)) == (None, PRIVATE)


# ---------------------------------------------------------------- money and units


def test_accounts_add_up_what_was_got_paid_and_received():
    sealed = [AllocatedSealed(("Ben",), "Ben", "water", Decimal(3))]
    sealed += [PaidSealed(("Ben",), "Ben", HOUSE, "water", Decimal(one), fee=one == 2) for one in (5, 2)]
    told = outcomes(log_of(*PRIVATE_WORTHS, *SOLD, *sealed, Paid("Cho", "Ann", "vase", Decimal(7))))
    ann, ben, cho = (told.accounts[name] for name in NAMES)
    assert (ann.units, ann.spent, ann.received) == ({"vase": 1}, 40, 7)
    assert (ben.units, ben.paid, ben.fees, ben.spent) == ({"water": 3}, {"water": 5}, 2, 7)
    assert (cho.spent, told.house.received, told.house.spent) == (7, 47, 0)
    assert told.profits() == {"Ann": 27, "Ben": None, "Cho": -7}


def test_the_price_of_an_item_is_what_those_paid_for_it_who_got_it():
    log = log_of(Paid("Ben", HOUSE, "vase", Decimal(30)), Paid("Ann", HOUSE, "vase", Decimal(4), fee=True), *SOLD)
    assert items(log) == [ItemOutcome("vase", ("Ann",), Decimal(40))]
    assert only("prices", log)[0] == 40
    unpaid = log_of(Paid("Ben", HOUSE, "jar", Decimal(3)), Allocated("Ann", "jar"))
    assert items(unpaid) == [ItemOutcome("jar", ("Ann",), None)]


def test_the_surplus_of_the_house_and_of_bidders_add_up_to_the_worth_of_what_was_won():
    log = log_of(*PRIVATE_WORTHS, *SOLD, Paid(HOUSE, "Cho", "prize", Decimal(3)))
    assert [only(f"{whose}_surplus", log)[0] for whose in ("seller", "consumer", "total")] == [37, 23, 37 + 23]


def test_a_profit_without_a_known_worth_and_all_ranks_are_missing_and_not_0():
    log = log_of(*SOLD)
    assert values("profit", log) == {"Ann": None, "Ben": 0, "Cho": 0}
    assert set(values("rank", log).values()) == {None}
    assert only("consumer_surplus", log) == (None, "nothing tells what it is worth to a bidder")
    assert TRADE.items([*log, *log_of(LotClosed("jar"), names=())])[1] == ItemOutcome("jar", (), None)


def test_the_truth_of_a_worth_comes_before_what_a_bidder_is_told_and_that_before_the_catalogue():
    def profit(*told):
        return values("profit", log_of(*told, *SOLD))["Ann"]

    labelled = [ItemLabelled("vase", Decimal(3_000), ""), *PRIVATE_WORTHS]
    assert profit(Signal("Ann", {"vase": Decimal(90)}, noisy=True)) is None  # an estimate is no worth
    assert profit(*PRIVATE_WORTHS) == profit(*labelled) == 20
    assert profit(Worth({"vase": Decimal(50)}), *PRIVATE_WORTHS) == 10
    assert profit(Worth({"vase": Decimal(45)}, "Ann"), *PRIVATE_WORTHS) == 5
    assert only("efficiency", log_of(*labelled, *SOLD)) == only("efficiency", log_of(*PRIVATE_WORTHS, *SOLD))


# ---------------------------------------------------------------- efficiency


def test_efficiency_equals_the_best_of_all_allocations_on_a_thousand_small_instances():
    chance = Random(0)
    for _ in range(1_000):
        names, goods = NAMES[: chance.randint(1, 3)], ("vase", "jar", "pot")[: chance.randint(1, 3)]
        worths = {name: {item: chance.randint(-2, 4) for item in goods} for name in names}
        totals = {
            owners: sum(worths[name][item] for item, name in zip(goods, owners, strict=True) if name)
            for owners in product(("", *names), repeat=len(goods))
        }
        owners, best = chance.choice([*totals]), max(totals.values())
        told = [Signal(name, {item: Decimal(one) for item, one in own.items()}) for name, own in worths.items()]
        told += [Allocated(name, item) for item, name in zip(goods, owners, strict=True) if name]
        [found] = efficiency.measure("efficiency", log_of(*told, *map(LotClosed, goods), names=names))
        assert (found.value, found.missing) == ((totals[owners] / best, "") if best else (None, WORTHLESS))


BUNDLE = ActedSealed("Ann", "all", BundleBid(("vase", "jar"), Decimal(40)))
HALVES = [Allocated(name, "vase", Decimal("0.5")) for name in ("Ann", "Ben")]
REASONS: dict[str, tuple[list[Event], str]] = {
    "common": ([Worth({"vase": Decimal(60)}), *SOLD], COMMON),
    "the true value of an item": ([ItemLabelled("vase", Decimal(60), ""), *SOLD], COMMON),
    "bundles": ([*PRIVATE_WORTHS, BUNDLE, *SOLD], BUNDLES),
    "budgets": ([BidderSeated("Ann", Decimal(50), {}, ""), *PRIVATE_WORTHS, *SOLD], BUDGETS),
    "units": ([*PRIVATE_WORTHS, Allocated("Ann", "vase", Decimal(2))], UNITS),
    "halves of a unit": ([*PRIVATE_WORTHS, *HALVES], UNITS),
    "a worth that is not told": ([*worth(Ann=60, Ben=80), *SOLD], UNTOLD),
    "nothing of worth": ([*worth(Ann=0, Ben=0, Cho=0), *SOLD], WORTHLESS),
    "no item": ([*PRIVATE_WORTHS], "no item is over yet"),
}


@pytest.mark.parametrize("what", REASONS)
def test_efficiency_that_is_undefined_is_a_reason_and_not_0(what):
    events, why = REASONS[what]
    log = log_of(*events)
    found = {(one.value, one.missing or efficiency.no_data) for one in efficiency.measure("efficiency", log)}
    assert found <= {(None, why)}
    if what != "no item":
        assert only("efficiency", log) == only("efficiency_by_item", log) == (None, why)


def test_worths_of_bundles_are_not_added_up():
    told = Signal("Ann", {"vase": Decimal(30), "jar": Decimal(30)})
    both = [Allocated("Ann", "vase"), Allocated("Ann", "jar")]
    unknown = (None, "nothing tells what it is worth to a bidder")
    cases = [([told, *both], (60, "")), ([told, BUNDLE, *both], (None, BUNDLES)), ([BUNDLE, *both[:1]], unknown)]
    for events, found in cases:
        [ann] = [one for one in measure(["profit"], log_of(*events)) if one.bidder == "Ann"]
        assert (ann.value, ann.missing) == found


# ---------------------------------------------------------------- legality


def test_legality_counts_what_a_bidder_chose_and_not_what_the_house_entered_for_it():
    entered = (("Ann", Withdraw("failed bids")), ("Ben", Withdraw()))
    tried = [(Tried(name, "vase", 1, 1, "too low"), ActedSealed(name, "vase", act)) for name, act in entered]
    assert values("legality", log_of(*tried[0], *tried[1])) == {"Ann": 0, "Ben": 0.5, "Cho": None}


# ---------------------------------------------------------------- tables


def test_standings_without_a_profit_say_whose_and_why():
    auction = table(find("game", "english"), seated(NAMES, {"rule": "truthful"}), {"reveal": "price"})
    lines = [one for one in summary_tables(summarise(public(auction.run().log))) if isinstance(one, str)]
    [line] = [one for one in lines if one.startswith("left out: profit of ")]
    assert line.endswith(": true values that it needs were not made public")
