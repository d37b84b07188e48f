"""The second-price sealed-bid auction: the highest bid wins and pays the second-highest.

Bidding one's private value is a dominant strategy and the equilibrium.
Source: EconArena, sec. 3.1 and A.1 (Vickrey 1961).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from harbor._core.money import Money
from harbor._games.sessions.private_values import Bids, Outcome, PrivateValues, ranked
from harbor._games.sessions.session import SessionOpened


@dataclass(frozen=True, slots=True)
class SecondPriceOpened(SessionOpened):
    """A session of second-price auctions begins."""

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            "Each player seals one bid. The highest bid wins the item, and the winner pays the second-highest bid, or "
            "nothing if nobody else bids. Of equal bids, that of the player named first wins."
        )

    def theory(self, value: Money) -> Money:
        """Give the value, which is dominant, as far as the assets go."""
        return min(value, self.assets)


class SecondPrice(PrivateValues):
    """The rules of a session of second-price auctions; a single bid pays nothing."""

    def opened(self) -> SecondPriceOpened:
        """Give the opening of the session."""
        return SecondPriceOpened(**self.facts())

    def outcome(self, bids: Bids) -> Outcome:
        """Give the winner and the price."""
        order = ranked(bids)
        if not order:
            return Outcome(None, Decimal(0))
        return Outcome(order[0][0], order[1][1] if len(order) > 1 else Decimal(0))
