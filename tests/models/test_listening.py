"""How the built-in model reads an auctioneer's English."""

from __future__ import annotations

from random import Random

import pytest

from harbor import Simulated
from harbor._models.simulated.amounts_said import figures_in
from harbor._models.simulated.listening import listen


def read(words, items=("Vase", "Old Clock"), now=None):
    facts = {"you": "Ann", "words": words, "known_items": list(items), "item_now": now}
    return listen(facts, Simulated(), Random(0))


@pytest.mark.parametrize(
    ("words", "amounts"),
    [
        ("$1,250.50 and 47 dollars", [1250.5, 47]),
        ("120k, 2.5k, 1.2m and 3 million", [120_000, 2_500, 1_200_000, 3_000_000]),
        ("two hundred and ten thousand dollars", [210_000]),
        ("ninety-five dollars", [95]),
        ("one million two hundred thousand", [1_200_000]),
        ("round 4, lot 12, at 2 pm, in ten minutes, one of you, for the second time", []),
        ("USD 5000 or 7000", [5_000, 7_000]),
        ("sixty-four of the twenty", []),
    ],
)
def test_amounts_are_read_in_digits_and_in_words(words, amounts):
    assert [figure.amount for figure in figures_in(words)] == amounts


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("Ann, do you bid?", True),
        ("Ben, do you bid?", False),
        ("Do you bid?", True),
        ("Ben has bid. And you, Ann?", True),
        ("Thank you, Ann. Ben, will you go on?", False),
        ("Everybody, please send me a figure.", True),
        ("Ann, please do not bid yet.", False),
        ("The Vase was bought by Ben.", False),
        ("Next to act: Ann", True),
    ],
)
def test_the_one_who_is_called_is_asked(words, asked):
    assert read(words, now="Vase")["asked"] is asked


@pytest.mark.parametrize(
    ("words", "price"),
    [
        ("Vase: at least $500, Ann?", {"least": 500, "exact": None}),
        ("The high bid on the Vase is $500 and the increment is $50. Ann?", {"least": 550, "exact": None}),
        ("The price of the Vase is $500. Ann, in or out?", {"least": None, "exact": 500}),
        ("Ann, what would you bid for the Vase?", {"least": None, "exact": None}),
        ("The Old Clock went to Ben for $900. The Vase starts at $100. Ann?", {"least": 100, "exact": None}),
    ],
)
def test_the_price_is_the_least_bid_or_the_one_to_take_or_leave(words, price):
    told = read(words)
    assert {"least": told["least"], "exact": told["exact"]} == price


@pytest.mark.parametrize(
    ("words", "any_amount"),
    [
        ("Ann, what would you bid for the Vase?", True),
        ("Vase: Ann, what is your best offer?", True),
        ("This is a sealed auction of the Vase. Ann, please answer.", True),
        ("The Vase is up, Ann. Do you bid?", False),
        ("The Vase is up, Ann. Yes or no?", False),
        ("Sealed bids for the Vase are due tomorrow. The Old Clock is up now: Ann, do you bid?", False),
    ],
)
def test_who_may_name_an_amount_of_its_own_is_told_so(words, any_amount):
    assert read(words)["any_amount"] is any_amount


def test_an_item_that_nobody_told_of_is_not_taken_for_the_one_for_sale():
    assert read("Fern Villa: Ann, $500 or more?", now="Vase")["item"] == "Fern Villa"
    assert read("Ann, $500 or more?", now="Vase")["item"] == "Vase"
    assert read("The vasse: Ann, $500 or more?")["item"] == "Vase"


def test_what_happened_is_told():
    told = read("The Old Clock is sold to Ben for $900. Cho bids $300 on the Vase, Dee is out.")["news"]
    assert [(one["kind"], one["item"], one["bidder"], one["amount"]) for one in told] == [
        ("sold", "Old Clock", "Ben", 900),
        ("out", "Vase", "Dee", None),
        ("bid", "Vase", "Cho", 300),
    ]
