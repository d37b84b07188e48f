"""A bidder's working memory of one sale: a fold over what it has seen, and over nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from harbor._core.events import (
    BidderSeated,
    BidderWithdrew,
    BidPlaced,
    CatalogShown,
    Event,
    ItemOpened,
    ItemSold,
    ItemUnsold,
    Lot,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._core.thoughts import (
    Belief,
    Believed,
    Decided,
    Learned,
    Memory,
    Mirrored,
    Planned,
    Predicted,
    Prediction,
    Profiled,
    Recalled,
    Strategized,
    Win,
)


@dataclass(frozen=True, slots=True)
class Result:
    """How an item went; `winner` and `price` are None if unsold, `true_value` if not revealed."""

    item: str
    winner: str | None
    price: Decimal | None
    true_value: Decimal | None = None
    bidding: LotBidding | None = None


@dataclass(frozen=True, slots=True)
class LotBidding:
    """The item under the hammer: bids as (round, bidder, dollars); who is out, since which least bid, and why.

    `reasons` are one's own for the last decision on it.
    """

    lot: Lot
    start: Decimal
    increment: Decimal
    bids: tuple[tuple[int, str, Decimal], ...] = ()
    leader: str | None = None
    price: Decimal | None = None
    withdrawn: tuple[tuple[str, Decimal, str], ...] = ()
    reasons: str = ""

    @property
    def least(self) -> Decimal:
        """The least legal bid in dollars."""
        return self.start if self.price is None else self.price + self.increment


@dataclass(frozen=True, slots=True)
class AuctionView:
    """What a bidder knows: who it is, what was and will be sold, its plan and its belief.

    `purse` is the budget in dollars it came with. `believed`, `profiled` (by rival) and `mirrored` count the results
    that the belief, the profile of a rival, and the pictures that rivals have, take in.
    """

    name: str = ""
    personas: Mapping[str, float] = field(default_factory=dict)
    objective: str = "profit"
    initial_budget: Decimal = Decimal(0)
    estimates: Mapping[str, Decimal] = field(default_factory=dict)
    bidders: tuple[str, ...] = ()
    lots: tuple[Lot, ...] = ()
    values_revealed: bool = True
    bidding: LotBidding | None = None
    results: tuple[Result, ...] = ()
    plan: str = ""
    priorities: Mapping[str, int] = field(default_factory=dict)
    belief: Belief | None = None
    believed: int = 0
    catalog: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    profiled: Mapping[str, int] = field(default_factory=dict)
    mirrors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    mirrored: int = 0
    predictions: tuple[Prediction, ...] = ()
    strategy: Strategized | None = None
    memories: tuple[Memory, ...] = ()
    learnings: tuple[str, ...] = ()

    def after(self, events: Iterable[Event]) -> AuctionView:
        """Give the notebook after these events."""
        view = self
        for event in events:
            view = view._note(event)
        return view

    @property
    def budget(self) -> Decimal:
        """Dollars left."""
        return self.initial_budget - self.spent(self.name)

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

    def spent(self, bidder: str) -> Decimal:
        """Add up what a bidder has paid in dollars."""
        return sum((won.price for won in self.wins(bidder)), Decimal(0))

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

    @property
    def rivals(self) -> tuple[str, ...]:
        """Everybody else, in seat order."""
        return tuple(bidder for bidder in self.bidders if bidder != self.name)

    def lot(self, item: str) -> Lot:
        """Find an item of the sale."""
        return next(lot for lot in self.lots if lot.name == item)

    def result(self, item: str) -> Result:
        """Find how an item went."""
        return next(result for result in self.results if result.item == item)

    def _number(self, item: str) -> int:
        """Give the place of an item among the results, counted from one; 0 if it is not among them."""
        return next((number for number, result in enumerate(self.results, start=1) if result.item == item), 0)

    def truth(self) -> Belief:
        """Give the belief that a bidder with a perfect memory would hold."""
        return Belief(
            budget=self.budget,
            profits={name: self.profit(name) for name in self.bidders} if self.values_revealed else {},
            wins={name: wins for name in self.bidders if (wins := self.wins(name))},
        )

    def _note(self, event: Event) -> AuctionView:
        match event:
            case BidPlaced(round=round, bidder=bidder, amount=amount) if self.bidding:
                bids = (*self.bidding.bids, (round, bidder, amount))
                return replace(self, bidding=replace(self.bidding, bids=bids))
            case RoundClosed(leader=leader, price=price) if self.bidding:
                return replace(self, bidding=replace(self.bidding, leader=leader, price=price))
            case BidderWithdrew(bidder=bidder, reason=reason) if self.bidding:
                withdrawn = (*self.bidding.withdrawn, (bidder, self.bidding.least, reason))
                return replace(self, bidding=replace(self.bidding, withdrawn=withdrawn))
            case ItemOpened(start=start, increment=increment) | PriceLowered(start=start, increment=increment):
                return replace(self, bidding=LotBidding(self.lots[len(self.results)], start, increment))
            case ItemSold(item=item, winner=winner, price=price):
                gone = Result(item, winner, price, bidding=self.bidding)
                return replace(self, bidding=None, predictions=(), results=(*self.results, gone))
            case ItemUnsold(item=item):
                gone = Result(item, None, None, bidding=self.bidding)
                return replace(self, bidding=None, predictions=(), results=(*self.results, gone))
            case ValueRevealed(true_value=true_value):
                *before, last = self.results
                return replace(self, results=(*before, replace(last, true_value=true_value)))
            case Planned(text=text, priorities=priorities):
                return replace(self, plan=text, priorities=priorities)
            case Believed(held=held):
                return replace(self, belief=held, believed=len(self.results))
            case Profiled(rival=rival, closed=item, weights=weights):
                profiled = {**self.profiled, rival: self._number(item)}
                return replace(self, profiles={**self.profiles, rival: weights}, profiled=profiled)
            case Mirrored(rival=rival, closed=item, weights=weights):
                return replace(self, mirrors={**self.mirrors, rival: weights}, mirrored=self._number(item))
            case Predicted(predictions=predictions):
                return replace(self, predictions=predictions)
            case Decided(reasons=reasons) if self.bidding:
                return replace(self, bidding=replace(self.bidding, reasons=reasons))
            case Recalled(memories=memories):
                return replace(self, memories=memories)
            case Learned(learnings=learnings):
                return replace(self, learnings=learnings)
            case Strategized():
                return replace(self, strategy=event)
            case CatalogShown(personas=personas):
                return replace(self, catalog=personas)
            case SaleOpened(bidders=bidders, lots=lots, reveal=reveal):
                return replace(self, bidders=bidders, lots=lots, values_revealed=reveal == "true value")
            case BidderSeated():
                return replace(
                    self,
                    name=event.bidder,
                    initial_budget=event.budget,
                    estimates=event.estimates,
                    personas=event.personas,
                    objective=event.objective,
                    profiles=event.rivals,
                )
            case _:
                return self
