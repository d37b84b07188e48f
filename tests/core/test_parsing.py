"""Bids in words: what is said is heard, and what could be meant otherwise is neither a bid nor a withdrawal."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.asking.amounts import Amount, Number
from harbor._core.asking.asks import Bid, Unreadable, Withdraw

QUICK = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
amounts = st.decimals(0, 10**12, places=2)


SPACES = {"dollars": Amount(Decimal(0), Decimal(100)), "number": Number(Decimal(0), Decimal(100))}
"""What is heard does not depend on the bounds."""


def parse_answer(said, item="", unit="dollars"):
    return SPACES[unit].read(said, item)


def bid(amount):
    return Bid(Decimal(amount))


def unreadable(said, item=""):
    return isinstance(parse_answer(said, item), Unreadable)


# ---------------------------------------------------------------- laws


@QUICK
@given(amounts, amounts)
def test_two_amounts_are_not_a_bid(one, other):
    assert unreadable(f"I bid ${one:,} and ${other:,}")
    assert unreadable(f"I bid {one} {other}")


def test_a_long_answer_is_never_cut_inside_its_amount():
    for before in range(1975, 2005):
        heard = parse_answer(" " * before + "I bid $123456789")
        assert heard == bid(123456789) or isinstance(heard, Unreadable)


@QUICK
@given(amounts, st.integers(1, 9999))
def test_an_item_whose_name_holds_a_number_can_be_named_in_a_bid(amount, number):
    item = f"{number} Tanner Row"
    assert parse_answer(f"I bid ${amount} on {item}.", item) == Bid(amount)
    assert parse_answer(f"For {item.upper()} I bid ${amount}", item) == Bid(amount)


@QUICK
@given(st.integers(100, 10**6), st.integers(1, 99))
def test_an_item_named_by_a_number_takes_no_digit_out_of_a_bid(amount, number):
    heard = parse_answer(f"I bid ${amount} on {number}", str(number))
    assert heard == bid(amount) or isinstance(heard, Unreadable)


# ---------------------------------------------------------------- plain bids


PLAIN = {
    "1250": ["$1,250", "1250", "1,250", "$1.25k", "$1.25K", "I bid $1,250!", "I bid $1,250.", "I bid 1250",
             "I bid 1,250 dollars.", "My bid: $ 1250", "**$1,250**", "**I bid $1,250.**", "I bid **$1,250**.",
             "**Bid:** $1,250", "I'll bid on it at $1,250", "I am bidding $1,250 for this one",
             "It suits me well. My bid is $1,250.", "Bid: 1250"],
    "170000": ["$170,000", "$170 thousand", "170k", "I bid 170k."], "47.50": ["Bid $47.50"], "47.5": ["$47.5, please"],
    "1200000": ["$1.2m", "I bid $1.2 million"], "12.345": ["$12.345"], "1000000000000": ["$1,000,000,000,000"],
    "-500": ["-500", "-$500", "$-500", "I bid -$500", "I bid \u2212500"],
}  # fmt: skip


@pytest.mark.parametrize("amount", PLAIN)
def test_one_plain_amount_is_a_bid_even_one_below_zero_so_that_it_can_be_refused(amount):
    for said in PLAIN[amount]:
        assert parse_answer(said) == bid(amount), said


# ---------------------------------------------------------------- withdrawals


WITHDRAWALS = [
    "I'm out", "I\u2019m out.", "i am out!", "No, I'm out.", "I withdraw", "I withdraw.", "I decline.", "I pass",
    "Pass", "Count me out", "I fold.", "I quit", "I drop out", "No bid.", "WITHDRAW",
]  # fmt: skip


def test_a_plain_withdrawal_is_heard():
    for said in WITHDRAWALS:
        assert parse_answer(said) == Withdraw(), said
    assert parse_answer("I withdraw from 18 Tanner Row.", "18 Tanner Row") == Withdraw()


# ---------------------------------------------------------------- what could be meant otherwise

OTHER_DIGITS = [
    "\u0661\u0662\u0665\u0660", "\uff11\uff12\uff15\uff10", "12\u0665\u0660", "12\uff15", "\u066512", "1\u00bd",
    "5\u00b2", "\u216b",
]  # fmt: skip
OTHER_NOTATION = [
    "1e5", "1E5", "0x10", "12abc", "lot12", "1_000", "$1.25kk", "$3 hundred", "$5 grand", "$2 billion", "NaN", "$inf",
]  # fmt: skip
UNREADABLE = {
    "a negated or hedged withdrawal": ["I do not withdraw", "I will not withdraw.", "I won't withdraw",
                                       "I never withdraw!", "I'm not out", "I am not out yet", "I don't pass",
                                       "Should I withdraw?", "Maybe I withdraw", "I withdraw unless nobody bids"],
    "a range": ["$100-200", "$100 - $200", "$100\u2013$200", "$100 to $200", "between $100 and $200",
                "from $100 to 200", "100/200", "100..200"],
    "two amounts in words": ["$100 or $200", "$100 $200", "$100, 200", "100\n200", "First $100, then $200."],
    "a hedge": ["about $100", "around 100", "roughly $100", "maybe $100", "perhaps $100", "up to $100", "at most $100",
                "at least $100", "more than $100", "under $100", "over $100", "I might bid $100", "I could bid $100",
                "I would bid $100", "$100 if nobody else does", "$100?", "~$100"],
    "a negated bid": ["I do not bid $100", "I don't bid $100", "I never bid $100", "not $100", "no, not $100",
                      "I can\u2019t bid $100"],
    "a bid and a withdrawal at once": ["I'm out at $100", "$100, no, I withdraw", "I pass on $100"],
    "a percentage": ["10%", "10 percent", "I bid 10% more", "$100 % 7"],
    "a malformed grouping": ["$1,25", "$1,2500", "$1250,00", "$,250", "$12,34,567", "$1.250.000", "$1.250,00",
                             "$1,250,00", "$.50", "$1,,250"],
    "words without an amount": ["", " ", "\n", "hello", "$", "I bid", "I bid ten dollars", "...", "k", "\x00\x1b[31m"],
    "marks between digits, which are no bold print": ["I bid 2**10.", "I bid $12**50**.", "I bid $1**000."],
    "a huge answer": ["9" * 100_000, "I bid $" + "9" * 100_000, "I bid $1" + ",000" * 50_000, "9" * 40,
                      "0." + "1" * 40, "9" * 23 + "m", "bla " * 100_000],
    "an answer too long to be read to its end": ["I bid $100." + " bla" * 1000 + " I mean $200.",
                                                 "I bid $100." + " " * 5000 + "Not!"],
    "talk about an amount": ["$1,250 is too much", "1250 is too rich for me", "I decline to bid $1,250",
                             "I refuse to bid $1,250", "Ann bids $1,250", "The least bid is $1,250", "You said $1,250",
                             "<b>$1,250</b>", "Ann has $1,250 left"],
    "talk about leaving": ["It turns out I want it!", "Let me figure out my next move.", "I refuse to withdraw.",
                           "Rather than withdraw, I stay in.", "Ben withdraws; I stay.",
                           "There is no bid too high for me", "Ann withdraws"],
    "no one amount": ["all", "I bid everything", "I bid $1 and $2"],
    "a choice where money is bid": ["I choose lot 5", "I pick 500"],
    "digits that are not ASCII": [*OTHER_DIGITS, *(f"I bid ${said}" for said in OTHER_DIGITS)],
    "a number in another notation": [*OTHER_NOTATION, *(f"I bid {said}" for said in OTHER_NOTATION)],
}  # fmt: skip


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_could_be_meant_otherwise_is_neither_a_bid_nor_a_withdrawal(what):
    for said in UNREADABLE[what]:
        assert unreadable(said), said[:100]


# ---------------------------------------------------------------- items' names


@pytest.mark.parametrize("item", [
    "Out Post", "No Return", "About Turn 7", "House of 1,000 Doors", "50% Share", "I withdraw", "King\u2019s Yard 18",
    "18 **Stars**", "(a+)+.* 7",
])  # fmt: skip
def test_an_items_name_is_taken_literally_and_neither_hedges_nor_withdraws(item):
    assert parse_answer(f"I bid $1,250 on {item}", item) == bid(1250)
    assert parse_answer(f"I bid $1,250 for {item}.", item) == bid(1250)


def test_an_items_name_alone_neither_bids_nor_withdraws_and_another_items_number_makes_two_amounts():
    for item in ("18 Tanner Row", "Villa 250000", "Lot 5000"):
        assert all(unreadable(said, item) for said in (f"I like {item}", item, f"I bid on {item}"))
    assert unreadable("I love Out Post", "Out Post")
    assert unreadable("I bid $100 on Lot 10", "Lot 1")


# ---------------------------------------------------------------- numbers that are no money

numbers = st.decimals(0, 10**6, places=6)


def test_a_number_may_be_chosen_in_more_words_than_one_and_a_doubtful_one_is_not_heard():
    for said in ("I choose 12.5.", "My number is 12.5", "I'll choose the number 12.5!", "12.5", "I bid 12.5"):
        assert parse_answer(said, "run 1", "number") == bid("12.5"), said
    for said in ("I choose 12 or 13", "I choose about 12", "I'd never choose 12", "I choose 1e3", "-"):
        assert isinstance(parse_answer(said, "run 1", "number"), Unreadable), said
