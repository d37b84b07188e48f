"""The rules of an ascending auction, made of what its log tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from harbor._core.acts import Acted
from harbor._core.asks import Bid
from harbor._core.events import BiddersAsked, BidderSeated, BidderWithdrew, Event, ItemLabelled
from harbor._games.english.events import ItemOpened, ItemSold, PriceLowered, RoundClosed, SaleOpened, ValueRevealed
from harbor._games.english.rules import English, ValuedLot
from harbor._games.english.settings import EnglishRules


def from_public(rules: EnglishRules, events: Sequence[Event]) -> English:
    """Make the rules of the sale that opened, with the budgets that the events tell, or the least that they allow."""
    opened = next(event for event in events if isinstance(event, SaleOpened))
    values = {event.item: event.true_value for event in events if isinstance(event, ItemLabelled)}
    values = values or {event.item: event.true_value for event in events if isinstance(event, ValueRevealed)}
    budgets = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    items = tuple(ValuedLot(lot, values.get(lot.name, Decimal(0))) for lot in opened.lots)
    return English(items, budgets or least_budgets(events, opened.bidders), rules)


def least_budgets(events: Iterable[Event], bidders: Sequence[str]) -> Mapping[str, Decimal]:
    """Give the least budgets that the events allow: each bidder could pay what it was asked for and what it bid.

    Who can't pay the minimum is taken out in seat order, so whoever sits before one that is taken out, and stays in,
    can pay it. A smaller budget can't be; if these are too great for a withdrawal of who can't pay, the log contradicts
    itself.
    """
    least = dict.fromkeys(bidders, Decimal(0))
    spent: Counter[str] = Counter()
    minimum = increment = Decimal(0)
    active, leader = set(bidders), ""

    def could_pay(names: Iterable[str], amount: Decimal) -> None:
        for name in names:
            least[name] = max(least.get(name, amount), spent[name] + amount)

    for event in events:
        match event:
            case ItemOpened() | PriceLowered():
                minimum, increment, active, leader = event.start, event.increment, set(bidders), ""
            case RoundClosed(price=price):
                minimum, leader = price + increment, event.leader
            case BiddersAsked(bidders=asked):
                could_pay(asked, minimum)
            case Acted(bidder=bidder, act=Bid(amount=amount)):
                could_pay([bidder], amount)
            case Acted(bidder=bidder):
                active.discard(bidder)
            case BidderWithdrew(bidder=bidder):
                could_pay([name for name in _before(bidder, bidders) if name in active - {leader}], minimum)
                active.discard(bidder)
            case ItemSold(winner=winner, price=price):
                spent[winner] += price  # type: ignore[assignment]
    return {name: least[name] for name in bidders}


def _before(bidder: str, bidders: Sequence[str]) -> Sequence[str]:
    return bidders[: bidders.index(bidder)] if bidder in bidders else ()
