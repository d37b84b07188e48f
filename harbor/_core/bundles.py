"""The action space of a combinatorial auction: one amount for several items together."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Literal

from harbor._core.action_space import BidSpace, Facts
from harbor._core.actions import Action, Answer, Bid, BundleBid, Unreadable, Withdraw
from harbor._core.amounts import money_flaw, within
from harbor._core.decisions import Decision, bundle_of
from harbor._core.money import CENT, Money
from harbor._core.parsing import AMOUNT, amount_of, named, printable, read_amount, straight

_QUOTED = r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_SPOKEN = re.compile(
    rf"(?:I bid )?(?P<amount>\$?[\d,.]+) for (?P<items>{_QUOTED}(?:(?:, (?:and )?| and ){_QUOTED})*)\.?"
)
"""A bid with each name in quotes, as a bid is said: it can be read whatever the names are."""
_WORD = re.compile(r"[^\W_]+(?:'\w+)?|[^\w\s]|_")
_FILLING = {
    "i", "i'll", "we", "we'll", "will", "hereby", "bid", "offer", "pay", "my", "is", "of", "for", "on", "the", "item",
    "items", "lot", "lots", "bundle", "package", "both", "together", "and", "with", "it", "dollars", "usd", "please",
    "ok", "okay", "yes", ".", ",", ";", ":", "!", "&", "+", "*", '"', "'",
}  # fmt: skip
"""The words that a bid may have beside its amount and its items; any other could change what is meant."""
TWICE = "an item is named twice"
_OPEN = re.compile(r"(?:\band|[&+,])[\s.!*\"]*$", re.IGNORECASE)
"""The end of a list that was cut off."""


@dataclass(frozen=True, slots=True)
class Bundle(BidSpace):
    """Bid one amount, from `minimum` to `maximum` dollars, for at least one of the `items` on sale; or withdraw."""

    items: tuple[str, ...]
    maximum: Money
    minimum: Money = Decimal(0)
    kind: Literal["bundle"] = field(default="bundle", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """What is on sale, the range, and how to bid."""
        return (
            f"one bid for one or more of {self._listed}, {within(self.minimum, self.maximum)}."
            " Say 'I bid $<amount> for \"<item>\" and \"<item>\"' or 'I withdraw'."
        )

    @property
    def hint(self) -> str:
        """The form and the range; an example would suggest an amount."""
        least, most = f"{self.minimum:f}", f"{self.maximum:f}"
        return f"AMOUNT for {_quoted(self.items[0])}: from {least} to {most}, for one or more items, or: withdraw"

    def facts(self) -> Facts:
        """What is on sale, and the range."""
        return {"on_sale": list(self.items), "minimum": self.minimum, "maximum": self.maximum}

    @property
    def reply(self) -> type[Decision]:
        """An amount and items, or a withdrawal."""
        return bundle_of(self.items)

    def refusal(self, action: Action) -> str:
        """Say why a bid is not legal."""
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
        """Draw items and an amount."""
        items = rng.sample(self.items, rng.randint(1, len(self.items)))
        cents = rng.randint(0, int((self.maximum - self.minimum) / CENT))
        return BundleBid(tuple(items), self.minimum + cents * CENT)

    def edges(self) -> tuple[Action, ...]:
        """The least bid for one item, and the greatest for all."""
        return BundleBid(self.items[:1], self.minimum), BundleBid(self.items, self.maximum)

    def beyond(self) -> tuple[Action, ...]:
        """A bid for nothing, for an item twice, for what is not on sale, and amounts that are too low or too high."""
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
    """Read a bid whose names are not in quotes; all of it must be an amount, names, and words that add nothing."""
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
        return Unreadable(f"{strange[0][:30]!r} is no part of a plain bid for what is on sale")
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
