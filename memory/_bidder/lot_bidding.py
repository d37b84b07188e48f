"""The bidding for one item, as a bidder has observed it, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from harbor._core.events import Lot
from harbor._core.thoughts import LimitSet


class Withdrawal(NamedTuple):
    """Why a bidder left the bidding for an item, and the least bid in dollars that it was asked for."""

    minimum: Decimal
    reason: str


@dataclass(frozen=True, slots=True)
class LotBidding:
    """The bidding for an item: bids as (round, bidder, dollars), the leader and its price, and who withdrew.

    `reasons` are the bidder's own for its last decision on the item, and `limit` what it set at this starting price.
    """

    lot: Lot
    start: Decimal
    increment: Decimal
    bids: tuple[tuple[int, str, Decimal], ...] = ()
    leader: str | None = None
    price: Decimal | None = None
    withdrawn: Mapping[str, Withdrawal] = field(default_factory=dict)
    reasons: str = ""
    limit: LimitSet | None = None

    @property
    def minimum(self) -> Decimal:
        """The least legal bid in dollars."""
        return self.start if self.price is None else self.price + self.increment


@dataclass(frozen=True, slots=True)
class Result:
    """How an item went; `winner` and `price` are None if unsold, `true_value` if not revealed."""

    item: str
    winner: str | None
    price: Decimal | None
    true_value: Decimal | None = None
    bidding: LotBidding | None = None

    def bids_of(self, bidder: str) -> list[tuple[int, Decimal]]:
        """List the bids of one bidder as (round, dollars)."""
        bids = self.bidding.bids if self.bidding else ()
        return [(turn, amount) for turn, name, amount in bids if name == bidder]

    def highest_bid(self, bidder: str) -> Decimal | None:
        """Give the highest bid of one bidder in dollars; None if it did not bid."""
        return max((amount for _, amount in self.bids_of(bidder)), default=None)
