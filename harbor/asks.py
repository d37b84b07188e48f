"""What the auctioneer asks, and the answers. Amounts are dollars (`Decimal`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from harbor.money import Money

WithdrawalReason = Literal["declined", "cannot afford", "failed bids", "fault"]


class Ask(NamedTuple):
    """A bidder's turn: bid from `minimum` to `maximum` dollars, both legal, or withdraw.

    `refusal` says why the previous attempt failed; it is empty at the first.
    """

    bidder: str
    item: str
    round: int
    minimum: Money
    maximum: Money
    attempt: int = 1
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """The auctioneer waits, so that bidders may think.

    That is before the first item (`closed` is empty), after a hammer, and when all is `over`.
    """

    bidder: str
    closed: tuple[str, ...] = ()
    over: bool = False


@dataclass(frozen=True, slots=True)
class Bid:
    """The action of bidding an amount in dollars; legal or not is for the auctioneer to say."""

    amount: Money


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The action of leaving the bidding for this item."""

    reason: WithdrawalReason = "declined"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is neither a bid nor a withdrawal, and why."""

    reason: str


Action = Bid | Withdraw
Answer = Bid | Withdraw | Unreadable
