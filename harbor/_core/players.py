"""The bidder protocol, and bidders that follow a script instead of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harbor._core.asks import Answer, Ask, Bid, Pause, Withdraw
from harbor._core.events import BidderSeated, BidPlaced, Event, ItemOpened, PriceLowered

_NEW_CALL = (ItemOpened, PriceLowered)


class Player(Protocol):
    """Whoever plays a bidder: a graph, a script, a person."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer the auctioneer, in words too, knowing only what this bidder has seen; a pause wants no answer."""
        ...


@dataclass(frozen=True)
class MinimumRaise:
    """Raises by the minimum until it has made `max_bids` bids on an item.

    Source: Chen et al. 2023, sec. 4.3 (the rule bidder; K = 4 or 5).
    """

    max_bids: int

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer by the rule."""
        return self.decide(ask, seen) if isinstance(ask, Ask) else None

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Bid | Withdraw:
        """Bid the minimum, or withdraw after `max_bids` bids on this item."""
        made = 0
        for event in reversed(seen):
            if isinstance(event, BidPlaced):
                made += event.bidder == ask.bidder
            elif isinstance(event, _NEW_CALL):
                break
        return Bid(ask.minimum) if made < self.max_bids else Withdraw()


@dataclass(frozen=True)
class Truthful:
    """Raises by the minimum up to its own estimate of the item."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | None:
        """Answer by the rule."""
        return self.decide(ask, seen) if isinstance(ask, Ask) else None

    def decide(self, ask: Ask, seen: Sequence[Event]) -> Bid | Withdraw:
        """Bid the minimum while it is not above the estimate."""
        estimates = next(event.estimates for event in seen if isinstance(event, BidderSeated))
        return Bid(ask.minimum) if ask.minimum <= estimates[ask.item] else Withdraw()
