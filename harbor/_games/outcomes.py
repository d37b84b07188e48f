"""Outcomes tell what came of a game: who got what, who paid whom, and what that was worth, as a fold over its log.

True values that are revealed tell a bidder of its estimates: all lean one way, by a share that it is not told.
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
"""The events that give somebody something."""
PAYS = (Paid, PaidSealed)
"""The events that move money."""
NOTHING = Decimal(0)
Dollars = dict[str, Decimal]
"""Dollars by item."""


@dataclass(slots=True)
class Account:
    """What a bidder, or the house, got and paid: units by item, dollars by item; `fees` are not for items."""

    units: dict[str, Decimal] = field(default_factory=dict)
    paid: Dollars = field(default_factory=dict)
    fees: Decimal = NOTHING
    received: Decimal = NOTHING

    @property
    def spent(self) -> Decimal:
        """All that it paid, fees too."""
        return sum(self.paid.values(), self.fees)


@dataclass(slots=True)
class Worths:
    """What items are worth to whom, a unit of each, as far as a log tells.

    That is the truth of `Worth`; where there is none, what bidders are told without noise, or the true values of items.
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
        """Give what a unit of an item is worth to a bidder; None: nothing tells it."""
        return self._known(bidder).get(item)

    def of_all(self, bidders: Iterable[str]) -> dict[str, list[Decimal]]:
        """Give, by item, what it is worth to each bidder of whom that is told; each worth is looked at once."""
        found: dict[str, list[Decimal]] = {item: [] for item in (*self.items, *self.common)}
        for bidder in bidders:
            for item, worth in self._known(bidder).items():
                found.setdefault(item, []).append(worth)
        return found

    def is_common(self, item: str) -> bool:
        """Say whether an item is worth the same to whoever gets it."""
        private = (self.own, {} if item in self.common else self.told)
        return any(item in one for one in (self.common, self.items)) and not any(
            item in values for one in private for values in one.values()
        )

    def _known(self, bidder: str) -> Mapping[str, Decimal]:
        return ChainMap(self.own.get(bidder, {}), self.common, self.told.get(bidder, {}), self.items)


@dataclass(slots=True)
class Outcomes:
    """What came of a game so far, as a fold over its events.

    `accounts` are those of the bidders, in seat order; `over` are the items whose bidding has ended, or that somebody
    got, in that order. `bundles`: items were bid on together, so that what several are worth to a bidder is not what
    each is. `budgets`: bidders have so much to spend.
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
            case Listed(bidders=bidders) | BiddersAsked(bidders=bidders):  # who bids, of a log of public events
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
        """Give the account of a bidder, or of the house."""
        if name == HOUSE:
            return self.house
        if name not in self.accounts:
            self.accounts[name] = Account()
        return self.accounts[name]

    def worth(self, bidder: str) -> Decimal | None:
        """Give what all that a bidder got is worth to it; None: nothing tells it."""
        units = self.account(bidder).units
        if self.bundles and len(units) > 1:
            return None
        worths = [count * worth for item, count in units.items() if (worth := self.worths.of(bidder, item)) is not None]
        return sum(worths, NOTHING) if len(worths) == len(units) else None

    def profit(self, bidder: str) -> Decimal | None:
        """Give what a bidder's things are worth to it and what it received, less what it paid; None: not known."""
        mine, worth = self.account(bidder), self.worth(bidder)
        return None if worth is None else worth + mine.received - mine.spent

    def profits(self) -> dict[str, Decimal | None]:
        """Give everyone's profit, the highest first, and those that are not known last; equals are in seat order."""
        found = {bidder: self.profit(bidder) for bidder in self.accounts}
        return dict(sorted(found.items(), key=lambda one: (one[1] is None, -(one[1] or 0))))

    def holders(self) -> dict[str, list[str]]:
        """Give, by item, who got some of it."""
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
    """Fold a log, as far as it goes."""
    return told_by(entry.event for entry in entries)


def told_by(events: Iterable[Event]) -> Outcomes:
    """Fold events, such as those that one bidder has seen."""
    found = Outcomes()
    for event in events:
        found.note(event)
    return found


@dataclass(frozen=True, slots=True)
class TraderStanding:
    """How a bidder did in a game that brings no standings; dollars, and profit is None where a worth is not told."""

    bidder: str
    items_won: int
    spent: Decimal
    received: Decimal
    profit: Decimal | None


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """How an item went: who got some of it, and what they paid for it in all, fees left out (None: nothing)."""

    name: str
    winners: tuple[str, ...]
    price: Decimal | None


def standings(entries: Sequence[Entry]) -> list[TraderStanding]:
    """Rank the bidders by profit, those whose profit is not known last; equals are in seat order."""
    told = outcomes(entries)
    return [
        TraderStanding(bidder, len(mine.units), mine.spent, mine.received, profit)
        for bidder, profit in told.profits().items()
        for mine in (told.accounts[bidder],)
    ]


def items(entries: Sequence[Entry]) -> list[ItemOutcome]:
    """List the items that are over."""
    told, found = outcomes(entries), []
    for item, holders in told.holders().items():
        paid = [told.accounts[bidder].paid[item] for bidder in holders if item in told.accounts[bidder].paid]
        found.append(ItemOutcome(item, tuple(holders), sum(paid, NOTHING) if paid else None))
    return found


class Sale(NamedTuple):
    """Who got an item, and the dollars that it paid for it."""

    winner: str
    price: Decimal


def sales(told: Outcomes) -> dict[str, Sale]:
    """Give the items that one bidder got all of, in the order in which they went."""
    only = {item: holders[0] for item, holders in told.holders().items() if len(holders) == 1}
    return {item: Sale(winner, told.accounts[winner].paid.get(item, NOTHING)) for item, winner in only.items()}


def ranks(profits: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Rank bidders by profit, 1 is the best; equal profits share the best rank. Empty if a profit is not known."""
    known = {bidder: profit for bidder, profit in profits.items() if profit is not None}
    if len(known) < len(profits):
        return {}
    order = sorted(known.values())
    return {bidder: 1 + len(order) - bisect_right(order, profit) for bidder, profit in known.items()}


def held(number: int, seed: int, log: Sequence[Entry]) -> AuctionHeld:
    """Give what the log of a series says of an auction."""
    profits = outcomes(log).profits()
    return AuctionHeld(
        auction=number,
        seed=seed,
        ranks=ranks(profits),
        profits={bidder: profit for bidder, profit in profits.items() if profit is not None},
        learnings={learned.bidder: learned.learnings for learned in of_type(log, Learned)},
    )


def estimates_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Give a bidder's own estimates in dollars by item."""
    return next(event.values for event in seen if isinstance(event, Signal))


def values_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Give the true values in dollars that were revealed, by item."""
    return {event.item: event.true_value for event in seen if isinstance(event, WorthTold)}


def revealed(parts: Iterable[Part]) -> dict[str, Decimal]:
    """Give the true values in dollars that were revealed of these parts of a game, by item."""
    return {part.item: part.true_value for part in parts if part.true_value is not None}


def truth_per_estimate(estimates: Mapping[str, Decimal], values: Mapping[str, Decimal]) -> Decimal | None:
    """Give the true dollars per estimated dollar of the items whose true value was revealed; None if none was."""
    estimated = sum((estimates[item] for item in values), Decimal(0))
    return sum(values.values(), Decimal(0)) / estimated if estimated else None
