"""How a log of the Dutch auction is checked: what its events tell of the rules, and who accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from clock_auction.rules import Dutch, DutchOpened, DutchRules, FlowerSold, PriceCalled
from harbor import Item
from harbor.events import BiddersAsked, BidderSeated, Event, Lot
from harbor.games import Accept, Action, Ask, AuctionConfig, Record, Wait


def rules(events: Sequence[Event], settings: AuctionConfig | None) -> Dutch:
    """Give the rules that a log tells, and the settings beside it, if they are there."""
    opened = next(event for event in events if isinstance(event, DutchOpened))
    if settings is None:
        return Dutch(opened.lots, _budgets(events, opened), _options(events, opened))
    lots = tuple(Lot(item.name, item.start, item.listing) for item in settings.items if isinstance(item, Item))
    return Dutch(lots, _budgets(events, opened), DutchRules.model_validate(settings.rules))


def _budgets(events: Sequence[Event], opened: DutchOpened) -> Mapping[str, Decimal]:
    """Give the budgets; in a public log, the least with which everybody could pay what it was asked for."""
    seated = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    least, spent = dict.fromkeys(opened.bidders, Decimal(0)), Counter[str]()
    # a price that nobody could pay would have fallen: somebody can, though nobody is asked yet
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


def _options(events: Sequence[Event], opened: DutchOpened) -> DutchRules:
    """Take how prices begin and fall from the first price, and the first that fell."""
    reserve = {lot.name: lot.start for lot in opened.lots}
    called = [event for event in events if isinstance(event, PriceCalled)]
    firsts = [event.price / reserve[event.item] for event in called[:1]]
    falls = [(a.price - b.price) / reserve[a.item] for a, b in pairwise(called) if a.item == b.item]
    return DutchRules(first_multiple=max([Decimal(1), *firsts]), step_share=min([Decimal(1), *falls[:1]]))


def actions(asks: Sequence[Ask], events: Sequence[Event]) -> dict[str, Action]:
    """Give who accepted: the winner. Of several who did, the lot chose it, and nothing tells of the others."""
    winners = {event.winner for event in events if isinstance(event, FlowerSold)}
    return {ask.bidder: Accept() if ask.bidder in winners else Wait() for ask in asks}


def unchecked(events: Sequence[Event], settings: AuctionConfig | None) -> tuple[str, ...]:
    """Say what is taken as told."""
    told = "who else accepted a price at which an item was sold"
    return (told,) if settings else (told, "lots and the fall of prices are taken as the log tells them")


RECORD = Record(rules=rules, actions=actions, unchecked=unchecked)
