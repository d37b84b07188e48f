"""The first-price sealed-bid auction: the highest bid wins and pays its own bid.

It has no dominant bid: its equilibrium is that of the distribution of values that the opening tells to everybody. Where
the opening tells none, assets cap the bids, or bidders find out each other's values from run to run, none is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.money import Money, dollars, to_cents
from harbor._games.first_price.equilibrium import equilibrium_bid, highest_bid
from harbor._games.sessions.private_values import Bids, Outcome, PrivateValues, ranked
from harbor._games.sessions.session import SessionOpened


@dataclass(frozen=True, slots=True)
class FirstPriceOpened(SessionOpened):
    """A session of first-price auctions begins."""

    @property
    def rules(self) -> str:
        """The rules of one run in words."""
        return (
            "Each player seals one bid. The highest bid wins the item, and the winner pays its own bid. Of equal bids, "
            "that of the player named first wins."
        )

    @property
    def unsolved(self) -> str:
        """Why no equilibrium is known; empty if `equilibrium_bids` gives one.

        Assets that cap bids change all bids (Che and Gale 1998). Values that are drawn once are found out: whoever lost
        a run knows that another's bid was higher, so to bid as before is no best response.
        """
        if self.prior is None:
            return "bidders are told no distribution of values (rules.distribution)"
        if self.drawn_once and self.runs > 1:
            return "values that stay the same become known from run to run (rules.draw)"
        highest = to_cents(Decimal(repr(highest_bid(len(self.bidders) - 1, self.prior))))
        if self.assets < highest:
            return f"assets of {dollars(self.assets)} cap bids, which go up to {dollars(highest)} (rules.assets)"
        return ""

    def theory(self, value: Money) -> Money | None:
        """Give the bid of a value in equilibrium, where one is known."""
        bids = self.equilibrium_bids({"": value})
        return None if bids is None else bids[""]

    def equilibrium_bids(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Give the bids of these values in equilibrium, in whole cents (None: none is known)."""
        if self.prior is None or self.unsolved:
            return None
        rivals = len(self.bidders) - 1
        bids = {name: equilibrium_bid(float(value), rivals, self.prior) for name, value in values.items()}
        return {name: to_cents(Decimal(repr(bid))) for name, bid in bids.items()}


class FirstPrice(PrivateValues):
    """The rules of a session of first-price auctions."""

    def opened(self) -> FirstPriceOpened:
        """Give the opening of the session."""
        return FirstPriceOpened(**self.facts(), prior=self.prior)

    def outcome(self, bids: Bids) -> Outcome:
        """Give the winner and the price."""
        order = ranked(bids)
        return Outcome(*order[0]) if order else Outcome(None, Decimal(0))

    def equilibrium(self, values: Mapping[str, Decimal]) -> Mapping[str, Decimal] | None:
        """Give the bids in equilibrium of the distribution that the opening tells (None: none is known)."""
        return self.opened().equilibrium_bids(values)
