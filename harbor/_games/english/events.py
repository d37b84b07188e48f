"""What happens in an ascending auction alone; who bid and withdrew, got and paid, are events of every game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor._core.events import Listed, LotClosed, LotOpened, PublicEvent, WorthTold
from harbor._core.money import Money, dollars


@dataclass(frozen=True, slots=True)
class SaleOpened(Listed):
    """The auction begins: who bids on which lots, in which order, and what is announced after each sale."""

    reveal: Literal["price", "true value"]

    @property
    def reveals(self) -> bool:
        """Whether true values are announced."""
        return self.reveal == "true value"

    @property
    def words(self) -> str:
        """Who bids, and what is for sale from which price."""
        offers = "; ".join(f"{lot.name} from {dollars(lot.start)}" for lot in self.lots)
        return f"Welcome, {', '.join(self.bidders)}; for sale, in this order: {offers}."


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
