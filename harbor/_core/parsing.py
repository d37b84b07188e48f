"""Bids in words: how an answer is written, and the strict parser that reads it.

An ambiguous bid is not a bid: two amounts, a range, a hedge or a "not" is refused, and the bidder is asked again.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from harbor._core.asks import Answer, Bid, Unit, Unreadable, Withdraw
from harbor._core.money import dollars

_AMOUNT = re.compile(
    r"(?P<sign>[-\u2212]\s*)?(?:\$\s?)?(?P<minus>[-\u2212])?(?P<digits>\d[\d,.]*)(?P<scale>\s?(?:k|m|thousand|million)\b)?",
    re.IGNORECASE | re.ASCII,
)
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
_SCALE = {"": 1, "k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
_WILL = r"(?:'ll| will| shall| must| can| have to| want to| would like to|'d like to|'m going to| am going to)?"
_FIRST = rf"(?:(?:i|we){_WILL}|let me)"
_LEAD = re.compile(
    rf"(?:^|[\s,.;:!])(?:{_FIRST}\s+(?:hereby\s+)?(?:bid|offer|raise|go|pay|say)|(?:i'm|i am) (?:bidding|offering)"
    r"|my (?:bid|offer)(?: is| stands|:)?|make (?:it|that))"
    r"(?:\s+(?:it|in|on|with|at|to|of|for|this|that|now|a|the|again|item|lot|bid)){0,4}\s*[:=]?\s*$"
    r"|(?:^|[.!?]\s+)(?:bid|offer|raise)(?:ing)?(?:\s+(?:it|is|of|to|at))?\s*[:=]?\s*$",
    re.IGNORECASE,
)
"""What may precede the amount of a bid: "I bid", "my offer is", "Bid:" and the like."""

_CHOICE = re.compile(
    rf"(?:^|[\s,.;:!])(?:{_FIRST}\s+(?:choose|pick|guess|select)|my (?:number|choice|guess|pick|answer)(?: is|:)?)"
    r"(?:\s+(?:the|number)){0,2}\s*[:=]?\s*$",
    re.IGNORECASE,
)
"""What may precede a number that is chosen and is not money: "I choose" and the like."""

_BARE = re.compile(r"\W*(?:(?:ok|okay|yes|sure|fine|well|alright|right)\W+)?", re.IGNORECASE)
_BARE_TAIL = re.compile(r"\W*(?:(?:dollars?|usd|please|for it|it is)\W*)*", re.IGNORECASE)
_OUT = re.compile(
    rf"\b(?:{_FIRST}\s+(?:hereby\s+)?(?:withdraw|pass|quit|fold|decline|drop out|step out|bow out)"
    r"|(?:i'm|i am|we're|we are|count me|i'll be|i will be)\s+(?:out|withdrawing|passing))\b",
    re.IGNORECASE,
)
_OUT_ALONE = re.compile(
    r"\W*(?:(?:ok|okay|no|sorry|well)\W+)?(?:i\s+)?(?:withdraw|pass|out|no bid|withdrawn)\W*", re.IGNORECASE
)
_HEDGE = re.compile(
    r"\b(?:not|never|no|or|if|unless|between|about|around|roughly|approximately|maybe|perhaps|might|could"
    r"|would(?! like to)|up to|at least|at most|more than|less than|over|under|below|above|from|to \$?\d|too|refuse"
    r"|decline|rather|instead|percent|hundred|grand|billion|trillion)\b|n't\b"
    r"|[%?~\u00a2-\u00a5\u20a0-\u20c0]",  # and no other currency
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|if|unless|maybe|perhaps|might|could|would|should|rather|refuse"
    r"|decline to (?:withdraw|pass|quit|fold))\b|n't\b|\?",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SPOKEN = re.compile(r"I (?:bid \$|choose )[\d,]+(?:\.\d+)?\.|I withdraw\.", re.ASCII)
_UNREADABLE = "(unreadable) "
LONGEST = 2_000
LONGEST_REASON = 300
LONGEST_AMOUNT = 20  # "1,000,000,000,000.00"


def scrub(text: str) -> str:
    r"""Replace lone surrogates (half characters), which a model may write in JSON but no file can store.

    >>> scrub("a\ud83db") == "a\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def printable(text: str) -> str:
    """Replace control and invisible characters, line ends included."""
    return "".join("\ufffd" if unicodedata.category(letter)[0] == "C" else letter for letter in text)


def format_answer(answer: Answer, unit: Unit = "dollars") -> str:
    """Write an answer in words, so that `parse_answer` gives it back."""
    match answer:
        case Bid(amount=amount) if unit == "number":
            return f"I choose {amount:f}."
        case Bid(amount=amount):
            return f"I bid {dollars(amount)}."
        case Withdraw():
            return "I withdraw."
        case Unreadable(reason=reason):
            return f"{_UNREADABLE}{reason}"


def parse_answer(said: str, item: str = "", unit: Unit = "dollars") -> Answer:
    """Read one bid or one withdrawal from what a bidder said.

    Args:
        said: a text over 2,000 characters, or with control characters, is not read.
        item: the item's name, which may contain a number itself ("18 Tanner Row").
        unit: what is bid; a number that is not money may also be chosen ("I choose 12.5").
    """
    if said.startswith(_UNREADABLE):
        return Unreadable(said.removeprefix(_UNREADABLE)[:LONGEST_REASON])
    if len(said) > LONGEST or _CONTROL.search(said):
        return Unreadable("too long, or not plain text")
    text = said.replace("\u2019", "'")
    if item and not _SPOKEN.fullmatch(text):
        # A whole name only: the item "1" is not the first digit of $1250.
        text = re.sub(rf"(?<![\w$.,]){re.escape(item)}(?!\w|[.,]\d)", " it ", text, flags=re.IGNORECASE)
    return _parse(text, unit)


def _parse(text: str, unit: Unit) -> Answer:
    amounts = list(_AMOUNT.finditer(text))
    out = _OUT.search(text) or _OUT_ALONE.fullmatch(text)
    if not amounts:
        # A doubtful withdrawal is asked again, as it can't be taken back.
        return Withdraw() if out and not _DOUBT.search(text) else Unreadable("neither a bid nor a withdrawal")
    if len(amounts) > 1:
        return Unreadable("more than one amount")
    before, after = text[: amounts[0].start()], text[amounts[0].end() :]
    # An amount counts if it is all that is said, or if "I bid" or the like leads to it. Any other sentence with one
    # number in it, such as "Ann has $500 left", is no bid.
    bare = _BARE.fullmatch(before) and _BARE_TAIL.fullmatch(after)
    led = _LEAD.search(before) or (unit == "number" and _CHOICE.search(before))
    if out or _HEDGE.search(text) or not (bare or led):
        return Unreadable("not a plain bid of one amount")
    return _amount(amounts[0])


def _amount(found: re.Match[str]) -> Answer:
    digits = found["digits"].rstrip(".,")
    if len(digits) > LONGEST_AMOUNT or not _NUMBER.fullmatch(digits):
        return Unreadable(f"{digits[:30]!r} is not an amount")
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    if before.isalnum() or before in (".", ",") or after.isalnum():
        return Unreadable("a number inside a word is not an amount")
    value = Decimal(digits.replace(",", "")) * _SCALE[(found["scale"] or "").strip().lower()]
    if value == value.to_integral_value():
        value = value.quantize(Decimal(1))
    return Bid(-value if found["sign"] or found["minus"] else value)
