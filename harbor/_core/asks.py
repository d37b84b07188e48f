"""What the auctioneer asks, and what bidders answer (from `actions`). Amounts are dollars (`Decimal`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from harbor._core.actions import Action as Action
from harbor._core.actions import Answer as Answer
from harbor._core.actions import Bid as Bid
from harbor._core.actions import Unreadable as Unreadable
from harbor._core.actions import Withdraw as Withdraw
from harbor._core.actions import WithdrawalReason as WithdrawalReason
from harbor._core.money import Claim
from harbor._core.spaces import Space


class Ask(NamedTuple):
    """A bidder's turn: it answers with one of the actions of `space`.

    `refusal` says why the previous attempt failed; it is empty at the first attempt. `note` is told to this bidder
    alone, before what it can do, so that any agent learns its private value: "it is worth $40 to you". The bounds of
    `space` are told to this bidder alone, too.
    """

    bidder: str
    item: str
    round: int
    space: Space
    attempt: int = 1
    refusal: str = ""
    note: str = ""

    @property
    def minimum(self) -> Claim:
        """The least amount that can be bid, or the price; 0 where the answer names no amount."""
        return self.space.least

    @property
    def maximum(self) -> Claim:
        """The most that can be bid, or the price; 0 where the answer names no amount."""
        return self.space.most


@dataclass(frozen=True, slots=True)
class Pause:
    """The auctioneer waits, so that bidders may think.

    It waits before the first item (`closed` is empty), after each item, and when the auction is `over`.
    """

    bidder: str
    closed: tuple[str, ...] = ()
    over: bool = False
