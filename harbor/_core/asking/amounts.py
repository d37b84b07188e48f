"""Action spaces with numbers: an amount of dollars, a plain number, whole units, one amount for several items."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Literal

from harbor._core.asking.action_space import ActionSpace, BidSpace, Facts
from harbor._core.asking.decisions import BidReply, Decision, UnitsReply, bundle_of
from harbor._core.basics.actions import (
    AMOUNT,
    BIDDING,
    CHOOSING,
    FIRST,
    NUMBER,
    Action,
    Answer,
    Bid,
    BundleBid,
    Take,
    Unreadable,
    Withdraw,
    amount_of,
    named,
    printable,
    read_amount,
    straight,
    without,
)
from harbor._core.basics.numbers import CENT, Claim, Money, dollars

NUMBER_STEP = Decimal("0.000001")
"""The smallest difference between two numbers that are not money: six places after the point."""


@dataclass(frozen=True, slots=True)
class Amount(BidSpace):
    """Space in which a bidder bids dollars from `minimum` to `maximum`, both included, or withdraws.

    The difference between a bid and `minimum` has to be a multiple of `step`. Bids are in whole cents.
    """

    minimum: Money
    maximum: Money
    step: Money = CENT
    kind: Literal["amount"] = field(default="amount", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the range of bids, the step if it is not one cent, and how to bid."""
        if self.minimum == self.maximum:
            return f"exactly {dollars(self.maximum)}. Say 'I bid $<amount>' or 'I withdraw'."
        steps = "" if self.step == CENT else f" in steps of {dollars(self.step)}"
        return f"{within(self.minimum, self.maximum)}{steps}. Say 'I bid $<amount>' or 'I withdraw'."

    @property
    def hint(self) -> str:
        """The range of bids; there is no example, because it would suggest a bid."""
        if self.minimum == self.maximum:
            return f"{self.maximum:f}, or: withdraw"
        return f"an amount from {self.minimum:f} to {self.maximum:f}, or: withdraw"

    def facts(self) -> Facts:
        """Return the least and the greatest bid, and the step if it is not one cent."""
        known: Facts = {"minimum": self.minimum, "maximum": self.maximum}
        return known if self.step == CENT else {**known, "step": self.step}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that bid or withdraw."""
        return BidReply

    def refusal(self, action: Action) -> str:
        """Return the reason why a bid is refused; empty if it is legal.

        >>> Amount(Decimal(10), Decimal(50)).refusal(Bid(Decimal(5)))
        '$5 is below the least bid of $10'
        """
        if isinstance(action, Bid):
            return money_flaw(action.amount, self.minimum, self.maximum, self.step)
        return "" if isinstance(action, Withdraw) else self.strange(action)

    def draw(self, rng: Random) -> Action:
        """Draw a legal bid."""
        return Bid(self.minimum + rng.randint(0, self._steps) * self.step)

    def edges(self) -> tuple[Action, ...]:
        """Return the least and the greatest bid."""
        return Bid(self.minimum), Bid(self.minimum + self._steps * self.step)

    def beyond(self) -> tuple[Action, ...]:
        """Return three bids that are refused: one step too low, one step too high, and not in whole cents."""
        return Bid(self.minimum - self.step), Bid(self.maximum + self.step), Bid(self.minimum + CENT / 2)

    def _read(self, said: str, item: str) -> Answer:
        return read_amount(said, item, BIDDING)

    @property
    def _steps(self) -> int:
        return int((self.maximum - self.minimum) / self.step)


def within(minimum: Decimal, maximum: Decimal) -> str:
    """Put the bounds of a bid in words that fit a budget, a cost and a price alike."""
    return f"at least {dollars(minimum)} and at most {dollars(maximum)}"


def money_flaw(amount: Decimal, minimum: Decimal, maximum: Decimal, step: Decimal) -> str:
    """Say why an amount in dollars can't be bid; empty if it can."""
    if not amount.is_finite() or amount < 0:
        return "a bid must be a positive amount of dollars" if minimum else "a bid must be zero dollars or more"
    if minimum == maximum != amount:
        return f"{dollars(amount)} is not {dollars(maximum)}, the one amount that can be bid"
    if amount < minimum:
        return f"{dollars(amount)} is below the least bid of {dollars(minimum)}"
    if amount > maximum:
        return f"{dollars(amount)} is above the greatest bid of {dollars(maximum)}"
    if amount % CENT:  # checked after the bounds, because the remainder of a huge amount raises an error
        return "a bid must be in whole cents"
    if step != CENT and (amount - minimum) % step:
        return f"a bid must be {dollars(minimum)} and a whole number of steps of {dollars(step)}"
    return ""


@dataclass(frozen=True, slots=True)
class Number(BidSpace):
    """Space in which a bidder chooses a number that is not money, or withdraws.

    The number is from `minimum` to `maximum`, both included, with at most six places after the point.
    """

    minimum: Claim
    maximum: Claim
    kind: Literal["number"] = field(default="number", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the range of numbers, and how to choose one."""
        return f"a number from {self.minimum:f} to {self.maximum:f}. Say 'I choose <number>' or 'I withdraw'."

    @property
    def hint(self) -> str:
        """The range of numbers; there is no example, because it would suggest a number.

        In a beauty contest, the solution is the least number, and an example could even give it away.
        """
        return f"a number from {self.minimum:f} to {self.maximum:f}, or: withdraw"

    def facts(self) -> Facts:
        """Return the least and the greatest number."""
        return {"minimum": self.minimum, "maximum": self.maximum}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that choose a number or withdraw."""
        return BidReply

    def refusal(self, action: Action) -> str:
        """Return the reason why a number is refused; empty if it is legal.

        >>> Number(Decimal(0), Decimal(100)).refusal(Bid(Decimal(101)))
        '101 is not between 0 and 100'
        """
        if not isinstance(action, Bid):
            return "" if isinstance(action, Withdraw) else self.strange(action)
        number = action.amount
        if not (number.is_finite() and self.minimum <= number <= self.maximum):
            return f"{number:f} is not between {self.minimum:f} and {self.maximum:f}"
        return "a number may have at most six places after the point" if number % NUMBER_STEP else ""

    def draw(self, rng: Random) -> Action:
        """Draw a legal number."""
        return Bid(self.minimum + rng.randint(0, int((self.maximum - self.minimum) / NUMBER_STEP)) * NUMBER_STEP)

    def edges(self) -> tuple[Action, ...]:
        """Return the least and the greatest number."""
        return Bid(self.minimum), Bid(self.maximum)

    def beyond(self) -> tuple[Action, ...]:
        """Return three numbers that are refused: one too small, one too great, and one with more than six places."""
        return Bid(self.minimum - 1), Bid(self.maximum + 1), Bid(self.minimum + NUMBER_STEP / 2)

    def say(self, answer: Answer) -> str:
        """Write an answer in words; a number is written without a dollar sign, because it is not money."""
        return f"I choose {answer.amount:f}." if isinstance(answer, Bid) else answer.words

    def _read(self, said: str, item: str) -> Answer:
        return read_amount(said, item, BIDDING, CHOOSING)


@dataclass(frozen=True, slots=True)
class Quantity(ActionSpace):
    """Space in which a bidder takes whole units from `minimum` to `maximum`, both included."""

    minimum: int
    maximum: int
    kind: Literal["quantity"] = field(default="quantity", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the range of units, and how to take some."""
        return f"a whole number of units from {self.minimum:,} to {self.maximum:,}. Say 'I take <number> units'."

    @property
    def hint(self) -> str:
        """The range from which a person may type a whole number."""
        return f"a whole number from {self.minimum} to {self.maximum}"

    def facts(self) -> Facts:
        """Return the fewest and the most units that a bidder may take."""
        return {"minimum_units": self.minimum, "maximum_units": self.maximum}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that take a number of units."""
        return UnitsReply

    def refusal(self, action: Action) -> str:
        """Return the reason why a number of units is refused; empty if it is legal.

        >>> Quantity(0, 5).refusal(Take(6))
        '6 is not between 0 and 5'
        """
        if not isinstance(action, Take):
            return self.strange(action)
        if self.minimum <= action.units <= self.maximum:
            return ""
        return f"{action.units} is not between {self.minimum} and {self.maximum}"

    def draw(self, rng: Random) -> Action:
        """Draw a legal number of units."""
        return Take(rng.randint(self.minimum, self.maximum))

    def edges(self) -> tuple[Action, ...]:
        """Return the fewest and the most units."""
        return Take(self.minimum), Take(self.maximum)

    def beyond(self) -> tuple[Action, ...]:
        """Return two numbers of units that are refused: one unit too few, and one unit too many."""
        return Take(self.minimum - 1), Take(self.maximum + 1)

    def _read(self, said: str, item: str) -> Answer:
        found = _TAKEN.fullmatch(said) or _UNITS.fullmatch(without(item, straight(said)).strip())
        return Take(int(found["units"].replace(",", ""))) if found else Unreadable("not a plain number of units")


_TAKEN = re.compile(r"I take (?P<units>[\d,]{1,20}) units?\.", re.ASCII)
_UNITS = re.compile(
    rf"(?:(?:ok|okay|yes|sure|well)\W+)?(?:{FIRST}\s+(?:take|buy|want|order|request)\s+|my (?:order|request) is\s+)?"
    rf"(?P<units>(?=[\d,]{{1,20}}(?![\d,.])){NUMBER})(?:\s+(?:units?|of|it|please))*[.!]*",
    re.IGNORECASE | re.ASCII,
)


_QUOTED = r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_SPOKEN = re.compile(
    rf"(?:I bid )?(?P<amount>\$?[\d,.]+) for (?P<items>{_QUOTED}(?:(?:, (?:and )?| and ){_QUOTED})*)\.?"
)
"""A bid with each name in quotes, as `BundleBid.words` writes it. It can be read for any names."""
_WORD = re.compile(r"[^\W_]+(?:'\w+)?|[^\w\s]|_")
_FILLING = {
    "i", "i'll", "we", "we'll", "will", "hereby", "bid", "offer", "pay", "my", "is", "of", "for", "on", "the", "item",
    "items", "lot", "lots", "bundle", "package", "both", "together", "and", "with", "it", "dollars", "usd", "please",
    "ok", "okay", "yes", ".", ",", ";", ":", "!", "&", "+", "*", '"', "'",
}  # fmt: skip
"""Words that a bid may have beside its amount and its items. Any other word could change its meaning."""
TWICE = "an item is named twice"
_OPEN = re.compile(r"(?:\band|[&+,])[\s.!*\"]*$", re.IGNORECASE)
"""The end of a list that was cut off."""


@dataclass(frozen=True, slots=True)
class Bundle(BidSpace):
    """Space in which a bidder makes one bid for one or more of the `items`, or withdraws.

    The bid is from `minimum` to `maximum` dollars, both included. It is one amount for all the items that it names.
    """

    items: tuple[str, ...]
    maximum: Money
    minimum: Money = Decimal(0)
    kind: Literal["bundle"] = field(default="bundle", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the items on sale, the range of bids, and how to bid."""
        return (
            f"one bid for one or more of {self._listed}, {within(self.minimum, self.maximum)}."
            " Say 'I bid $<amount> for \"<item>\" and \"<item>\"' or 'I withdraw'."
        )

    @property
    def hint(self) -> str:
        """The form of a bid, and the range; there is no example of an amount, because it would suggest a bid."""
        least, most = f"{self.minimum:f}", f"{self.maximum:f}"
        return f"AMOUNT for {_quoted(self.items[0])}: from {least} to {most}, for one or more items, or: withdraw"

    def facts(self) -> Facts:
        """Return the items on sale, and the least and the greatest bid."""
        return {"on_sale": list(self.items), "minimum": self.minimum, "maximum": self.maximum}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that bid an amount for items, or withdraw."""
        return bundle_of(self.items)

    def refusal(self, action: Action) -> str:
        """Return the reason why a bid is refused; empty if it is legal.

        >>> Bundle(("Lamp", "Oven"), Decimal(90)).refusal(BundleBid(("Lamp",), Decimal(95)))
        '$95 is above the greatest bid of $90'
        """
        if not isinstance(action, BundleBid):
            return "" if isinstance(action, Withdraw) else self.strange(action)
        if not action.items:
            return "a bid must name at least one item"
        if strange := [item for item in action.items if item not in self.items]:
            return f"{printable(strange[0])!r} is not for sale; for sale are {self._listed}"
        if len(set(action.items)) < len(action.items):
            return TWICE
        return money_flaw(action.amount, self.minimum, self.maximum, CENT)

    def draw(self, rng: Random) -> Action:
        """Draw a legal bid: random items, and a random amount for them."""
        items = rng.sample(self.items, rng.randint(1, len(self.items)))
        cents = rng.randint(0, int((self.maximum - self.minimum) / CENT))
        return BundleBid(tuple(items), self.minimum + cents * CENT)

    def edges(self) -> tuple[Action, ...]:
        """Return two legal bids: the least bid for one item, and the greatest bid for all items."""
        return BundleBid(self.items[:1], self.minimum), BundleBid(self.items, self.maximum)

    def beyond(self) -> tuple[Action, ...]:
        """Return five bids that are refused.

        They name no item, an item twice, an item that is not on sale, too low an amount, and too high an amount.
        """
        return (
            BundleBid((), self.maximum),
            BundleBid((*self.items, self.items[0]), self.maximum),
            BundleBid((*self.items, " and ".join((*self.items, "more"))), self.maximum),
            BundleBid(self.items, self.minimum - CENT),
            BundleBid(self.items, self.maximum + CENT),
        )

    def _read(self, said: str, item: str) -> Answer:
        if spoken := _SPOKEN.fullmatch(said.strip()):
            names = [json.loads(name, strict=False) for name in re.findall(_QUOTED, spoken["items"])]
            return _bid_of(AMOUNT.fullmatch(spoken["amount"]), names)
        return _loosely(straight(said), self.items)

    @property
    def _listed(self) -> str:
        return ", ".join(map(_quoted, self.items))


def _loosely(text: str, items: tuple[str, ...]) -> Answer:
    """Read a bid whose names are not in quotes. It may contain only an amount, names, and `_FILLING` words."""
    found = sorted((hit.span(), name) for name in items for hit in named(straight(name)).finditer(text))
    if not found:
        answer = read_amount(text, "")
        return answer if isinstance(answer, Withdraw) else Unreadable("neither a bid for items nor a withdrawal")
    if any(after[0][0] < before[0][1] for before, after in pairwise(found)):
        return Unreadable("names of items overlap; write each one in double quotes")
    rest = text
    for (start, end), _ in reversed(found):
        rest = f"{rest[:start]} it {rest[end:]}"
    amounts = list(AMOUNT.finditer(rest))
    if len(amounts) != 1:
        return Unreadable("more than one amount" if amounts else "a bid needs an amount")
    around = f"{rest[: amounts[0].start()]} {rest[amounts[0].end() :]}"
    if strange := [word for word in _WORD.findall(around.lower()) if word not in _FILLING]:
        return Unreadable(f"{strange[0][:30]!r} is no part of a plain bid for the item on sale")
    if _OPEN.search(rest):
        return Unreadable("the list of items is not complete")
    return _bid_of(amounts[0], [name for _, name in found])


def _bid_of(amount: re.Match[str] | None, names: list[str]) -> BundleBid | Unreadable:
    bid = amount_of(amount) if amount else Unreadable("not an amount")
    if not isinstance(bid, Bid):
        return bid
    if len(set(names)) < len(names):
        return Unreadable(TWICE)
    return BundleBid(tuple(names), bid.amount)


def _quoted(name: str) -> str:
    return json.dumps(printable(name), ensure_ascii=False)
