"""The bidding for one item, as a bidder has observed it, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from harbor._core.events import Lot
from harbor._core.thoughts import Decided, LimitSet, Strategized


class Withdrawal(NamedTuple):
    """Why a bidder left the bidding for an item, and the least bid in dollars that it was asked for."""

    minimum: Decimal
    reason: str


class Spoken(NamedTuple):
    """A decision of the bidder on the item: how the bidding stood, the strategic action before it, and what it said.

    `refused` is why the attempt before it failed, if one did.
    """

    bidding: LotBidding
    strategy: Strategized | None
    decided: Decided
    refused: str = ""


@dataclass(frozen=True, slots=True)
class LotBidding:
    """The bidding for an item: bids as (round, bidder, dollars), the leader and its price, and who withdrew.

    `reasons` are the bidder's own for its last decision on the item, `limit` what it set at this starting price, and
    `spoken` all its decisions on the item. `refused` is why its last attempt failed, until it decides again.
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
    spoken: tuple[Spoken, ...] = ()
    refused: str = ""

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


def revealed(results: Iterable[Result]) -> dict[str, Decimal]:
    """Give the true values in dollars that were revealed with these results, by item."""
    return {result.item: result.true_value for result in results if result.true_value is not None}
