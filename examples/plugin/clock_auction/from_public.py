"""The rules of a Dutch auction, made from its log, which may hold public events alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from clock_auction.rules import Dutch, DutchOpened, DutchRules, FlowerSold, PriceCalled
from harbor.events import BiddersAsked, BidderSeated, Event


def from_public(rules: DutchRules, events: Sequence[Event]) -> Dutch:
    """Make the rules of the opened auction."""
    opened = next(event for event in events if isinstance(event, DutchOpened))
    return Dutch(opened.lots, _budgets(events, opened), rules)


def _budgets(events: Sequence[Event], opened: DutchOpened) -> Mapping[str, Decimal]:
    """Return the budgets. In a public log, return the least budgets with which all could pay their asked prices."""
    seated = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    least, spent = dict.fromkeys(opened.bidders, Decimal(0)), Counter[str]()
    # a price that no bidder could pay would have fallen: some bidder can pay it, though none is asked yet
    price = called = Decimal(0)
    for event in events:
        if isinstance(event, PriceCalled):
            price = called = event.price
        if isinstance(event, BiddersAsked):
            called = Decimal(0)
            least |= {name: max(least.get(name, 0), spent[name] + price) for name in event.bidders}
        if isinstance(event, FlowerSold) and event.winner:
            spent[event.winner] += event.price
    richest = max(least, key=lambda name: least[name] - spent[name])
    return seated or {**least, richest: max(least[richest], spent[richest] + called)}
