"""What a bidder has observed of one auction: a fold over the events it has seen, and over nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from harbor._core.acts import Acted, Tried
from harbor._core.asks import Bid, Withdraw
from harbor._core.events import (
    BidderSeated,
    BidderWithdrew,
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
from harbor._core.outcomes import Signal
from harbor._core.thoughts import (
    Belief,
    Believed,
    Decided,
    Learned,
    LimitSet,
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
from harbor.memory._bidder.lot_bidding import LotBidding, Result, Spoken, Withdrawal


@dataclass(frozen=True, slots=True)
class AuctionView:
    """What a bidder knows: who it is, what was and will be sold, its plan and its belief.

    `profiles` are its profiles of its rivals, and `mirrors` the profiles that it thinks they have of it. `believed`,
    `profiled` (by rival) and `mirrored` count the results that belief, profiles and mirrors take into account.
    `notes` are what nodes of the bidder's own tell its later prompts, by node.
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
    notes: Mapping[str, Any] = field(default_factory=dict)

    def after(self, events: Iterable[Event]) -> AuctionView:
        """Give the view after these events; an event that concerns no field changes nothing."""
        view = self
        for event in events:
            if change := CHANGES.get(type(event)):
                view = replace(view, **change(view, event))
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

    def truth(self) -> Belief:
        """Give the belief of a bidder with a perfect memory."""
        return Belief(
            budget=self.budget,
            profits={name: self.profit(name) for name in self.bidders} if self.values_revealed else {},
            wins={name: wins for name in self.bidders if (wins := self.wins(name))},
        )


# ---------------------------------------------------------------- which fields an event changes

Fields = dict[str, Any]


def _acted(view: AuctionView, event: Acted) -> Fields:
    if isinstance(event.act, Withdraw):
        return _out(view, event.bidder, event.act.reason)
    if not isinstance(event.act, Bid) or view.bidding is None:
        return {}
    return _bidding(view, bids=(*view.bidding.bids, (event.round, event.bidder, event.act.amount)))


def _out(view: AuctionView, bidder: str, reason: str) -> Fields:
    if view.bidding is None:
        return {}
    withdrawal = Withdrawal(view.bidding.minimum, reason)
    return _bidding(view, withdrawn={**view.bidding.withdrawn, bidder: withdrawal})


def _bidding(view: AuctionView, **changes: Any) -> Fields:
    return {"bidding": replace(view.bidding, **changes)} if view.bidding else {}


def _opened(view: AuctionView, event: ItemOpened | PriceLowered) -> Fields:
    bidding = LotBidding(view.lots[len(view.results)], event.start, event.increment)
    return {"bidding": replace(bidding, spoken=view.bidding.spoken) if view.bidding else bidding}


def _decided(view: AuctionView, event: Decided) -> Fields:
    if view.bidding is None:
        return {}
    chosen = view.strategy if view.strategy and view.strategy.item == event.item else None
    spoken = Spoken(replace(view.bidding, spoken=()), chosen, event, view.bidding.refused)
    return _bidding(view, reasons=event.reasons, spoken=(*view.bidding.spoken, spoken), refused="")


def _closed(view: AuctionView, result: Result) -> Fields:
    # Forecasts are about the item that has just closed: they must not be taken for the next one.
    return {"bidding": None, "predictions": (), "results": (*view.results, result)}


def _revealed(view: AuctionView, event: ValueRevealed) -> Fields:
    *before, last = view.results
    return {"results": (*before, replace(last, true_value=event.true_value))}


def _profiled(view: AuctionView, event: Profiled) -> Fields:
    return {
        "profiles": {**view.profiles, event.rival: event.weights},
        "profiled": {**view.profiled, event.rival: _number(view, event.closed)},
    }


def _mirrored(view: AuctionView, event: Mirrored) -> Fields:
    return {
        "mirrors": {**view.mirrors, event.rival: event.weights},
        "mirrored": _number(view, event.closed),
    }


def _number(view: AuctionView, item: str) -> int:
    """Give the place of an item among the results, counted from one; 0 if it is not among them."""
    return next((number for number, result in enumerate(view.results, start=1) if result.item == item), 0)


def _seated(_: AuctionView, event: BidderSeated) -> Fields:
    return {
        "name": event.bidder,
        "initial_budget": event.budget,
        "personas": event.personas,
        "objective": event.objective,
        "profiles": event.rivals,
    }


CHANGES: Mapping[type[Event], Callable[[AuctionView, Any], Fields]] = {
    BidderSeated: _seated,
    Signal: lambda view, event: {"estimates": {**view.estimates, **event.values}},
    CatalogShown: lambda _, event: {"catalog": event.personas},
    SaleOpened: lambda _, event: {
        "bidders": event.bidders,
        "lots": event.lots,
        "values_revealed": event.reveal == "true value",
    },
    ItemOpened: _opened,
    PriceLowered: _opened,
    Acted: _acted,
    BidderWithdrew: lambda view, event: _out(view, event.bidder, event.reason),
    RoundClosed: lambda view, event: _bidding(view, leader=event.leader, price=event.price),
    ItemSold: lambda view, event: _closed(view, Result(event.item, event.winner, event.price, bidding=view.bidding)),
    ItemUnsold: lambda view, event: _closed(view, Result(event.item, None, None, bidding=view.bidding)),
    ValueRevealed: _revealed,
    Planned: lambda _, event: {"plan": event.text, "priorities": event.priorities},
    Believed: lambda view, event: {"belief": event.held, "believed": len(view.results)},
    Profiled: _profiled,
    Mirrored: _mirrored,
    Predicted: lambda _, event: {"predictions": event.predictions},
    Strategized: lambda _, event: {"strategy": event},
    Decided: _decided,
    Tried: lambda view, event: _bidding(view, refused=event.reason),
    LimitSet: lambda view, event: _bidding(view, reasons=event.reasons, limit=event),
    Recalled: lambda _, event: {"memories": event.memories},
    Learned: lambda _, event: {"learnings": event.learnings},
}
"""The fields of a view that an event changes, by the kind of event; a new node adds its conclusion here."""
