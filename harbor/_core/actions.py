"""What bidders do when they are asked, and how each action is said. Amounts are dollars (`Decimal`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from harbor._core.money import Money, dollars

WithdrawalReason = Literal["declined", "cannot afford", "failed bids", "fault"]
UNREADABLE = "(unreadable) "


@dataclass(frozen=True, slots=True)
class Bid:
    """The action of bidding an amount, or a number where the ask is for one; it may not be legal."""

    amount: Money

    @property
    def words(self) -> str:
        """How it is said where money is bid."""
        return f"I bid {dollars(self.amount)}."


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The action of leaving the bidding for this item; `offered` is the last failed bid, if it could be read.

    In every game it is also what an answer that failed counts as; the reason says so.
    """

    reason: WithdrawalReason = "declined"
    offered: Money | None = None

    @property
    def words(self) -> str:
        """How it is said."""
        return "I withdraw."


@dataclass(frozen=True, slots=True)
class Accept:
    """The action of accepting the price of the ask."""

    @property
    def words(self) -> str:
        """How it is said."""
        return "I accept."


@dataclass(frozen=True, slots=True)
class Wait:
    """The action of waiting, which gives nothing up."""

    @property
    def words(self) -> str:
        """How it is said."""
        return "I wait."


@dataclass(frozen=True, slots=True)
class Choose:
    """The action of choosing one of the options."""

    option: str

    @property
    def words(self) -> str:
        """How it is said; in quotes, as an option may be any text."""
        return f"I choose {json.dumps(self.option, ensure_ascii=False)}."


@dataclass(frozen=True, slots=True)
class BundleBid:
    """The action of bidding one amount for several items together; `items` are put in the order of their names."""

    items: tuple[str, ...]
    amount: Money

    def __post_init__(self) -> None:
        """Put the items in order, so that equal bids are equal values."""
        object.__setattr__(self, "items", tuple(sorted(self.items)))

    @property
    def words(self) -> str:
        """How it is said; the names are in quotes, as a name may contain a number, a comma or " and "."""
        names = [json.dumps(item, ensure_ascii=False) for item in self.items]
        return f"I bid {dollars(self.amount)} for {' and '.join(names)}."


@dataclass(frozen=True, slots=True)
class Take:
    """The action of taking a number of units."""

    units: int

    @property
    def words(self) -> str:
        """How it is said."""
        return f"I take {self.units:,} {'unit' if self.units == 1 else 'units'}."


@dataclass(frozen=True, slots=True)
class Say:
    """The action of saying something, in free words."""

    words: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that names no action, and why."""

    reason: str

    @property
    def words(self) -> str:
        """How it is said, so that it stays unreadable for the same reason."""
        return f"{UNREADABLE}{self.reason}"


Action = Bid | Withdraw | Accept | Wait | Choose | BundleBid | Take | Say
Answer = Action | Unreadable
