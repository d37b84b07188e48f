"""The bidding for an item of an ascending auction, as a bidder has observed it: a fold over events about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from harbor._core.acts import Acted, Tried
from harbor._core.asks import Bid, Withdraw
from harbor._core.events import BidderWithdrew, Event
from harbor._core.thoughts import Decided, LimitSet, Strategized
from harbor._games.english.events import ItemOpened, PriceLowered, RoundClosed
from harbor._games.part import Part


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

    `reasons` are the bidder's own for its last decision on the item, `strategy` the action that it chose last, `limit`
    what it set at this starting price, and `spoken` all its decisions on the item. `refused` is why its last attempt
    failed, until it decides again.
    """

    start: Decimal
    increment: Decimal
    bids: tuple[tuple[int, str, Decimal], ...] = ()
    leader: str | None = None
    price: Decimal | None = None
    withdrawn: Mapping[str, Withdrawal] = field(default_factory=dict)
    reasons: str = ""
    strategy: Strategized | None = None
    limit: LimitSet | None = None
    spoken: tuple[Spoken, ...] = ()
    refused: str = ""

    @property
    def minimum(self) -> Decimal:
        """The least legal bid in dollars."""
        return self.start if self.price is None else self.price + self.increment


def bidding_on(part: Part | None) -> LotBidding | None:
    """Return the bidding for an item, or how it stood when it ended; None if it was not opened."""
    return bidding_of(part.events) if part is not None else None


def bidding_of(events: Iterable[Event]) -> LotBidding | None:
    """Fold the events about one item."""
    told: Fields = {}
    for event in events:
        if isinstance(event, ItemOpened | PriceLowered):
            told = {"start": event.start, "increment": event.increment, "spoken": told.get("spoken", ())}
        elif told and (change := CHANGES.get(type(event))):
            told |= change(told, event)
    return LotBidding(**told) if told else None


Fields = dict[str, Any]
"""Fields of a bidding, as far as they are told: making one at each event would cost more than all that is folded."""


def _acted(told: Fields, event: Acted) -> Fields:
    if isinstance(event.act, Withdraw):
        return _out(told, event.bidder, event.act.reason)
    if not isinstance(event.act, Bid):
        return {}
    return {"bids": (*told.get("bids", ()), (event.round, event.bidder, event.act.amount))}


def _out(told: Fields, bidder: str, reason: str) -> Fields:
    return {"withdrawn": {**told.get("withdrawn", {}), bidder: Withdrawal(LotBidding(**told).minimum, reason)}}


def _decided(told: Fields, event: Decided) -> Fields:
    bidding = LotBidding(**told | {"spoken": ()})
    spoken = Spoken(bidding, bidding.strategy, event, bidding.refused)
    return {"reasons": event.reasons, "spoken": (*told["spoken"], spoken), "refused": ""}


CHANGES: Mapping[type[Event], Callable[[Fields, Any], Fields]] = {
    Acted: _acted,
    BidderWithdrew: lambda told, event: _out(told, event.bidder, event.reason),
    RoundClosed: lambda _, event: {"leader": event.leader, "price": event.price},
    Strategized: lambda _, event: {"strategy": event},
    Decided: _decided,
    Tried: lambda _, event: {"refused": event.reason},
    LimitSet: lambda _, event: {"reasons": event.reasons, "limit": event},
}
"""The fields that an event changes, by its type."""
