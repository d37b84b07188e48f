"""This module turns a bidder's news of a sale outside Harbor into the events of Harbor's own auctioneer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.asking.decisions import Amount, Name, plain
from harbor._core.basics.numbers import DOLLAR
from harbor._core.log.acts import HOUSE, Acted, Allocated, Paid, Signal
from harbor._core.log.events import BidderSeated, BidderWithdrew, Event, Lot, LotClosed, LotOpened, WorthTold
from harbor._games.bidder_view import View
from harbor._games.english.events import ItemOpened, ItemSold, ItemUnsold, RoundClosed, SaleOpened
from harbor._games.english.facts import LotBidding, bidding_on

UNTOLD = Decimal(0)
"""The price of an item whose price was not told, in dollars."""


class Brought(NamedTuple):
    """A bidder's settings from its owner: budget, objective, texts of personas, and values in dollars by item."""

    seat: BidderSeated
    values: dict[str, Decimal]


class News(BaseModel):
    """One thing that the words tell of the sale."""

    kind: Annotated[Literal["bid", "sold", "unsold", "out"], BeforeValidator(plain)]
    item: Name
    bidder: Name | None = None
    amount: Amount | None = None


class SaleHeard:
    """A bidder's knowledge of a sale, with only the items that the bidder has a value for. Each is sold once.

    News never changes the settings from the bidder's owner. News only fills in settings that the owner left out.

    Args:
        given: the settings from the owner.
        with_budget: true if the owner set a budget.
        lots: true if the game sells listed items, one after the other.
    """

    def __init__(self, given: Brought, with_budget: bool, lots: bool) -> None:
        self._given, self._with_budget, self._lots = given, with_budget, lots
        self.seen: list[Event] = []
        self.view = View()
        self.paused = 0
        """Number of items that had closed at the bidder's last pause."""
        self._keep(given.seat)
        if lots:
            self._keep(Signal(given.seat.bidder, given.values, noisy=True))

    def add(self, *events: Event) -> None:
        """Add events, after the owner's settings are applied to them."""
        for event in events:
            for one in self._kept(event):
                self._keep(one)

    def _keep(self, event: Event) -> None:
        self._check(event)
        self.view = self.view.after([event])
        self.seen.append(event)

    def _check(self, event: Event) -> None:
        """Refuse an event that contradicts earlier ones.

        Raises:
            LookupError: a worth is told before the item is over, or an unlisted item is opened.
        """
        if isinstance(event, WorthTold) and not self.view.place(event.item):
            raise LookupError(f"{event.item!r} is not over, and its worth is told")
        if self._lots and isinstance(event, LotOpened) and event.item not in [lot.name for lot in self.view.lots]:
            raise LookupError(f"{event.item!r} is opened, and was not listed")

    def replay(self, events: Iterable[Event], paused: int) -> None:
        """Add events that were saved before, unchanged."""
        for event in events:
            self._keep(event)
        self.paused = paused

    def _kept(self, event: Event) -> Iterator[Event]:
        given = self._given
        if isinstance(event, BidderSeated):
            yield replace(given.seat, budget=given.seat.budget if self._with_budget else event.budget)
        elif isinstance(event, Signal):
            mine = {item: value for item, value in given.values.items() if self._lots or item in event.values}
            yield replace(event, values={**event.values, **mine})
        elif self._lots and isinstance(event, SaleOpened):
            yield replace(event, lots=tuple(lot for lot in event.lots if lot.name in self.view.estimates))
        elif not self._lots or getattr(event, "item", None) in (None, *self.view.estimates):
            if isinstance(event, ItemSold) and not (self.view.part and self.view.part.got):  # as from an app
                yield Allocated(event.winner, event.item)
                yield Paid(event.winner, HOUSE, event.item, event.price)
            yield event

    @property
    def now(self) -> str | None:
        """The item for sale; if none was named, the only one left; None if several are."""
        if self.view.part is not None:
            return self.view.part.item
        left = [item for item in self.view.estimates if item not in self._over]
        return left[0] if len(left) == 1 else None

    @property
    def round(self) -> int:
        """The current round of bidding: the round after the last bid."""
        bids = self._bidding.bids if self._bidding else ()
        return 1 + max((turn for turn, *_ in bids), default=0)

    def least(self, item: str) -> Decimal | None:
        """Return the least bid on an item in dollars, as far as the news tell it; None if no price was told."""
        if self._bidding and self.now == item:
            return self._bidding.minimum or None
        return next((lot.start for lot in self.view.lots if lot.name == item), UNTOLD) or None

    def tell(self, news: News) -> None:
        """Add one piece of news from the auctioneer's words; ignore news of an item that is over or has no value."""
        if self.bring_up(news.item, news.amount or UNTOLD):
            return
        item, turn, bidder, amount = news.item, self.round, news.bidder, news.amount
        if news.kind == "unsold":
            self.add(ItemUnsold(item))
        elif bidder and news.kind == "out":
            self.add(Acted(bidder, item, Withdraw(), turn))
        elif bidder and amount is not None and news.kind == "sold":
            self.add(ItemSold(item, bidder, amount))
        elif bidder and amount is not None:
            self.add(Acted(bidder, item, Bid(amount), turn), RoundClosed(item, turn, bidder, amount))

    def bring_up(self, item: str, least: Decimal) -> str:
        """Open bidding on an item if necessary; return the reason if that is impossible, else an empty text."""
        if item not in self.view.estimates:
            known = ", ".join(self.view.estimates) or "none"
            return f"I was told no value of {item!r}, so I can't bid on it. I know a value of: {known}."
        if item in self._over:
            return f"As far as I heard, the bidding on {item} is over."
        coming = self.view.coming
        if not coming or coming[0].name != item:
            self._keep(SaleOpened(self._people, self._lots_from(item), "untold"))  # not announced, so names are unknown
        if self._bidding is None or self.now != item:
            self.add(ItemOpened(item, least, DOLLAR))
        return ""

    def closed_since_pause(self) -> tuple[str, ...]:
        """Return the items that closed since the last call of this method."""
        closed = [event.item for event in self.seen if isinstance(event, LotClosed)]
        before, self.paused = self.paused, len(closed)
        return tuple(closed[before:])

    @property
    def _bidding(self) -> LotBidding | None:
        return bidding_on(self.view.part)

    @property
    def _over(self) -> list[str]:
        return [result.item for result in self.view.results]

    @property
    def _people(self) -> tuple[str, ...]:
        """The known bidders."""
        heard = [event.bidder for event in self.seen if isinstance(event, Acted | BidderWithdrew)]
        return tuple(dict.fromkeys([*self.view.bidders, self._given.seat.bidder, *heard]))

    def _lots_from(self, item: str) -> tuple[Lot, ...]:
        """Return the items that are over, then this one, then the others."""
        known = {lot.name: lot for lot in self.view.lots}
        order = dict.fromkeys([*self._over, item, *known, *self.view.estimates])
        return tuple(known.get(name) or Lot(name, UNTOLD) for name in order)
