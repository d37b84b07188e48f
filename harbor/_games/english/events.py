"""What happens in an ascending auction alone; who bid and withdrew, got and paid, are events of every game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor._core.basics.numbers import Money, dollars
from harbor._core.log.events import Listed, LotClosed, LotOpened, PublicEvent, WorthTold

TOLD = {"true value": "It is announced after its sale. ", "price": "It is never announced. ", "untold": ""}


def rules_in_words(reveal: str) -> str:
    """Say how items are sold and what a profit is, to agents and to Harbor's own bidders in the same words."""
    return (
        "Items are sold one at a time. What an item is really worth, its true value, is the same for every bidder, and"
        f" nobody knows it beforehand. {TOLD[reveal]}Each bidder has an estimate, which may be too high or too low."
        " Bidding goes in rounds: everybody who is still in and does not lead is asked at the same moment to bid or to"
        " withdraw. A bid must be at least the minimum that is called, and at most the money that the bidder has left."
        " A bid that breaks this rule fails, and the bidder is asked again; after too many of them it is out of the"
        " item. After a round the highest bid leads; among equal ones the leader is drawn by lot. Who withdraws, or"
        " can't pay the minimum, is out of this item. When all others are out, the leader wins the item and pays its"
        " own bid. If nobody bids, the item is not sold, or it is offered again to all at a lower price. Whoever wins"
        " an item has its true value minus the price as profit; money that is not spent is no profit, and only lets a"
        " bidder bid on later items."
    )


@dataclass(frozen=True, slots=True)
class SaleOpened(Listed):
    """The auction begins: who bids on which lots, in which order, and what is announced after each sale."""

    reveal: Literal["price", "true value", "untold"]

    @property
    def reveals(self) -> bool:
        """Whether true values are announced."""
        return self.reveal == "true value"

    @property
    def words(self) -> str:
        """Who bids, what is for sale from which price, and by which rules."""
        offers = "; ".join(f"{lot.name} from {dollars(lot.start)}" for lot in self.lots)
        welcome = f"Welcome, {', '.join(self.bidders)}; for sale, in this order: {offers}."
        return f"{welcome} {rules_in_words(self.reveal)}"


@dataclass(frozen=True, slots=True)
class ItemOpened(LotOpened):
    """Bidding on an item begins at its starting price."""

    start: Money
    increment: Money

    @property
    def called(self) -> Money:
        """The starting price."""
        return self.start

    @property
    def words(self) -> str:
        """The starting price, and the steps."""
        return f"{self.item} opens at {dollars(self.start)}, in steps of at least {dollars(self.increment)}."


@dataclass(frozen=True, slots=True)
class PriceLowered(LotOpened):
    """Nobody bid: the item is offered again at a lower starting price, to all bidders."""

    start: Money
    increment: Money

    @property
    def called(self) -> Money:
        """The lower starting price."""
        return self.start

    @property
    def words(self) -> str:
        """The lower starting price, and the steps."""
        return (
            f"Nobody bid on {self.item}: it is offered again to all bidders from {dollars(self.start)},"
            f" in steps of at least {dollars(self.increment)}."
        )


@dataclass(frozen=True, slots=True)
class RoundClosed(PublicEvent):
    """A round with at least one bid is over. The leader is drawn at random among equal highest bids."""

    item: str
    round: int
    leader: str
    price: Money

    @property
    def called(self) -> Money:
        """The highest bid."""
        return self.price

    @property
    def words(self) -> str:
        """Who leads, and with how much."""
        return f"{self.leader} leads on {self.item} with {dollars(self.price)}."


@dataclass(frozen=True, slots=True)
class ItemSold(LotClosed):
    """The hammer falls: the winner pays its bid."""

    winner: str
    price: Money

    @property
    def words(self) -> str:
        """Who gets it, for how much."""
        return f"{self.item} is sold to {self.winner} for {dollars(self.price)}."


@dataclass(frozen=True, slots=True)
class ItemUnsold(LotClosed):
    """Nobody bought the item."""

    @property
    def words(self) -> str:
        """That it is not sold."""
        return f"{self.item} is not sold."


@dataclass(frozen=True, slots=True)
class ValueRevealed(WorthTold):
    """The auctioneer announces the true value of an item after its sale."""

    @property
    def words(self) -> str:
        """Its true value."""
        return f"{self.item} was worth {dollars(self.true_value)}."
