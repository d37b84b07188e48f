"""An act as JSON is read back as it was written, what is no act is refused, and in public no failed offer is told."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.asking.asks import Ask, WithdrawalReason
from harbor._core.basics.actions import Bid, Unreadable, Withdraw
from harbor._core.log.acts import Acted, ActedSealed, act_json, act_of, as_told
from harbor._core.log.log_entries import event_json
from harbor._games.mechanism import acted
from harbor.games import AcceptOrWait, Amount, Bundle, Choice, Number, Quantity, Words

QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
SPACES = [
    Amount(Decimal("99.99"), Decimal("987.50")), Amount(Decimal(0), Decimal(10**12)),
    Amount(Decimal(5), Decimal(50), Decimal("0.05")), Number(Decimal(0), Decimal("99.123456")),
    AcceptOrWait(Decimal("47.50")), Choice(("heads", "tails", "5", "withdraw", "")),
    Bundle(("18 Tanner Row", "C", "and"), Decimal(900)), Quantity(0, 10**6), Words(40),
]  # fmt: skip
each = pytest.mark.parametrize("space", SPACES, ids=lambda space: f"{type(space).__name__} {space.most}")
reasons = st.sampled_from(get_args(WithdrawalReason))
offers = st.none() | st.decimals(-(10**12), 10**12, places=2)
withdrawals = st.builds(Withdraw, reasons, offers)


def again(action):
    """Write an act as JSON text and read it."""
    return act_of(json.loads(json.dumps(act_json(action))))


@each
def test_whatever_is_done_in_a_space_is_read_back_as_it_was_written_and_is_legal_still(space):
    for action in (*space.edges(), *space.beyond()):
        assert again(action) == action == act_of(action) == as_told(action)
        assert json.loads(event_json(Acted("Ann", "Vase", action)))["act"] == act_json(action)
    for action in map(space.draw, map(Random, range(100))):
        assert again(action) == action
        assert space.refusal(again(action)) == ""


@pytest.mark.parametrize("written", [
    None, "withdraw", [], {}, {"action": "sing"}, {"action": {"bid": 5}}, {"action": "bid", "amount": None},
    {"action": "bid", "amount": "5"}, {"action": "bid", "amount": True}, {"action": "bid", "amount": float("nan")},
    {"action": "bid", "amount": int("9" * 1_001)}, {"action": "bid", "amount": 5, "reasons": "It is cheap."},
    {"action": "bid", "amount": 5, "items": "AB"}, {"action": "bid", "amount": 5, "items": ["b", "a"]},
    {"action": "accept", "price": 5}, {"action": "withdraw", "reason": "I have no money"},
    {"action": "withdraw", "reason": ["fault"]}, {"action": "withdraw", "offered": "5"}, {"option": 5},
    {"units": True}, {"units": 3.0}, {"units": float("inf")}, {"words": None}, {"words": "a", "option": "a"},
], ids=lambda written: repr(written)[:50])  # fmt: skip
def test_what_is_no_act_is_refused(written):
    with pytest.raises(ValueError, match="is no ") as refused:
        act_of(written)
    assert "\n" not in str(refused.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["action", "amount", "items", "reason", "offered", "option", "units", "words"])
KINDS = st.sampled_from(["bid", "withdraw", "accept", "wait"])


@QUICK
@given(st.dictionaries(KEYS, JSON | KINDS, max_size=4) | JSON)
def test_any_json_is_an_act_that_is_written_as_it_was_read_or_is_refused(written):
    try:
        action = act_of(written)
    except ValueError:
        return
    assert act_json(action) == written


@pytest.mark.parametrize("answer", [
    Unreadable("no amount"), Bid(Decimal("NaN")), Bid(Decimal("sNaN")), Bid(Decimal("Infinity")),
    Bid(Decimal("99.12345678901234567890")), Bid(Decimal(2**80 + 1) / 8), Withdraw("failed bids", Decimal("-Infinity")),
], ids=repr)  # fmt: skip
def test_an_answer_that_json_does_not_say_exactly_is_not_told_as_an_act(answer):
    assert as_told(answer) is None


@pytest.mark.parametrize(("given_", "told"), [("99.1230", "99.123"), ("5000.00", "5000"), ("-0", "0")])
def test_an_amount_is_told_as_its_reader_has_it(given_, told):
    assert str(as_told(Bid(Decimal(given_))).amount) == told


@QUICK
@given(withdrawals, st.sampled_from(["open", "sealed"]))
def test_what_was_offered_in_vain_is_not_told_with_a_withdrawal(action, acts):
    told = acted(Ask("Ann", "Vase", 2, SPACES[0], 3), action, acts)
    assert told.act == Withdraw(action.reason)
    assert (told.bidder, told.item, told.round, told.attempt) == ("Ann", "Vase", 2, 3)
    if acts == "open":
        assert told.words == "Ann is out of Vase."


@each
def test_a_legal_act_is_told_whole_with_what_its_amount_is(space):
    for action in space.edges():
        ask = Ask("Ann", "Vase", 2, space)
        assert acted(ask, action, "sealed") == ActedSealed("Ann", "Vase", action, 2)
        unit = "number" if isinstance(space, Number) else "dollars"
        assert acted(ask, action, "open") == Acted("Ann", "Vase", action, 2, 1, unit)
