"""The laws of the ascending auction, over random sales, and its cases one by one."""

from __future__ import annotations

import tempfile
from collections import Counter
from decimal import ROUND_FLOOR, Decimal
from itertools import cycle, permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Acted
from harbor._core.log.events import SCHEMA_VERSION, BidderWithdrew, LogOpened, Lot
from harbor._core.log.log import Log, read_log
from harbor._core.plugins.finding import found
from harbor._games.english.events import (
    ItemOpened,
    ItemSold,
    ItemUnsold,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.english.rules import English, EnglishRules, ValuedLot
from harbor._games.mechanism import Chance, fold
from harbor._house.auctioneer import Sale
from support.turns import take_turn

HARD = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("Ann", "Ben", "Cho", "Dee")
CENT = Decimal("0.01")


# ---------------------------------------------------------------- sales, by hand and at random


def rules(*starts, budgets=(1000, 1000, 1000), values=None, **options):
    """Rules for items called "Item 1", ... at these starts, for Ann, Ben, ... with these budgets."""
    values = values or [2 * Decimal(start) for start in starts]
    items = tuple(
        ValuedLot(Lot(f"Item {number}", Decimal(start)), Decimal(value))
        for number, (start, value) in enumerate(zip(starts, values, strict=True), start=1)
    )
    purses = {name: Decimal(budget) for name, budget in zip(NAMES, budgets, strict=False)}
    return English(items, purses, EnglishRules(**options))


def sale_of(mechanism, seed=0, log=None):
    return Sale(mechanism, tuple(mechanism.budgets), log or Log(), stream(seed, "ties"), acts="open")


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
        self.spent = dict.fromkeys(mechanism.budgets, Decimal(0))
        self.reset()

    def reset(self, start=None, increment=None):
        self.start, self.increment = start, increment
        self.out = set()
        self.leader, self.price = None, None
        self.round_bids, self.last_bids = {}, {}

    def see(self, event):
        match event:
            case ItemOpened() | PriceLowered():
                self.reset(event.start, event.increment)
            case Acted(act=Bid(amount=amount)):
                self.round_bids[event.bidder] = amount
            case Acted() | BidderWithdrew():
                self.out.add(event.bidder)
            case RoundClosed():
                self.leader, self.price = event.leader, event.price
                self.last_bids, self.round_bids = self.round_bids, {}
            case ItemSold():
                self.spent[event.winner] += event.price

    def left(self, bidder):
        return self.purses[bidder] - self.spent[bidder]

    @property
    def minimum(self):
        return self.start if self.leader is None else self.price + self.increment


# ---------------------------------------------------------------- laws


def held_sale(mechanism, choices, seed):
    """Hold a sale; return it and its turns."""
    sale = sale_of(mechanism, seed)
    return sale, hold(sale, choices)


def witnessed(sale):
    """Yield each event of a sale with a visitor who has seen those before it."""
    witness = Witness(sale.rules)
    for event in events_of(sale):
        yield event, witness
        witness.see(event)


def law(test):
    """Make a test of a held sale one of any held sale."""
    return HARD(given(st.builds(held_sale, any_rules(), choices, seeds))(test))


@law
def test_money_is_conserved_and_nobody_overspends(held):
    sale, _ = held
    spent = Counter()
    for sold in picked(sale, ItemSold):
        spent[sold.winner] += sold.price
    for bidder, purse in sale.rules.budgets.items():
        assert sale.state.budgets[bidder] + spent[bidder] == purse
        assert sale.state.budgets[bidder] >= 0


@law
def test_the_winner_bid_the_most_in_the_last_bidding_round_and_could_pay_it(held):
    for event, witness in witnessed(held[0]):
        if isinstance(event, ItemSold):
            assert event.price == max(witness.last_bids.values()) == witness.last_bids[event.winner]
            assert event.price <= witness.left(event.winner)


@law
def test_exactly_those_are_asked_who_do_not_lead_are_not_out_and_can_pay(held):
    sale, turns = held
    events, witness, seen = events_of(sale), Witness(sale.rules), 0
    for before, asks in turns:
        for event in events[seen:before]:
            witness.see(event)
        seen = before
        due = [name for name in sale.rules.budgets if name not in witness.out and name != witness.leader]
        assert [ask.bidder for ask in asks] == due
        for ask in asks:
            assert (ask.minimum, ask.maximum) == (witness.minimum, witness.left(ask.bidder))
            assert ask.minimum <= ask.maximum


@law
def test_only_those_who_cannot_pay_are_sent_away_as_such(held):
    for event, witness in witnessed(held[0]):
        if isinstance(event, BidderWithdrew):
            assert event.reason == "cannot afford"
            assert witness.left(event.bidder) < witness.minimum


@law
def test_every_item_is_opened_once_in_order_and_sold_or_given_up_once(held):
    order = [item.lot.name for item in held[0].rules.items]
    assert [event.item for event in picked(held[0], ItemOpened)] == order
    assert [event.item for event in picked(held[0], ItemSold, ItemUnsold)] == order


@law
def test_an_item_takes_no_more_rounds_than_the_richest_purse_has_raises(held):
    sale, turns = held
    richest = max(sale.rules.budgets.values())
    rounds, most = Counter(asks[0].item for _, asks in turns), Counter()
    for opened in picked(sale, ItemOpened, PriceLowered):
        most[opened.item] += 2 + max(0, int((richest - opened.start) // opened.increment))
    assert all(rounds[item] <= most[item] for item in rounds)


@law
def test_a_leading_price_rises_by_the_increment_at_least(held):
    assert all(event.price >= seen.minimum for event, seen in witnessed(held[0]) if isinstance(event, RoundClosed))


@law
def test_the_increment_is_a_share_of_the_start_in_whole_dollars_and_at_least_one(held):
    for event in picked(held[0], ItemOpened, PriceLowered):
        share = int(event.start * held[0].rules.options.increment_share)  # both positive: int() rounds down
        assert event.increment == max(1, share)


@law
def test_folding_the_events_gives_the_state(held):
    assert fold(held[0].rules, events_of(held[0])) == held[0].state


@settings(HARD, max_examples=40)
@given(any_rules(), choices, seeds)
def test_a_log_read_back_equals_the_run(mechanism, choices, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        log = Log(path)
        sale = sale_of(mechanism, seed, log)
        log.append(LogOpened(SCHEMA_VERSION, "0", "run", seed, parts=(found("game", "english").part,)))
        hold(sale, choices)
        log.close()
        read = [entry.event for entry in read_log(path).entries]
    assert read == events_of(sale)
    assert fold(mechanism, read) == sale.state


@HARD
@given(st.tuples(any_rules(), choices, seeds))
def test_equal_seeds_and_actions_give_equal_events(given):
    assert events_of(held_sale(*given)[0]) == events_of(held_sale(*given)[0])


@HARD
@given(any_rules(), choices, seeds)
def test_the_order_in_which_answers_arrive_changes_nothing_and_settling_changes_no_state(mechanism, choices, seed):
    sale = sale_of(mechanism, seed)
    sale.settle({})
    flow = cycle(choices)
    while asks := sale.asks():
        actions = {ask.bidder: answer(ask, next(flow)) for ask in asks}
        late = dict(reversed(actions.items()))
        twin = sale_of(mechanism, seed)
        twin.state = sale.state
        twin.act(asks, late)
        sale.act(asks, actions)
        assert twin.state == sale.state
        before = sale.state._replace(budgets=dict(sale.state.budgets))
        draws = [mechanism.settle(sale.state, order, Chance(Random(seed))) for order in (actions, late)]
        assert sale.state == before
        assert draws[0] == draws[1]
        sale.settle(actions)


# ---------------------------------------------------------------- fair ties


def tie_winners(order, seeds):
    mechanism = English(
        (ValuedLot(Lot("Item", Decimal(10)), Decimal(20)),),
        dict.fromkeys(order, Decimal(100)),
        EnglishRules(reveal="price"),
    )
    winners = Counter()
    for seed in seeds:
        sale = sale_of(mechanism, seed)
        sale.settle({})
        take_turn(sale, dict.fromkeys(order, Bid(Decimal(10))))
        winners[sale.state.leader] += 1
    return winners


def test_three_equal_bids_have_equal_chances():
    winners = tie_winners(NAMES[:3], range(3000))
    assert chisquare([winners[name] for name in NAMES[:3]]).pvalue > 0.001


def test_the_chances_of_a_tie_do_not_depend_on_the_seat_order():
    orders = list(permutations(NAMES[:3]))
    table = []
    for number, order in enumerate(orders):
        winners = tie_winners(order, range(number * 500, (number + 1) * 500))
        table.append([winners[name] for name in NAMES[:3]])
    assert chi2_contingency(table).pvalue > 0.001
    assert chisquare([sum(column) for column in zip(*table, strict=True)]).pvalue > 0.001


def test_a_tie_is_drawn_among_the_highest_bids_only():
    leaders = {hold_script(rules(10), {"Ann": 20, "Ben": 20, "Cho": 19}, seed=seed).state.leader for seed in range(60)}
    assert leaders == {"Ann", "Ben"}


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


def test_the_increment_is_a_share_of_the_start_and_not_of_the_price():
    sale = hold_script(rules(100), {"Ann": 900, "Ben": 100})
    assert sale.asks()[0].minimum == 910


def test_increments_fall_with_a_lowered_start_and_an_unsold_item_costs_nobody_anything():
    sale = hold_script(rules(100, lowerings=3), {}, {}, {}, {})
    assert [event.increment for event in picked(sale, PriceLowered)] == [5, 2, 1]
    assert sale.state.budgets == dict.fromkeys(NAMES[:3], 1000)


def test_bids_of_one_round_are_checked_against_the_rounds_before_only():
    sale = hold_script(rules(100), {"Ann": 300, "Ben": 100, "Cho": 100})
    assert sale.state.leader == "Ann"
    assert {(ask.bidder, ask.minimum) for ask in sale.asks()} == {("Ben", Decimal(310)), ("Cho", Decimal(310))}


def test_a_withdrawal_is_final_for_that_item_and_not_for_the_next():
    sale = hold_script(rules(100, 50), {"Ann": 100, "Ben": 110})
    assert asked(sale) == ["Ann"]
    take_turn(sale, {"Ann": Bid(Decimal(120))})
    assert asked(sale) == ["Ben"]
    take_turn(sale, {"Ben": Withdraw()})
    assert picked(sale, ItemOpened)[-1].item == "Item 2"
    assert asked(sale) == ["Ann", "Ben", "Cho"]


@pytest.mark.parametrize(("budgets", "rounds", "out", "next_asked"), [
    ((1000, 99, 100), [], [BidderWithdrew("Item 1", 1, "Ben", "cannot afford")], ["Ann", "Cho"]),
    ((1000, 1000, 209), [{"Ann": 200, "Ben": 100, "Cho": 100}],
     [BidderWithdrew("Item 1", 2, "Cho", "cannot afford")], ["Ben"]),
    ((1000, 1000, 210), [{"Ann": 200, "Ben": 100, "Cho": 100}], [], ["Ben", "Cho"]),
], ids=["the start", "the next bid", "it to the cent"])  # fmt: skip
def test_who_cannot_pay_is_out_unasked_and_an_event_says_so(budgets, rounds, out, next_asked):
    sale = hold_script(rules(100, budgets=budgets), *rounds)
    assert (picked(sale, BidderWithdrew), asked(sale)) == (out, next_asked)


def test_a_lowered_price_calls_everyone_back():
    sale = hold_script(rules(100, budgets=(1000, 1000, 60), lowerings=1), {})
    assert [(ask.bidder, ask.minimum, ask.round) for ask in sale.asks()] == [(name, 50, 1) for name in NAMES[:3]]


@pytest.mark.parametrize(("options", "rounds", "bought"), [
    ({"budgets": (1, 1), "lowerings": 3}, [], 0), ({"budgets": (100,)}, [{"Ann": 100}], 1),
], ids=["none can be paid", "none after the last dollar"])  # fmt: skip
def test_two_thousand_items_that_nobody_can_pay_do_not_overflow_the_stack(options, rounds, bought):
    sale = hold_script(rules(*[100] * 2000, **options), *rounds)
    assert (len(picked(sale, ItemSold)), len(picked(sale, ItemUnsold))) == (bought, 2000 - bought)
    assert sale.asks() == []


def test_the_true_value_is_announced_after_the_hammer_if_it_is_to_be_revealed():
    sale = hold_script(rules(100, 50, values=(250, 70), reveal="true value"), {"Ann": 100}, {})
    assert picked(sale, ItemSold, ItemUnsold, ValueRevealed) == [
        ItemSold("Item 1", "Ann", Decimal(100)), ValueRevealed("Item 1", Decimal(250)), ItemUnsold("Item 2"),
        ValueRevealed("Item 2", Decimal(70)),
    ]  # fmt: skip


def test_a_true_value_is_not_public_before_the_hammer_nor_at_all_if_only_the_price_is_revealed():
    sale = hold_script(rules(100, 50, reveal="price"), {"Ann": 100}, {})
    assert picked(sale, ValueRevealed) == []
    sale = hold_script(rules(100, values=("777.77",)), {"Ann": 100, "Ben": 110}, {"Ann": 120})
    assert not any("777.77" in repr(event) for event in events_of(sale))


def test_the_opening_tells_seats_lots_in_order_and_what_is_revealed():
    (opened,) = picked(hold_script(rules(100, 50, reveal="price")), SaleOpened)
    told = (opened.bidders, [lot.name for lot in opened.lots], opened.reveal)
    assert told == (NAMES[:3], ["Item 1", "Item 2"], "price")


def test_who_leaves_by_itself_is_out_by_its_own_act_and_not_by_the_rules():
    sale = hold_script(rules(100), {"Ann": 100, "Ben": 110})
    assert [event for event in picked(sale, Acted) if event.bidder == "Cho"] == [Acted("Cho", "Item 1", Withdraw())]
    assert picked(sale, BidderWithdrew) == []
    assert sale.state.active == ("Ann", "Ben")


# ---------------------------------------------------------------- what is legal


def ask_of(mechanism):
    return hold_script(mechanism).asks()[0]


@pytest.mark.parametrize(("legal", "amounts"), [
    (True, "100 100.01 1000 1E+3"),
    (False, "99.99 1000.01 -100 -0 0 NaN sNaN Infinity -Infinity 100.001 1E+27 9E+99"),
], ids=["from the minimum to the budget", "low, above the budget, not finite or no whole cents"])  # fmt: skip
def test_a_bid_is_legal_or_refused(legal, amounts):
    for amount in amounts.split():
        assert (ask_of(rules(100)).space.refusal(Bid(Decimal(amount))) == "") is legal, amount


@settings(HARD, max_examples=300)
@given(st.one_of(st.decimals(), st.decimals(90, 1010, places=2), st.decimals(90, 1010, places=3)))
def test_a_bid_is_legal_if_and_only_if_it_is_whole_cents_from_minimum_to_budget(amount):
    legal = amount.is_finite() and 100 <= amount <= 1000 and amount == amount.quantize(CENT)
    assert (ask_of(rules(100)).space.refusal(Bid(amount)) == "") == legal
