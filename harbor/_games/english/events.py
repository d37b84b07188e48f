"""Events of the ascending auction. Bids, withdrawals, allocations and payments are events of every game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor._core.basics.numbers import Money, dollars
from harbor._core.log.events import Listed, LotClosed, LotOpened, PublicEvent, WorthTold

TOLD = {"true value": "It is announced after its sale. ", "price": "It is never announced. ", "untold": ""}


def rules_in_words(reveal: str) -> str:
    """Return the rules of the sale and of profit in words, the same for agents and for Harbor's own bidders."""
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
    """The auction begins; the event names the bidders, the items in the order of sale, and the facts told after a sale.

    >>> SaleOpened(("Ann", "Ben"), (Lot("vase", Decimal(30)),), "price").reveals
    False
    """

    reveal: Literal["price", "true value", "untold"]

    @property
    def reveals(self) -> bool:
        """True if the true value of each item is announced after its sale."""
        return self.reveal == "true value"

    @property
    def words(self) -> str:
        """The bidders, the items with starting prices, and the rules."""
        offers = "; ".join(f"{lot.name} from {dollars(lot.start)}" for lot in self.lots)
        welcome = f"Welcome, {', '.join(self.bidders)}; for sale, in this order: {offers}."
        return f"{welcome} {rules_in_words(self.reveal)}"


@dataclass(frozen=True, slots=True)
class ItemOpened(LotOpened):
    """The bidding on an item begins, at its starting price; `increment` is the minimum raise.

    >>> ItemOpened("vase", Decimal(30), Decimal(3)).words
    'vase opens at $30, in steps of at least $3.'
    """

    start: Money
    increment: Money

    @property
    def called(self) -> Money:
        """The starting price."""
        return self.start

    @property
    def words(self) -> str:
        """The starting price and the minimum raise."""
        return f"{self.item} opens at {dollars(self.start)}, in steps of at least {dollars(self.increment)}."


@dataclass(frozen=True, slots=True)
class PriceLowered(LotOpened):
    """Nobody has bid on an item, which is offered to all bidders again, at a lower starting price.

    >>> PriceLowered("vase", Decimal(15), Decimal(1)).called
    Decimal('15')
    """

    start: Money
    increment: Money

    @property
    def called(self) -> Money:
        """The lower starting price."""
        return self.start

    @property
    def words(self) -> str:
        """The lower starting price and the minimum raise."""
        return (
            f"Nobody bid on {self.item}: it is offered again to all bidders from {dollars(self.start)},"
            f" in steps of at least {dollars(self.increment)}."
        )


@dataclass(frozen=True, slots=True)
class RoundClosed(PublicEvent):
    """A round with at least one bid is over; if several bidders made the highest bid, the leader is drawn among them.

    >>> RoundClosed("vase", 1, leader="Ann", price=Decimal(33)).words
    'Ann leads on vase with $33.'
    """

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
        """The leader and its bid."""
        return f"{self.leader} leads on {self.item} with {dollars(self.price)}."


@dataclass(frozen=True, slots=True)
class ItemSold(LotClosed):
    """An item is sold to the leader, who pays its bid.

    >>> ItemSold("vase", winner="Ann", price=Decimal(33)).words
    'vase is sold to Ann for $33.'
    """

    winner: str
    price: Money

    @property
    def words(self) -> str:
        """The winner and the price."""
        return f"{self.item} is sold to {self.winner} for {dollars(self.price)}."


@dataclass(frozen=True, slots=True)
class ItemUnsold(LotClosed):
    """The bidding on an item is over, and nobody has bought it.

    >>> ItemUnsold("vase").words
    'vase is not sold.'
    """

    @property
    def words(self) -> str:
        """A sentence with the item."""
        return f"{self.item} is not sold."


@dataclass(frozen=True, slots=True)
class ValueRevealed(WorthTold):
    """The auctioneer announces the true value of an item after its sale.

    >>> ValueRevealed("vase", Decimal(40)).words
    'vase was worth $40.'
    """

    @property
    def words(self) -> str:
        """The true value."""
        return f"{self.item} was worth {dollars(self.true_value)}."
