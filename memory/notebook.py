"""A bidder's working memory of one sale: a fold over what it has seen, and over nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from harbor.events import (
    Belief,
    Believed,
    BidderSeated,
    BidderWithdrew,
    BidPlaced,
    Event,
    ItemOpened,
    ItemSold,
    ItemUnsold,
    Lot,
    Planned,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
    Win,
)


@dataclass(frozen=True, slots=True)
class Result:
    """How an item went; `winner` and `price` are None if unsold, `true_value` if not revealed."""

    item: str
    winner: str | None
    price: Decimal | None
    true_value: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Hammer:
    """The item under the hammer, with its bids so far as (round, bidder, dollars)."""

    lot: Lot
    start: Decimal
    increment: Decimal
    bids: tuple[tuple[int, str, Decimal], ...] = ()
    leader: str | None = None
    price: Decimal | None = None
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notebook:
    """What a bidder knows: who it is, what was and will be sold, its plan and its belief.

    `purse` is the budget in dollars it came with; `believed` counts the results that the belief takes in.
    """

    name: str = ""
    personas: tuple[str, ...] = ()
    objective: str = "profit"
    purse: Decimal = Decimal(0)
    estimates: Mapping[str, Decimal] = field(default_factory=dict)
    bidders: tuple[str, ...] = ()
    lots: tuple[Lot, ...] = ()
    values_revealed: bool = True
    hammer: Hammer | None = None
    results: tuple[Result, ...] = ()
    plan: str = ""
    priorities: Mapping[str, int] = field(default_factory=dict)
    belief: Belief | None = None
    believed: int = 0

    def after(self, events: Iterable[Event]) -> Notebook:
        """Give the notebook after these events."""
        notebook = self
        for event in events:
            notebook = notebook._note(event)
        return notebook

    @property
    def budget(self) -> Decimal:
        """Dollars left."""
        return self.purse - sum((won.price for won in self.wins(self.name)), Decimal(0))

    @property
    def coming(self) -> tuple[Lot, ...]:
        """The items not yet sold or given up, the one under the hammer included."""
        return self.lots[len(self.results) :]

    def wins(self, bidder: str) -> tuple[Win, ...]:
        """List what a bidder has won so far."""
        return tuple(
            Win(result.item, result.price)
            for result in self.results
            if result.winner == bidder and result.price is not None
        )

    def profit(self, bidder: str) -> Decimal:
        """Add up a bidder's profit in dollars, as far as true values were revealed."""
        return sum(
            (
                result.true_value - result.price
                for result in self.results
                if result.winner == bidder and result.price is not None and result.true_value is not None
            ),
            Decimal(0),
        )

    def truth(self) -> Belief:
        """Give the belief that a bidder with a perfect memory would hold."""
        return Belief(
            budget=self.budget,
            profits={name: self.profit(name) for name in self.bidders} if self.values_revealed else {},
            wins={name: wins for name in self.bidders if (wins := self.wins(name))},
        )

    def _note(self, event: Event) -> Notebook:
        match event:
            case BidPlaced(round=round, bidder=bidder, amount=amount) if self.hammer:
                bids = (*self.hammer.bids, (round, bidder, amount))
                return replace(self, hammer=replace(self.hammer, bids=bids))
            case RoundClosed(leader=leader, price=price) if self.hammer:
                return replace(self, hammer=replace(self.hammer, leader=leader, price=price))
            case BidderWithdrew(bidder=bidder) if self.hammer:
                withdrawn = (*self.hammer.withdrawn, bidder)
                return replace(self, hammer=replace(self.hammer, withdrawn=withdrawn))
            case ItemOpened(start=start, increment=increment) | PriceLowered(start=start, increment=increment):
                return replace(self, hammer=Hammer(self.lots[len(self.results)], start, increment))
            case ItemSold(item=item, winner=winner, price=price):
                return replace(self, hammer=None, results=(*self.results, Result(item, winner, price)))
            case ItemUnsold(item=item):
                return replace(self, hammer=None, results=(*self.results, Result(item, None, None)))
            case ValueRevealed(true_value=true_value):
                *before, last = self.results
                return replace(self, results=(*before, replace(last, true_value=true_value)))
            case Planned(text=text, priorities=priorities):
                return replace(self, plan=text, priorities=priorities)
            case Believed(held=held):
                return replace(self, belief=held, believed=len(self.results))
            case SaleOpened(bidders=bidders, lots=lots, reveal=reveal):
                return replace(self, bidders=bidders, lots=lots, values_revealed=reveal == "true value")
            case BidderSeated():
                return replace(
                    self,
                    name=event.bidder,
                    purse=event.budget,
                    estimates=event.estimates,
                    personas=event.personas,
                    objective=event.objective,
                )
            case _:
                return self
