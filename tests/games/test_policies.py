"""Bidders that follow a script: what they answer depends on the ask and on what they have seen, and on nothing else."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, Item
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemOpened, ItemSold, PriceLowered
from harbor._games.english.game import ENGLISH
from harbor._games.policies import MinimumRaise, Truthful


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


# ---------------------------------------------------------------- both


@settings(max_examples=60)
@given(st.integers(1, 500), st.integers(500, 2000), st.integers(0, 6), st.sampled_from([MinimumRaise(4), Truthful()]))
def test_a_scripted_bidder_only_makes_legal_bids(minimum, maximum, made, player):
    asked = ask(minimum, maximum)
    answer = player.decide(asked, [seated(Vase=700), opened(), *placed(times=made)])
    assert not isinstance(answer, Bid) or asked.space.refusal(answer) == ""


# ---------------------------------------------------------------- the rational bidder of the ascending auction

FIVE = ([100, 40, 260, 75, 120], [210, 95, 500, 160, 230])


def profits(bidders, starts=FIVE[0], values=FIVE[1], **rules):
    """Hold an auction of these bidders; give the profit of each purchase by (item, bidder)."""
    items = [
        Item(name=f"Item {number}", start=start, true_value=value)
        for number, (start, value) in enumerate(zip(starts, values, strict=True), start=1)
    ]
    log = Auction(items=items, bidders=bidders, rules=rules).run().log
    value = {item.name: item.true_value for item in items}
    return {(sale.item, sale.winner): value[sale.item] - sale.price for sale in of_type(log, ItemSold)}


@pytest.mark.parametrize("overestimate", [-0.3, 0, 0.1, 0.5, 2])
def test_rational_bidders_never_buy_at_a_loss_whatever_their_estimates_are(overestimate):
    found = profits([Bidder(name, rule="rational", overestimate=overestimate) for name in ("Ann", "Ben", "Cho")])
    assert len(found) == 5
    assert min(found.values()) >= 0


def test_a_truthful_bidder_never_pays_more_than_its_estimate():
    bidders = [Bidder(name, rule="truthful", overestimate=-0.3) for name in ("Ann", "Ben")]
    [((item, _), profit)] = profits(bidders, [100, 300], [250, 350]).items()
    assert item == "Item 1"
    assert profit >= 250 - 175


@pytest.mark.parametrize("overestimate", [0.1, 0.5])
def test_against_truthful_bidders_the_rational_one_lets_them_have_the_losses(overestimate):
    bidders = [Bidder("Ann", rule="rational", overestimate=overestimate)]
    bidders += [Bidder(name, rule="truthful", overestimate=overestimate) for name in ("Ben", "Cho")]
    found = profits(bidders)
    assert min(profit for (_, bidder), profit in found.items() if bidder != "Ann") < 0
    assert all(profit >= 0 for (_, bidder), profit in found.items() if bidder == "Ann")


def test_a_rational_bidder_outbids_one_that_stops_below_the_value_once_a_value_is_revealed():
    found = profits([Bidder("Ann", rule="rational"), Bidder("Ben", rule="minimum-raise", max_bids=1)])
    bought = [item for item, bidder in found if bidder == "Ann" and item != "Item 1"]
    assert bought == [f"Item {number}" for number in (2, 3, 4, 5)]


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
