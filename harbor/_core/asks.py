"""What the auctioneer asks, and the answers. Amounts are dollars (`Decimal`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from harbor._core.money import Money

WithdrawalReason = Literal["declined", "cannot afford", "failed bids", "fault"]
Unit = Literal["dollars", "number"]


class Ask(NamedTuple):
    """A bidder's turn: bid from `minimum` to `maximum`, both legal, or withdraw.

    `unit` says what is bid: dollars, or a number that is not money. `refusal` says why the previous attempt failed; it
    is empty at the first attempt. `note` is told to this bidder alone, so that any agent learns its private value.
    """

    bidder: str
    item: str
    round: int
    minimum: Money
    maximum: Money
    attempt: int = 1
    refusal: str = ""
    unit: Unit = "dollars"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """The auctioneer waits, so that bidders may think.

    It waits before the first item (`closed` is empty), after each item, and when the auction is `over`.
    """

    bidder: str
    closed: tuple[str, ...] = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class Bid:
    """The action of bidding an amount, in the unit of the ask; the auctioneer checks whether it is legal."""

    amount: Money


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The action of leaving the bidding for this item; `offered` is the last failed bid, if it could be read."""

    reason: WithdrawalReason = "declined"
    offered: Money | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is neither a bid nor a withdrawal, and why."""

    reason: str


Action = Bid | Withdraw
Answer = Bid | Withdraw | Unreadable
