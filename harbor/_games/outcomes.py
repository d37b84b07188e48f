"""Outcomes hold the results of a game, computed from the events of its log: allocations, payments and worths.

If a true value is revealed, a bidder learns how far its estimates are off, because all are off by the same share.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from harbor._core.basics.actions import BundleBid
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, AllocatedSealed, Paid, PaidSealed, Signal, Worth
from harbor._core.log.events import (
    AuctionHeld,
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    Event,
    ItemLabelled,
    Listed,
    LotClosed,
    WorthTold,
)
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Learned
from harbor._games.bidder_view import Part

GETS = (Allocated, AllocatedSealed)
"""The events that allocate units."""
PAYS = (Paid, PaidSealed)
"""The events that move money."""
NOTHING = Decimal(0)
Dollars = dict[str, Decimal]
"""Dollars by item."""


@dataclass(slots=True)
class Account:
    """The account of a bidder or of the house.

    `units` are the units that it got and `paid` the dollars that it paid, both by item. `fees` are the fines that it
    paid, and `received` the payments to it, in dollars.
    """

    units: dict[str, Decimal] = field(default_factory=dict)
    paid: Dollars = field(default_factory=dict)
    fees: Decimal = NOTHING
    received: Decimal = NOTHING

    @property
    def spent(self) -> Decimal:
        """All payments in dollars, fees included."""
        return sum(self.paid.values(), self.fees)


@dataclass(slots=True)
class Worths:
    """The worth of a unit of each item to each bidder, in dollars, as far as a log tells.

    The first of these that a log has for a bidder and an item counts: a `Worth` of the bidder, a `Worth` for all
    bidders, a `Signal` that is no estimate, the true value of the item.
    """

    own: dict[str, Dollars] = field(default_factory=dict)
    common: Dollars = field(default_factory=dict)
    told: dict[str, Dollars] = field(default_factory=dict)
    items: Dollars = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """Process one event."""
        match event:
            case Worth(bidder="", values=values):
                self.common |= values
            case Worth(bidder=bidder, values=values):
                self.own.setdefault(bidder, {}).update(values)
            case Signal(bidder=bidder, values=values, noisy=False):
                self.told.setdefault(bidder, {}).update(values)
            case ItemLabelled(item=item, true_value=value) | WorthTold(item=item, true_value=value):
                self.items[item] = value

    def of(self, bidder: str, item: str) -> Decimal | None:
        """Return the worth of a unit of an item to a bidder in dollars; None if the log does not tell it."""
        return self._known(bidder).get(item)

    def of_all(self, bidders: Iterable[str]) -> dict[str, list[Decimal]]:
        """Return, for each item, its known worths to these bidders, in dollars."""
        found: dict[str, list[Decimal]] = {item: [] for item in (*self.items, *self.common)}
        for bidder in bidders:
            for item, worth in self._known(bidder).items():
                found.setdefault(item, []).append(worth)
        return found

    def is_common(self, item: str) -> bool:
        """Return whether an item is worth the same to all bidders."""
        private = (self.own, {} if item in self.common else self.told)
        return any(item in one for one in (self.common, self.items)) and not any(
            item in values for one in private for values in one.values()
        )

    def _known(self, bidder: str) -> Mapping[str, Decimal]:
        return ChainMap(self.own.get(bidder, {}), self.common, self.told.get(bidder, {}), self.items)


@dataclass(slots=True)
class Outcomes:
    """The results of a game so far, computed from its events.

    `accounts` are the accounts of the bidders, in seat order, and `house` is that of the house. `over` has the items
    whose bidding has ended or that a bidder got, in order. `bundles` says whether bidders bid for several items
    together; then the worth of several items need not be the sum of their worths. `budgets` says whether any bidder has
    a budget.
    """

    accounts: dict[str, Account] = field(default_factory=dict)
    house: Account = field(default_factory=Account)
    worths: Worths = field(default_factory=Worths)
    over: dict[str, None] = field(default_factory=dict)
    bundles: bool = False
    budgets: bool = False

    def note(self, event: Event) -> None:
        """Process one event."""
        match event:
            case BidderLabelled(bidder=bidder):
                self.account(bidder)
            case BidderSeated(budget=budget):
                self.budgets = self.budgets or budget > 0
            case Listed(bidders=bidders) | BiddersAsked(bidders=bidders):  # a public log names bidders only here
                for bidder in bidders:
                    self.account(bidder)
            case Allocated() | AllocatedSealed():
                self._give(event)
            case Paid() | PaidSealed():
                self._pay(event)
            case LotClosed(item=item):
                self.over[item] = None
            case Acted(act=act) | ActedSealed(act=act):
                self.bundles = self.bundles or isinstance(act, BundleBid)
            case _:
                self.worths.note(event)

    def account(self, name: str) -> Account:
        """Return the account of a bidder or of the house."""
        if name == HOUSE:
            return self.house
        if name not in self.accounts:
            self.accounts[name] = Account()
        return self.accounts[name]

    def worth(self, bidder: str) -> Decimal | None:
        """Return the worth in dollars of all units that a bidder got; None if it is not known."""
        units = self.account(bidder).units
        if self.bundles and len(units) > 1:
            return None
        worths = [count * worth for item, count in units.items() if (worth := self.worths.of(bidder, item)) is not None]
        return sum(worths, NOTHING) if len(worths) == len(units) else None

    def profit(self, bidder: str) -> Decimal | None:
        """Return a bidder's profit in dollars: the worth of its units plus its receipts minus its payments.

        It is None if that worth is not known.
        """
        mine, worth = self.account(bidder), self.worth(bidder)
        return None if worth is None else worth + mine.received - mine.spent

    def profits(self) -> dict[str, Decimal | None]:
        """Return the profit of each bidder in dollars, the highest first and unknown profits last.

        Bidders with equal profits are in seat order.
        """
        found = {bidder: self.profit(bidder) for bidder in self.accounts}
        return dict(sorted(found.items(), key=lambda one: (one[1] is None, -(one[1] or 0))))

    def holders(self) -> dict[str, list[str]]:
        """Return, by item, the bidders that got units of it."""
        found: dict[str, list[str]] = {item: [] for item in self.over}
        for bidder, mine in self.accounts.items():
            for item in mine.units:
                found[item].append(bidder)
        return found

    def _give(self, event: Allocated | AllocatedSealed) -> None:
        units, item = self.account(event.bidder).units, event.item
        units[item] = units.get(item, NOTHING) + event.units
        self.over[item] = None

    def _pay(self, event: Paid | PaidSealed) -> None:
        payer, item = self.account(event.payer), event.item
        if event.fee:
            payer.fees += event.amount
        else:
            payer.paid[item] = payer.paid.get(item, NOTHING) + event.amount
        self.account(event.payee).received += event.amount


def outcomes(entries: Iterable[Entry]) -> Outcomes:
    """Return the outcomes of a log; the log may have broken off."""
    return told_by(entry.event for entry in entries)


def told_by(events: Iterable[Event]) -> Outcomes:
    """Return the outcomes of events, such as those that one bidder has seen."""
    found = Outcomes()
    for event in events:
        found.note(event)
    return found


@dataclass(frozen=True, slots=True)
class TraderStanding:
    """The result of a bidder in games without measures of their own; amounts are dollars.

    `profit` is None if the log does not tell the worth of what the bidder got.
    """

    bidder: str
    items_won: int
    spent: Decimal
    received: Decimal
    profit: Decimal | None


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The result of an item: its winners, and the dollars that they paid in all, without fees (None: nothing)."""

    name: str
    winners: tuple[str, ...]
    price: Decimal | None


def standings(entries: Sequence[Entry]) -> list[TraderStanding]:
    """Rank the bidders by profit, unknown profits last; bidders with equal profits are in seat order."""
    told = outcomes(entries)
    return [
        TraderStanding(bidder, len(mine.units), mine.spent, mine.received, profit)
        for bidder, profit in told.profits().items()
        for mine in (told.accounts[bidder],)
    ]


def items(entries: Sequence[Entry]) -> list[ItemOutcome]:
    """List the results of the items that are over."""
    told, found = outcomes(entries), []
    for item, holders in told.holders().items():
        paid = [told.accounts[bidder].paid[item] for bidder in holders if item in told.accounts[bidder].paid]
        found.append(ItemOutcome(item, tuple(holders), sum(paid, NOTHING) if paid else None))
    return found


class Sale(NamedTuple):
    """The winner of an item, and the price that the winner paid in dollars."""

    winner: str
    price: Decimal


def sales(told: Outcomes) -> dict[str, Sale]:
    """Return the items with exactly one winner, in order of sale."""
    only = {item: holders[0] for item, holders in told.holders().items() if len(holders) == 1}
    return {item: Sale(winner, told.accounts[winner].paid.get(item, NOTHING)) for item, winner in only.items()}


def ranks(profits: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Return the rank of each bidder by profit; nothing if any profit is unknown.

    Rank 1 is the best, and bidders with equal profits share a rank.
    """
    known = {bidder: profit for bidder, profit in profits.items() if profit is not None}
    if len(known) < len(profits):
        return {}
    order = sorted(known.values())
    return {bidder: 1 + len(order) - bisect_right(order, profit) for bidder, profit in known.items()}


def held(number: int, seed: int, log: Sequence[Entry]) -> AuctionHeld:
    """Return the event that records a finished auction in the log of its series."""
    profits = outcomes(log).profits()
    return AuctionHeld(
        auction=number,
        seed=seed,
        ranks=ranks(profits),
        profits={bidder: profit for bidder, profit in profits.items() if profit is not None},
        learnings={learned.bidder: learned.learnings for learned in of_type(log, Learned)},
    )


def estimates_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Return a bidder's own estimates in dollars by item."""
    return next(event.values for event in seen if isinstance(event, Signal))


def values_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Return the revealed true values in dollars by item."""
    return {event.item: event.true_value for event in seen if isinstance(event, WorthTold)}


def revealed(parts: Iterable[Part]) -> dict[str, Decimal]:
    """Return the revealed true values of these parts of a game in dollars by item."""
    return {part.item: part.true_value for part in parts if part.true_value is not None}


def truth_per_estimate(estimates: Mapping[str, Decimal], values: Mapping[str, Decimal]) -> Decimal | None:
    """Return the sum of the revealed true values divided by the sum of the estimates of the same items.

    It is None if no true value of an estimated item was revealed.
    """
    estimated = sum((estimates[item] for item in values), Decimal(0))
    return sum(values.values(), Decimal(0)) / estimated if estimated else None
