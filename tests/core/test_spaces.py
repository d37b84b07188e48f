"""The action spaces: what is said is heard, what is drawn is legal, and everything follows from the one value."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import TypeAdapter

from harbor._core.asking.decisions import as_reply, without_reasons
from harbor._core.basics.actions import Accept, Bid, BundleBid, Choose, Say, Take, Unreadable, Wait, Withdraw
from harbor._core.log.message_metadata import ASK
from harbor._games.policies import Adversary, AtRandom
from harbor._house.auctioneer import call
from harbor.games import AcceptOrWait, Amount, Ask, Bundle, Choice, Number, Quantity, Words, dollars

QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
money = st.decimals(0, 10**9, places=2)
plain = st.characters(exclude_categories=["C"])
texts = st.text(plain, min_size=1, max_size=15)
spoken_like = st.sampled_from(["I accept", "I wait", "and", "for", "A and B", '"', "18 Tanner Row", "5", "not"])
names = st.lists(texts | spoken_like, min_size=1, max_size=5, unique=True).map(tuple)


def ranges(kind, numbers):
    return st.tuples(numbers, numbers).map(lambda pair: kind(min(pair), max(pair)))


stepped = st.tuples(money, st.integers(0, 50), st.sampled_from(["0.05", "5", "7.50"]))
spaces = st.one_of(
    ranges(Amount, money), stepped.map(lambda of: Amount(of[0], of[0] + of[1] * Decimal(of[2]), Decimal(of[2]))),
    ranges(Number, st.decimals(0, 10**6, places=6)), money.map(AcceptOrWait), names.map(Choice),
    st.tuples(names, money).map(lambda given: Bundle(*given)), ranges(Quantity, st.integers(0, 10**6)),
    st.integers(1, 2_000).map(Words),
)  # fmt: skip
seeds = st.integers(0, 2**32).map(Random)
items = texts | spoken_like

ONE_OF_EACH = [
    Amount(Decimal(100), Decimal("987.50")), Number(Decimal(0), Decimal(100)), AcceptOrWait(Decimal(950)),
    Choice(("red", "blue", "red and blue")), Bundle(("A", "B"), Decimal(950)), Quantity(0, 12), Words(200),
]  # fmt: skip
each = pytest.mark.parametrize("space", ONE_OF_EACH, ids=lambda space: space.kind)


def ask(space, **more):
    return Ask("Ann", "Vase", 1, space, **more)


def unreadable(space, said):
    return isinstance(space.read(said, "Vase"), Unreadable)


# ---------------------------------------------------------------- laws of every space


@QUICK
@given(spaces, seeds, items)
def test_what_is_drawn_is_legal_and_is_heard_as_it_is_said_whatever_the_item_is_called(space, rng, item):
    for action in (*space.edges(), space.draw(rng)):
        assert space.refusal(action) == ""
        assert space.read(space.say(action), item) == action


@QUICK
@given(spaces)
def test_what_is_beyond_a_space_is_refused_in_one_line(space):
    for action in space.beyond():
        assert space.refusal(action)
        assert "\n" not in space.refusal(action)


@QUICK
@given(spaces, seeds)
def test_an_ask_with_any_space_survives_the_metadata_of_a_message(space, rng):
    asked = ask(space, attempt=2, refusal="no", note="")
    read = ASK.validate_json(ASK.dump_json(asked))
    assert read == asked
    assert type(read.space) is type(space)
    assert read.space.draw(Random(1)) == space.draw(Random(1))


sayings = st.text() | st.binary().map(lambda b: b.decode("latin-1")) | st.text("0123456789$,.k m-%'I bidouwthra\n")


@settings(QUICK, max_examples=400)
@given(spaces, sayings, items | sayings)
def test_hearing_never_raises(space, said, item):
    for about in (item, said[:5]):
        heard = space.read(said, about)
        assert isinstance(heard, Unreadable) or isinstance(space.refusal(heard), str)
        assert getattr(heard, "amount", Decimal(0)).is_finite()


@each
def test_a_withdrawal_is_an_answer_only_where_the_space_says_so_and_an_unreadable_one_keeps_its_reason(space):
    assert (space.read("I withdraw.") == Withdraw()) is space.can_withdraw
    assert (space.refusal(Withdraw()) == "") is space.can_withdraw
    assert space.read(space.say(Unreadable("a bid needs an amount"))) == Unreadable("a bid needs an amount")


@each
def test_an_action_of_another_space_is_refused(space):
    own = {type(action) for action in space.edges()}
    others = [action for other in ONE_OF_EACH for action in other.edges() if type(action) not in own]
    assert others
    for action in others:
        heard = space.read(space.say(action))
        assert space.refusal(action) == getattr(heard, "reason", f"{action.words!r} is no answer to this call")


@each
def test_a_random_bidder_plays_legally_and_an_adversary_says_much_in_every_space(space):
    asks = [ask(space)._replace(round=number) for number in range(1, 60)]
    assert {space.refusal(AtRandom(7).decide(asked, [])) for asked in asks} == {""}
    said = {Adversary(7).decide(asked, []) for asked in asks}
    assert len(said) > 5
    assert any(isinstance(space.read(one, "Vase"), Unreadable) or space.kind == "words" for one in said)


# ---------------------------------------------------------------- replies of models


@each
def test_an_action_that_is_written_as_a_reply_is_meant_by_it(space):
    for action in (*space.edges(), space.draw(Random(1)), *([Withdraw()] if space.can_withdraw else ())):
        reply = without_reasons(space.reply).model_validate(json.loads(json.dumps(as_reply(action))))
        assert (reply.missing(), reply.taken()) == ("", action)


@each
def test_a_model_is_told_the_shape_of_its_reply_with_the_reasons_first(space):
    shape = convert_to_openai_tool(space.reply)["function"]
    assert next(iter(shape["parameters"]["properties"])) == "reasons"
    assert shape["description"]
    assert TypeAdapter(dict).dump_json(space.facts())


def test_a_model_is_told_the_options_and_the_items_that_it_may_name():
    named = ("red", 'a "b"')
    assert Choice(named).reply.model_json_schema()["properties"]["option"]["enum"] == list(named)
    on_sale = Bundle(named, Decimal(5)).reply.model_json_schema()["properties"]["items"]["items"]["enum"]
    assert on_sale == list(named)


@pytest.mark.parametrize(("values", "missing"), [
    ({"action": "bid", "items": ["A"]}, "a bid needs an amount and at least one item"),
    ({"action": "bid", "amount": 5}, "a bid needs an amount and at least one item"),
    ({"action": "bid", "amount": 5, "items": ["A", "B", "A"]}, "an item is named twice"),
    ({"action": "withdraw"}, ""),
])  # fmt: skip
def test_a_bundle_reply_says_what_it_lacks(values, missing):
    reply = Bundle(("A", "B"), Decimal(9)).reply.model_validate({"reasons": "", **values})
    assert reply.missing() == missing
    assert missing or reply.taken() == Withdraw()


# ---------------------------------------------------------------- what is heard

PRICE = AcceptOrWait(Decimal(950))
SALE = Bundle(("18 Tanner Row", "Salt and Pepper", "Lot 1", "Lot 10", "C"), Decimal(950))


SAID = [
    (PRICE, Accept(),
     ["I accept.", "accept", "ACCEPT!", "Yes, I accept.", "I'll accept the price of $950.", "I accept it at $950.00",
      "I accept 950 dollars", "I'd like to accept.", "I will take it.", "I\u2019ll take it at $950", "**I accept**",
      "I accept Vase at $950.", "That suits me. I accept.", "Ben has $300 left.\nI accept."]),
    (PRICE, Wait(),
     ["I wait.", "wait", "No, I wait.", "I'll wait.", "Not yet.", "I am waiting", "That is too high. I wait."]),
    (Quantity(0, 9), Take(3), ["3", "I take 3", "I take 3 units.", "Yes, 3 units please", "My order is 3"]),
    (Choice(("red", "blue")), Choose("red"),
     ["red", "Red.", "I choose red", 'I choose "red".', "My choice is: red", "I'll take RED!"]),
]  # fmt: skip
DOUBTFUL = [
    (PRICE,
     ["I accept, or not", "I do not wait", "I can't accept that.", "I cannot accept.", "I accept or wait",
      "I accept and I wait", "I accept. I wait.", "I wait. I accept.", "I accept. No, wait.", "I accept. Or not.",
      "I accept. I accept.", "I accept if Ben waits", "I accept the risk of losing", "I accept?", "I would accept",
      "I never accept", "I refuse to wait", "Ben accepts", "I accept $900", "I accept at $1,950",
      "I accept $950 or $900", "I bid $950", "950", "I withdraw", "yes", "no", "", "I waited", "I accept it for Ben",
      "accept/wait", '{"action": "accept"}']),
    (SALE,
     ["I bid $900", "900", "I bid for C", "C", "I bid $900 for Lot 2", "I bid $900 for C and Lot 2",
      "I bid $900 for C and the Moon", "I bid $900 for C and C", 'I bid $900 for "C" and "C".',
      "I bid $900 for C and $800 for Lot 1", "I bid $900 or $800 for C", "I bid $900 for C or Lot 1",
      "I bid $900 for C, not Lot 1", "I bid $900 for everything but C", "I don't bid $900 for C",
      "I bid about $900 for C", "I bid $900 for C if Ben withdraws", "Would $900 for C do?", "Ben bids $900 for C",
      "I bid $900-950 for C", "I bid 1e3 for C", "18 Tanner Row", "I bid 18 Tanner Row", "Salt", "I bid $900 for all",
      "I bid $900 for C and", "I bid $900 for C, ", "I withdraw from C", "I do not withdraw",
      'I bid $900 for "C" and "', 'I bid $9.0.0 for "C".']),
    (Quantity(0, 9), ["-3", "3.5", "$3", "3 or 4", "I take no 3", "about 3", "not 3", "1,2", "3k", "9" * 30]),
    (Choice(("red", "blue")),
     ["green", "red or blue", "red blue", "not red", "I choose", "I don't choose red", "red?"]),
]  # fmt: skip


def test_a_plain_answer_is_heard_and_what_may_mean_another_one_is_not():
    for space, action, answers in SAID:
        for said in answers:
            assert space.read(said, "Vase") == action, said
    for space, answers in DOUBTFUL:
        for said in answers:
            assert unreadable(space, said), said


# ---------------------------------------------------------------- bundles


def bundle(amount, *names):
    return BundleBid(names, Decimal(amount))


@pytest.mark.parametrize(("said", "heard"), [
    ('I bid $900 for "C".', bundle(900, "C")), ('900 for "Lot 1" and "C"', bundle(900, "Lot 1", "C")),
    ("I bid $900 for C", bundle(900, "C")), ("I bid $900 for Lot 10 and C.", bundle(900, "Lot 10", "C")),
    ("I bid $900 on lot 1, c and 18 Tanner Row", bundle(900, "Lot 1", "C", "18 Tanner Row")),
    ("For Salt and Pepper and C I bid $47.50", bundle("47.50", "Salt and Pepper", "C")),
    ("Salt and Pepper: $1,250", bundle(1250, "Salt and Pepper")),
    ("I'll pay 1.2k for both Lot 1 & Lot 10!", bundle(1200, "Lot 1", "Lot 10")),
    ("$-5 for C", bundle(-5, "C")), ("I withdraw.", Withdraw()), ("I'm out", Withdraw()),
])  # fmt: skip
def test_a_plain_bid_for_items_is_heard_in_any_order_whatever_numbers_and_words_are_in_their_names(said, heard):
    assert SALE.read(said) == heard


def test_names_that_overlap_must_be_in_quotes_and_then_are_told_apart():
    space = Bundle(("A", "B", "A and B"), Decimal(950))
    assert unreadable(space, "I bid $5 for A and B")
    assert space.read('I bid $5 for "A and B".') == bundle(5, "A and B")
    assert space.read('I bid $5 for "A" and "B".') == bundle(5, "A", "B")
    assert unreadable(Choice(("a", "A")), "I choose a")
    assert Choice(("a", "A")).read('I choose "a".') == Choose("a")


@pytest.mark.parametrize(("bid", "why"), [
    (bundle(5, "Moon"), "'Moon' is not for sale; for sale are"), (bundle(5), "at least one item"),
    (bundle("950.01", "C"), "$950.01 is above the greatest bid of $950"), (bundle("0.005", "C"), "in whole cents"),
    (bundle(-1, "C"), "zero dollars or more"), (bundle("NaN", "C"), "zero dollars or more"),
])  # fmt: skip
def test_a_bid_for_items_that_is_not_legal_is_refused_with_the_reason(bid, why):
    assert why in SALE.refusal(bid)
    assert "'Moon' is not for sale" in SALE.refusal(SALE.read('I bid $5 for "Moon".'))


# ---------------------------------------------------------------- the others


def test_words_are_passed_on_as_they_are_and_refused_if_they_are_empty_or_too_long():
    space = Words(20)
    assert space.read("It\u2019s $5, or not?") == Say("It\u2019s $5, or not?")
    assert space.refusal(Say(" \n")) == "nothing was said"
    assert space.refusal(Say("a" * 21)) == "21 characters are more than 20"
    assert space.refusal(Say("\x07")) == "not plain text"


def test_an_amount_in_steps_is_the_minimum_and_whole_steps():
    space = Amount(Decimal(100), Decimal(118), Decimal(5))
    assert [space.refusal(Bid(Decimal(amount))) for amount in (100, 105, 115)] == ["", "", ""]
    assert space.refusal(Bid(Decimal(103))) == "a bid must be $100 and a whole number of steps of $5"
    assert space.edges() == (Bid(Decimal(100)), Bid(Decimal(115)))
    assert f"in steps of {dollars(Decimal(5))}" in call(ask(space))
    assert space.facts()["step"] == 5
