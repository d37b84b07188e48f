"""The laws of the ascending auction, over random sales, and its cases one by one."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.log.log import Log
from harbor._games.english.events import ItemOpened, ItemSold, ItemUnsold, PriceLowered, RoundClosed, ValueRevealed
from harbor._games.english.rules import English, EnglishRules, ValuedLot
from harbor._house.auctioneer import Sale
from harbor.events import Acted, BidderWithdrew, Drawn, Lot
from harbor.games import Bid, Withdraw, stream
from support.turns import take_turn

HARD = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("Ann", "Ben", "Cho", "Dee")
CENT = Decimal("0.01")


# ---------------------------------------------------------------- sales, by hand and at random


def rules(*starts, budgets=(1000, 1000, 1000), values=None, **options):
    """Rules for items called "Item 1", ... at these starts, for Ann, Ben, ... with these budgets."""
    values = values or [2 * Decimal(start) for start in starts]
    lots = [Lot(f"Item {number}", Decimal(start)) for number, start in enumerate(starts, start=1)]
    items = tuple(ValuedLot(lot, Decimal(value)) for lot, value in zip(lots, values, strict=True))
    purses = {name: Decimal(budget) for name, budget in zip(NAMES, budgets, strict=False)}
    return English(items, purses, EnglishRules(**options))


def sale_of(mechanism, seed=0):
    return Sale(mechanism, tuple(mechanism.budgets), Log(), stream(seed, "ties"), acts="open")


def events_of(sale):
    return [entry.event for entry in sale.log.entries]


def answer(ask, choice):
    """Turn a random choice into a legal action: None withdraws, 0 bids the minimum, 1 everything, the rest between."""
    if choice is None:
        return Withdraw()
    return Bid((ask.minimum + (ask.maximum - ask.minimum) * choice).quantize(CENT, rounding=ROUND_FLOOR))


def hold(sale, choices):
    """Hold a sale with these choices, over and over; give each turn as (number of events before it, asks)."""
    choices = cycle(choices)
    turns = []
    sale.settle({})
    while asks := sale.asks():
        turns.append((len(sale.log.entries), asks))
        take_turn(sale, {ask.bidder: answer(ask, next(choices)) for ask in asks})
    return turns


def hold_script(mechanism, *rounds, seed=0):
    """Hold a sale in which each round is a dict of bidder to dollars; whoever is not in it withdraws."""
    sale = sale_of(mechanism, seed)
    sale.settle({})
    for amounts in rounds:
        actions = {name: Bid(Decimal(amount)) for name, amount in amounts.items()}
        take_turn(sale, {ask.bidder: actions.get(ask.bidder, Withdraw()) for ask in sale.asks()})
    return sale


def asked(sale):
    return [ask.bidder for ask in sale.asks()]


def picked(sale, *kinds):
    return [event for event in events_of(sale) if isinstance(event, kinds)]


seeds = st.integers(0, 2**32)
cents = st.integers(1, 100_000).map(lambda amount: Decimal(amount) / 100)
choices = st.lists(
    st.one_of(st.none(), st.just(Decimal(0)), st.just(Decimal(0)), st.just(Decimal(1)),
              st.integers(0, 100).map(lambda n: Decimal(n) / 100)),
    min_size=1, max_size=12,
)  # fmt: skip


@st.composite
def any_rules(draw):
    """Any items, budgets and options."""
    return rules(
        *draw(st.lists(cents, min_size=1, max_size=6)), budgets=draw(st.lists(cents, min_size=1, max_size=4)),
        increment_share=draw(st.integers(1, 100)) / Decimal(100), lowerings=draw(st.integers(0, 3)),
        lowering_share=draw(st.sampled_from([Decimal("0.5"), Decimal("0.1"), Decimal("0.99")])),
        reveal=draw(st.sampled_from(["price", "true value"])),
    )  # fmt: skip


class Witness:
    """What an attentive visitor knows after some events; written from the rules, not from the code."""

    def __init__(self, mechanism):
        self.purses = dict(mechanism.budgets)
        self.reset()

    def reset(self, start=None, increment=None):
        self.start, self.increment = start, increment
        self.out = set()
        self.leader, self.price = None, None

    def see(self, event):
        match event:
            case ItemOpened() | PriceLowered():
                self.reset(event.start, event.increment)
            case Acted(act=Withdraw()) | BidderWithdrew():
                self.out.add(event.bidder)
            case RoundClosed():
                self.leader, self.price = event.leader, event.price
            case ItemSold():
                self.purses[event.winner] -= event.price

    @property
    def minimum(self):
        return self.start if self.leader is None else self.price + self.increment


# ---------------------------------------------------------------- laws


@HARD
@given(any_rules(), choices, seeds)
def test_just_those_are_asked_who_neither_lead_nor_left_and_can_pay_the_rising_price(mechanism, choices, seed):
    sale, witness = sale_of(mechanism, seed), Witness(mechanism)
    asks_at = dict(hold(sale, choices))
    for number, event in enumerate(events_of(sale)):
        if asks := asks_at.get(number):
            due = [name for name in mechanism.budgets if name not in witness.out and name != witness.leader]
            assert [ask.bidder for ask in asks] == due
            for ask in asks:
                assert witness.minimum == ask.minimum <= ask.maximum == witness.purses[ask.bidder]
        match event:
            case BidderWithdrew(reason=reason):
                assert reason == "cannot afford"
                assert witness.purses[event.bidder] < witness.minimum
            case RoundClosed():
                assert event.price >= witness.minimum
            case ItemOpened() | PriceLowered():  # the share in whole dollars; int() rounds down
                assert event.increment == max(1, int(event.start * mechanism.options.increment_share))
        witness.see(event)


# ---------------------------------------------------------------- fair ties


def test_a_tie_is_drawn_once_among_the_highest_bids_only_and_by_the_seed():
    sales = [hold_script(rules(10), {"Ann": 20, "Ben": 20, "Cho": 19}, seed=seed) for seed in range(60)]
    lots = [picked(sale, Drawn) for sale in sales]
    assert lots == [[Drawn("the leader", ("Ann", "Ben"), sale.state.leader)] for sale in sales]
    assert {sale.state.leader for sale in sales} == {"Ann", "Ben"}


# ---------------------------------------------------------------- cases


def sold(winner, price):
    return [ItemSold("Item 1", winner, Decimal(price))]


UNSOLD = [ItemUnsold("Item 1")]
TWO = {"Ann": 100, "Ben": 110}


@pytest.mark.parametrize(("mechanism", "rounds", "lowered", "ended", "next_asked"), [
    pytest.param(rules(100), [{"Ben": 120}], [], sold("Ben", 120), [], id="one bid in the first round sells"),
    pytest.param(rules(100), [TWO], [], [], ["Ann"], id="two bids do not sell"),
    pytest.param(rules(100), [TWO, {}], [], sold("Ben", 110), [], id="a later round without a bid sells"),
    pytest.param(rules(100), [TWO, {"Ann": 120}], [], [], ["Ben"], id="one bid in a later round does not sell"),
    pytest.param(rules(100), [{}], [], UNSOLD, [], id="no bid"),
    pytest.param(rules(100, budgets=(1000, 150)), [{"Ann": 145, "Ben": 100}], [], sold("Ann", 145), [],
                 id="no rival can pay the next bid"),
    pytest.param(rules(100, budgets=(1000,)), [{"Ann": 100}], [], sold("Ann", 100), [], id="one bidder"),
    pytest.param(rules(100, lowerings=3), [{}] * 4, [50, 25, 12], UNSOLD, [], id="lowered by half three times at most"),
    pytest.param(rules(999, lowerings=3), [{}] * 4, [499, 249, 124], UNSOLD, [], id="cut to whole dollars"),
    pytest.param(rules(3, lowerings=3), [{}] * 2, [1], UNSOLD, [], id="not lowered below a dollar"),
    pytest.param(rules(1, lowerings=3), [{}], [], UNSOLD, [], id="nobody is called back to the same price"),
    pytest.param(rules("0.50", lowerings=3), [{}], [], UNSOLD, [], id="less than a dollar is not lowered"),
    pytest.param(rules(100, lowerings=1), [{}, {"Cho": 55}], [50], sold("Cho", 55), [], id="one bid after a lowering"),
    pytest.param(rules(100, lowerings=3), [TWO, {}], [], sold("Ben", 110), [], id="an item with a bid is not lowered"),
    pytest.param(rules(100, budgets=(30,), lowerings=3), [], [50, 25], [], ["Ann"], id="lowered until one can pay"),
])  # fmt: skip
def test_an_item_is_lowered_sold_or_given_up_as_the_rules_say(mechanism, rounds, lowered, ended, next_asked):
    sale = hold_script(mechanism, *rounds)
    assert [event.start for event in picked(sale, PriceLowered)] == lowered
    assert picked(sale, ItemSold, ItemUnsold) == ended
    assert asked(sale) == next_asked


def test_increments_fall_with_a_lowered_start_and_an_unsold_item_costs_nobody_anything():
    sale = hold_script(rules(100, lowerings=3), {}, {}, {}, {})
    assert [event.increment for event in picked(sale, PriceLowered)] == [5, 2, 1]
    assert sale.state.budgets == dict.fromkeys(NAMES[:3], 1000)


@pytest.mark.parametrize(("options", "rounds", "bought"), [
    ({"budgets": (1, 1), "lowerings": 3}, [], 0), ({"budgets": (100,)}, [{"Ann": 100}], 1),
], ids=["none can be paid", "none after the last dollar"])  # fmt: skip
def test_two_thousand_items_that_nobody_can_pay_do_not_overflow_the_stack(options, rounds, bought):
    sale = hold_script(rules(*[100] * 2000, **options), *rounds)
    assert (len(picked(sale, ItemSold)), len(picked(sale, ItemUnsold))) == (bought, 2000 - bought)
    assert sale.asks() == []


def test_the_true_value_is_announced_after_the_hammer_and_only_if_it_is_to_be_revealed():
    sale = hold_script(rules(100, 50, values=(250, 70), reveal="true value"), {"Ann": 100}, {})
    assert picked(sale, ItemSold, ItemUnsold, ValueRevealed) == [
        ItemSold("Item 1", "Ann", Decimal(100)), ValueRevealed("Item 1", Decimal(250)), ItemUnsold("Item 2"),
        ValueRevealed("Item 2", Decimal(70)),
    ]  # fmt: skip
    sale = hold_script(rules(100, 50, reveal="price"), {"Ann": 100}, {})
    assert picked(sale, ValueRevealed) == []
    sale = hold_script(rules(100, values=("777.77",)), {"Ann": 100, "Ben": 110}, {"Ann": 120})
    assert not any("777.77" in repr(event) for event in events_of(sale))


# ---------------------------------------------------------------- what is legal


@settings(HARD, max_examples=300)
@given(st.one_of(st.decimals(), st.decimals(90, 1010, places=2), st.decimals(90, 1010, places=3)))
def test_a_bid_is_legal_if_and_only_if_it_is_whole_cents_from_minimum_to_budget(amount):
    legal = amount.is_finite() and 100 <= amount <= 1000 and amount == amount.quantize(CENT)
    assert (hold_script(rules(100)).asks()[0].space.refusal(Bid(amount)) == "") == legal
