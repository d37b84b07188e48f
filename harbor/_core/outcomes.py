"""What came of a game in units and money, as events of every game, and what it was worth to whom.

Amounts are dollars (`Decimal`). The house stands as "" where a bidder would: whoever pays it pays the house.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from harbor._core.events import AnalystEvent, PrivateEvent, PublicEvent, SharedEvent
from harbor._core.money import Claim, Money, dollars

HOUSE = ""
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Allocated(PublicEvent):
    """A bidder gets units of an item."""

    bidder: str
    item: str
    units: Claim = ONE


@dataclass(frozen=True, slots=True)
class AllocatedSealed(SharedEvent):
    """A bidder gets units of an item, and the seats alone learn it."""

    bidder: str
    item: str
    units: Claim = ONE

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Who gets what: no public event says it."""
        what = self.item if self.units == 1 else f"{self.units:,f} units of {self.item}"
        return (f"You get {what}." if hearer == self.bidder else f"{self.bidder} gets {what}.",)


@dataclass(frozen=True, slots=True)
class Paid(PublicEvent):
    """Money moves from one to another on account of an item; `fee`: for a broken rule, and not for the item."""

    payer: str
    payee: str
    item: str
    amount: Money
    fee: bool = False


@dataclass(frozen=True, slots=True)
class PaidSealed(SharedEvent):
    """Money moves from one to another, and the seats alone learn it; fields as in `Paid`."""

    payer: str
    payee: str
    item: str
    amount: Money
    fee: bool = False

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Who pays whom what: no public event says it."""
        amount = dollars(self.amount)
        what = f"a fee of {amount} for a broken rule in {self.item}" if self.fee else f"{amount} for {self.item}"
        if self.payer == HOUSE:
            return (f"You are paid {what}." if hearer == self.payee else f"{self.payee} is paid {what}.",)
        whom = "" if self.payee == HOUSE else " you" if hearer == self.payee else f" {self.payee}"
        return (f"You pay{whom} {what}." if hearer == self.payer else f"{self.payer} pays{whom} {what}.",)


@dataclass(frozen=True, slots=True)
class Worth(AnalystEvent):
    """The truth of what items are worth to a bidder, or to each of them where `bidder` is empty."""

    values: dict[str, Money]
    bidder: str = ""


@dataclass(frozen=True, slots=True)
class Signal(PrivateEvent):
    """What a bidder is told of what items are worth to it: just that, or where it is `noisy`, an estimate."""

    values: dict[str, Money]
    noisy: bool = False

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """What it is told, item by item."""
        if self.noisy:
            guesses = "; ".join(f"{item} {dollars(guess)}" for item, guess in self.values.items())
            return (f"Only you know your estimates: {guesses}.",)
        return tuple(f"Only you know: {item} is worth {dollars(worth)} to you." for item, worth in self.values.items())
