"""Bids in words: how a bid is spoken, and the strict parser that hears one.

A bid that could be meant otherwise is not a bid: two amounts, a range, a hedge or a "not" is asked again.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from harbor.events import Answer, Bid, Unreadable, Withdraw
from harbor.money import dollars

_AMOUNT = re.compile(
    r"(?P<sign>[-\u2212]\s*)?(?:\$\s?)?(?P<minus>[-\u2212])?(?P<digits>\d[\d,.]*)(?P<scale>\s?(?:k|m|thousand|million)\b)?",
    re.IGNORECASE | re.ASCII,
)
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
_SCALE = {"": 1, "k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
_OUT = re.compile(
    r"\b(?:withdraw(?:s|ing|n)?|i (?:pass|quit|fold)|no bid|out)\b|^\s*pass\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:not|never|no|or|if|unless|between|about|around|roughly|approximately|maybe|perhaps|might|could|would"
    r"|up to|at least|at most|more than|less than|over|under|below|above|from|to \$?\d"
    r"|percent|hundred|grand|billion|trillion)\b|n't\b|[%?~\u00a2-\u00a5\u20a0-\u20c0]",  # and no other currency
    re.IGNORECASE,
)
_DOUBT = re.compile(r"\b(?:not|never|if|unless|maybe|perhaps|might|could|would|should)\b|n't\b|\?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SPOKEN = re.compile(r"I bid \$[\d,]+(?:\.\d+)?\.|I withdraw\.", re.ASCII)
LONGEST = 2_000
LONGEST_AMOUNT = 20  # "1,000,000,000,000.00"


def scrub(text: str) -> str:
    r"""Replace half characters (lone surrogates), which a model may write in JSON but no file can hold.

    >>> scrub("a\ud83db") == "a\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def say(answer: Answer) -> str:
    """Speak an answer so that `hear` gives it back."""
    match answer:
        case Bid(amount=amount):
            return f"I bid {dollars(amount)}."
        case Withdraw():
            return "I withdraw."
        case Unreadable():
            return "(no readable answer)"


def hear(said: str, item: str = "") -> Answer:
    """Read one bid or one withdrawal from what a bidder said.

    Args:
        said: more than 2,000 characters, or control characters, are not read.
        item: the item's name, which may hold a number of its own ("18 Tanner Row").
    """
    if len(said) > LONGEST or _CONTROL.search(said):
        return Unreadable("too long, or not plain text")
    text = said.replace("\u2019", "'")
    if item and not _SPOKEN.fullmatch(text):
        # A whole name only: the item "1" is not the first digit of $1250.
        text = re.sub(rf"(?<![\w$.,]){re.escape(item)}(?!\w|[.,]\d)", " it ", text, flags=re.IGNORECASE)
    return _hear(text)


def _hear(text: str) -> Answer:
    amounts = list(_AMOUNT.finditer(text))
    out = _OUT.search(text)
    if not amounts:
        return Withdraw() if out and not _DOUBT.search(text) else Unreadable("neither a bid nor a withdrawal")
    if len(amounts) > 1:
        return Unreadable("more than one amount")
    if out or _HEDGE.search(text):
        return Unreadable("not a plain bid of one amount")
    return _amount(amounts[0])


def _amount(found: re.Match[str]) -> Answer:
    digits = found["digits"].rstrip(".,")
    if len(digits) > LONGEST_AMOUNT or not _NUMBER.fullmatch(digits):
        return Unreadable(f"{digits[:30]!r} is not an amount")
    if found.start() and (found.string[found.start() - 1].isalnum() or found.string[found.start() - 1] in ".,"):
        return Unreadable("a number inside a word is not an amount")
    if found.end() < len(found.string) and found.string[found.end()].isalnum():
        return Unreadable("a number inside a word is not an amount")
    scale = (found["scale"] or "").strip().lower()
    try:
        value = Decimal(digits.replace(",", "")) * _SCALE[scale]
    except InvalidOperation:  # pragma: no cover - the pattern lets only numbers through
        return Unreadable("not an amount")
    if value == value.to_integral_value():
        value = value.quantize(Decimal(1))
    return Bid(-value if found["sign"] or found["minus"] else value)
