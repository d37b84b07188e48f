"""Amounts of money in English, in digits or in words, as the built-in model reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Figure(NamedTuple):
    """An amount in dollars, and where it stands."""

    amount: float
    start: int
    end: int


_SCALES = {"k": 1e3, "grand": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6}
_DIGITS = re.compile(
    r"(?<![\w.,$])(?P<money>(?:us)?\$\s?|usd\s?)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s?(?P<scale>k|grand|thousand|mn?|million)\b)?(?P<after>\s?(?:dollars|usd|bucks)\b)?(?![\w])",
    re.IGNORECASE,
)
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_BIG = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORD = "|".join([*_SMALL, *_BIG])
_WORDS = re.compile(
    rf"\b(?:{_WORD})\b(?:(?:\s+and\s+|[\s-]+)(?:{_WORD})\b)*(?P<after>\s+(?:dollars|usd|bucks)\b)?", re.IGNORECASE
)
LEAST_BARE = 1_000
"""From how much on a bare number is money: smaller ones count rounds, lots and minutes."""


def figures_in(text: str) -> list[Figure]:
    """List the amounts of a text, in order."""
    return sorted([*_in_digits(text), *_in_words(text)], key=lambda figure: figure.start)


def _in_digits(text: str) -> Iterator[Figure]:
    for found in _DIGITS.finditer(text):
        amount = float(found["digits"].replace(",", "")) * _SCALES.get((found["scale"] or "").lower(), 1)
        if amount and (found["money"] or found["scale"] or found["after"] or amount >= LEAST_BARE):
            yield Figure(round(amount, 2), *found.span())


def _in_words(text: str) -> Iterator[Figure]:
    for found in _WORDS.finditer(text):
        words = re.findall(rf"\b(?:{_WORD})\b", found[0], re.IGNORECASE)
        if len(words) > 1 and (found["after"] or any(word.lower() in _BIG for word in words)):
            yield Figure(_sum_of([word.lower() for word in words]), *found.span())


def _sum_of(words: list[str]) -> float:
    total = group = 0
    for word in words:
        if word in _SMALL:
            group += _SMALL[word]
        elif word == "hundred":
            group = (group or 1) * 100
        else:
            total, group = total + (group or 1) * _BIG[word], 0
    return float(total + group)
