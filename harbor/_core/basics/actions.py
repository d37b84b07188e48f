"""The actions of bidders, and a strict parser that reads amounts and numbers from their words.

Amounts are dollars (`Decimal`). An ambiguous bid is not a bid: two amounts, a range, a hedge or a "not" is refused, and
the bidder is asked again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from harbor._core.basics.numbers import Money, dollars

WithdrawalReason = Literal["declined", "cannot afford", "failed bids", "fault"]
"""The reason of a withdrawal: the bidder chose it ("declined"), it lacks money, it gave too many illegal answers
("failed bids"), or its agent failed or ran out of time ("fault")."""
UNREADABLE = "(unreadable) "
"""Prefix of the words of an unreadable answer; it keeps them unreadable when they are read again."""


@dataclass(frozen=True, slots=True)
class Bid:
    """The action of bidding an amount in dollars, or a number if the auctioneer asks for one.

    A bid need not be legal.

    >>> Bid(Decimal("47.50")).words
    'I bid $47.50.'
    """

    amount: Money

    @property
    def words(self) -> str:
        """The action in words; the amount is written as dollars."""
        return f"I bid {dollars(self.amount)}."


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The action of leaving the bidding for the current item.

    In every game, a bidder also withdraws if all its attempts to answer fail. `reason` is "declined" if the bidder
    chose to withdraw, and names the cause of any other withdrawal. If the last failed attempt was a `Bid`, `offered` is
    its amount, which the event of the action leaves out because it may reveal a budget; otherwise `offered` is None.

    >>> Withdraw().words
    'I withdraw.'
    """

    reason: WithdrawalReason = "declined"
    offered: Money | None = None

    @property
    def words(self) -> str:
        """The action in words."""
        return "I withdraw."


@dataclass(frozen=True, slots=True)
class Accept:
    """The action of accepting the price that the auctioneer calls.

    >>> Accept().words
    'I accept.'
    """

    @property
    def words(self) -> str:
        """The action in words."""
        return "I accept."


@dataclass(frozen=True, slots=True)
class Wait:
    """The action of waiting for another price; a bidder that waits stays in the bidding.

    >>> Wait().words
    'I wait.'
    """

    @property
    def words(self) -> str:
        """The action in words."""
        return "I wait."


@dataclass(frozen=True, slots=True)
class Choose:
    """The action of choosing one of the options that the auctioneer offers.

    >>> Choose("left").words
    'I choose "left".'
    """

    option: str

    @property
    def words(self) -> str:
        """The action in words; the option is in quotes, because it may be any text."""
        return f"I choose {json.dumps(self.option, ensure_ascii=False)}."


@dataclass(frozen=True, slots=True)
class BundleBid:
    """The action of bidding one amount in dollars for several items together.

    `items` are sorted by name, so that equal bids are equal values.

    >>> BundleBid(("B", "A"), Decimal(20)).words
    'I bid $20 for "A" and "B".'
    """

    items: tuple[str, ...]
    amount: Money

    def __post_init__(self) -> None:
        """Put the items in order, so that equal bids are equal values."""
        object.__setattr__(self, "items", tuple(sorted(self.items)))

    @property
    def words(self) -> str:
        """The action in words; names are in quotes, because a name may contain a number, a comma or " and "."""
        names = [json.dumps(item, ensure_ascii=False) for item in self.items]
        return f"I bid {dollars(self.amount)} for {' and '.join(names)}."


@dataclass(frozen=True, slots=True)
class Take:
    """The action of taking a number of units of the item.

    >>> Take(3).words
    'I take 3 units.'
    """

    units: int

    @property
    def words(self) -> str:
        """The action in words."""
        return f"I take {self.units:,} {'unit' if self.units == 1 else 'units'}."


@dataclass(frozen=True, slots=True)
class Say:
    """The action of saying something, in free words.

    >>> Say("Good morning.").words
    'Good morning.'
    """

    words: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that names no action, and the reason."""

    reason: str

    @property
    def words(self) -> str:
        """The answer in words, which stay unreadable for the same reason."""
        return f"{UNREADABLE}{self.reason}"


Action = Bid | Withdraw | Accept | Wait | Choose | BundleBid | Take | Say
Answer = Action | Unreadable


AMOUNT = re.compile(
    r"(?P<sign>[-\u2212]\s*)?(?:\$\s?)?(?P<minus>[-\u2212])?(?P<digits>\d[\d,.]*)(?P<scale>\s?(?:k|m|thousand|million)\b)?",
    re.IGNORECASE | re.ASCII,
)
"""An amount in dollars, also in thousands or millions."""
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""A number with correct separators of thousands."""
_SCALE = {"": 1, "k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
_WILL = (
    r"(?:'ll| will| shall| must| can| have to| want to| would like to|'d like to|'m going to| am going to"
    r"| choose to| decide to| have decided to|'ve decided to|'ll choose to| will choose to)?"
)
FIRST = rf"(?:(?:i|we){_WILL}|let me)"
"""The subject of an answer: "I", "we will", "let me" and the like."""
BIDDING = re.compile(
    rf"(?:^|[\s,.;:!])(?:{FIRST}\s+(?:hereby\s+)?(?:bid|offer|raise|increase|go|pay|say"
    r"|(?:place|submit|make|enter) (?:a|my))"
    r"|(?:i'm|i am) (?:bidding|offering|raising|increasing)"
    r"|my (?:bid|offer)(?: is| stands|:)?|make (?:it|that))"
    r"(?:\s+(?:it|in|on|with|at|to|of|for|this|that|now|a|the|again|item|lot|bid|my|offer)){0,4}\s*[:=]?\s*$"
    r"|(?:^|[.!?]\s+)(?:bid|offer|raise)(?:ing)?(?:\s+(?:it|is|of|to|at))?\s*[:=]?\s*$",
    re.IGNORECASE,
)
"""Words before the amount of a bid: "I bid", "my offer is", "Bid:" and the like."""

CHOOSING = re.compile(
    rf"(?:^|[\s,.;:!])(?:{FIRST}\s+(?:choose|pick|guess|select)|my (?:number|choice|guess|pick|answer)(?: is|:)?)"
    r"(?:\s+(?:the|number)){0,2}\s*[:=]?\s*$",
    re.IGNORECASE,
)
"""Words before a number that is chosen and is not money: "I choose" and the like."""

_BOLD = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)")
"""Marks of bold print; between two digits they may be a power, so that the number is ambiguous."""
_BARE = re.compile(r"\W*(?:(?:ok|okay|yes|sure|fine|well|alright|right)\W+)?(?:usd\s*)?", re.IGNORECASE)
"""Words that may precede an amount which is all that is said."""
_BARE_TAIL = re.compile(r"\W*(?:(?:dollars?|usd|please|for it|it is)\W*)*", re.IGNORECASE)
"""Words that may follow an amount which is all that is said."""
_OUT = re.compile(
    rf"\b(?:{FIRST}\s+(?:hereby\s+)?(?:withdraw|pass|quit|fold|decline|drop out|step out|bow out)"
    r"|(?:i'm|i am|we're|we are|count me|i'll be|i will be)\s+(?:out|withdrawing|passing))\b",
    re.IGNORECASE,
)
"""A withdrawal within a sentence."""
_OUT_ALONE = re.compile(
    r"\W*(?:(?:ok|okay|no|sorry|well)\W+)?(?:i\s+)?(?:withdraw|pass|out|no bid|withdrawn)\W*", re.IGNORECASE
)
"""A withdrawal that is all that is said."""
_HEDGE = re.compile(
    r"\b(?:not|never|no|or|if|unless|between|about|around|roughly|approximately|maybe|perhaps|might|could"
    r"|would(?! like to)|up to|at least|at most|more than|less than|over|under|below|above|from|to \$?\d|too|refuse"
    r"|decline|rather|instead|percent|hundred|grand|billion|trillion)\b|n't\b"
    r"|[%?~\u00a2-\u00a5\u20a0-\u20c0]",  # and no other currency
    re.IGNORECASE,
)
"""Words that make a bid ambiguous."""
_RAISED_TO = re.compile(
    r"\b(?:rais|increas)(?:e|ing)(?:\s+(?:it|my|the|bid|offer)){0,3}\s+to(?=\s*(?:usd\s*)?\$?\s?\d)", re.IGNORECASE
)
"""A raise to an amount, which is no range."""
_FOR_ANOTHER = re.compile(
    r"\b(?:for|as|on behalf of)\s+(?:(?:my|a|the|bidder)\s+)*(?P<name>[A-Za-z][\w'-]*)|\b(?:on behalf)\b",
    re.IGNORECASE,
)
"""The named beneficiary of a bid for another; a word of the item's name does not count."""
_DOUBT = re.compile(
    r"\b(?:not|never|if|unless|maybe|perhaps|might|could|would|should|rather|refuse"
    r"|decline to (?:withdraw|pass|quit|fold))\b|n't\b|\?",
    re.IGNORECASE,
)
"""Words that make a withdrawal ambiguous."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SPOKEN = re.compile(r"I (?:bid \$|choose )[\d,]+(?:\.\d+)?\.|I withdraw\.", re.ASCII)
"""Answers as `words` writes them: they contain no name of an item."""
LONGEST = 2_000
"""The greatest number of characters of an answer that are read."""
LONGEST_REASON = 300
"""The greatest number of characters of the reason of an unreadable answer."""
LONGEST_AMOUNT = 20  # "1,000,000,000,000.00", in characters


def scrub(text: str) -> str:
    r"""Replace lone surrogates (half characters), which a model may write in JSON but no file can store.

    >>> scrub("a\ud83db") == "a\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def printable(text: str) -> str:
    """Replace control and invisible characters, line ends included."""
    if text.isprintable():  # most texts, at once
        return text
    return "".join("\ufffd" if unicodedata.category(letter)[0] == "C" else letter for letter in text)


def unfit(said: str) -> Unreadable | None:
    """Say why words are not read at all: over 2,000 characters, control characters, or marked as unreadable."""
    if said.startswith(UNREADABLE):
        return Unreadable(said.removeprefix(UNREADABLE)[:LONGEST_REASON])
    if len(said) > LONGEST or _CONTROL.search(said):
        return Unreadable("too long, or not plain text")
    return None


def straight(said: str) -> str:
    """Write apostrophes as the patterns expect them, and remove the marks of bold print."""
    return _BOLD.sub("", said.replace("\u2019", "'"))


def without(item: str, said: str) -> str:
    """Replace the item's name with "it" in words from `straight`: the name may contain a number ("18 Tanner Row")."""
    if not item or _SPOKEN.fullmatch(said):
        return said
    return named(straight(item)).sub(" it ", said)


def named(name: str) -> re.Pattern[str]:
    """Compile a pattern for a whole name only: the item "1" is not the first digit of $1250."""
    return re.compile(rf"(?<![\w$.,]){re.escape(name)}(?!\w|[.,]\d)", re.IGNORECASE)


def read_amount(said: str, item: str, *leads: re.Pattern[str]) -> Bid | Withdraw | Unreadable:
    """Read one bid or one withdrawal from words that are fit to be read.

    Args:
        said: the words.
        item: the item's name, which is no part of the bid.
        leads: patterns of the words that may precede the amount.
    """
    text = without(item, straight(said))
    amounts = list(AMOUNT.finditer(text))
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
    if out or _is_hedged(text, item) or not (bare or any(lead.search(before) for lead in leads)):
        return Unreadable("not a plain bid of one amount")
    return amount_of(amounts[0])


def _is_hedged(text: str, item: str) -> bool:
    """Say whether a bid is ambiguous, or is one for another bidder."""
    if _HEDGE.search(_RAISED_TO.sub(" raise ", text)):
        return True
    known = {word.casefold() for word in re.findall(r"[\w'-]+", straight(item))} | {"it", "this", "the", "item", "lot"}
    named = (found["name"] for found in _FOR_ANOTHER.finditer(text))
    return bool(item) and any(name is None or name.casefold() not in known for name in named)


def amount_of(found: re.Match[str]) -> Bid | Unreadable:
    """Return the amount that `AMOUNT` found, if it is written as an amount; else why it is unreadable."""
    digits = found["digits"].rstrip(".,")
    if len(digits) > LONGEST_AMOUNT or not re.fullmatch(NUMBER, digits, re.ASCII):
        return Unreadable(f"{digits[:30]!r} is not an amount")
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    if before.isalnum() or before in (".", ",") or after.isalnum():
        return Unreadable("a number inside a word is not an amount")
    value = Decimal(digits.replace(",", "")) * _SCALE[(found["scale"] or "").strip().lower()]
    if value == value.to_integral_value():
        value = value.quantize(Decimal(1))
    return Bid(-value if found["sign"] or found["minus"] else value)
