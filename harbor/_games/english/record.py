"""How a log of the ascending auction is checked: the lots, budgets, values and options that its events tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_UP, Decimal

from harbor._core.events import (
    BiddersAsked,
    BidPlaced,
    Event,
    ItemLabelled,
    ItemOpened,
    ItemSold,
    Lot,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._core.money import DOLLAR
from harbor._games.english.rules import English, ValuedLot
from harbor._games.english.settings import EnglishRules
from harbor._games.record import Events, Record, Settings, budgets_of

LEAST_SHARE = Decimal("1e-18")


def rules(events: Events, settings: Settings) -> English:
    """Give the rules of the sale that opened, with the settings, or with options that explain the prices."""
    opened = next(event for event in events if isinstance(event, SaleOpened))
    listed = settings.items if settings and isinstance(settings.items, tuple) else opened.lots
    lots = [Lot(item.name, item.start, item.listing) for item in listed]
    values = {event.item: event.true_value for event in events if isinstance(event, ItemLabelled)}
    values = values or {event.item: event.true_value for event in events if isinstance(event, ValueRevealed)}
    options = settings.rules if settings and isinstance(settings.rules, EnglishRules) else _options(events, opened)
    budgets = budgets_of(events) or least_budgets(events, opened.bidders)
    return English(tuple(ValuedLot(lot, values.get(lot.name, Decimal(0))) for lot in lots), budgets, options)


def least_budgets(events: Iterable[Event], bidders: Iterable[str]) -> Mapping[str, Decimal]:
    """Give the least budgets that the events allow: each bidder could pay what it was asked for and what it bid.

    A smaller budget can't be; if these are too great for a withdrawal of who can't pay, the log contradicts itself.
    """
    least = dict.fromkeys(bidders, Decimal(0))
    spent: Counter[str] = Counter()
    minimum = increment = Decimal(0)
    for event in events:
        match event:
            case ItemOpened() | PriceLowered():
                minimum, increment = event.start, event.increment
            case RoundClosed(price=price):
                minimum = price + increment
            case BiddersAsked(bidders=asked):
                least |= {name: max(least.get(name, minimum), spent[name] + minimum) for name in asked}
            case BidPlaced(bidder=bidder, amount=amount):
                least[bidder] = max(least.get(bidder, amount), spent[bidder] + amount)
            case ItemSold(winner=winner, price=price):
                spent[winner] += price  # type: ignore[assignment]
    return {name: least[name] for name in bidders}


def _options(events: Events, opened: SaleOpened) -> EnglishRules:
    """Give the options that explain the raises and the lowered prices, as far as any can."""
    raises = [(event.start, event.increment) for event in events if isinstance(event, ItemOpened | PriceLowered)]
    lowered = list(_lowered(events))
    lowerings = Counter(item for item, _, _ in lowered)
    return EnglishRules(
        increment_share=_share(raises),
        lowerings=max(lowerings.values(), default=0),
        lowering_share=1 - _share((before, after) for _, before, after in lowered),
        reveal=opened.reveal,
    )


def _lowered(events: Events) -> Iterator[tuple[str, Decimal, Decimal]]:
    """Give the item, the price before and the price after of each lowering."""
    price: dict[str, Decimal] = {}
    for event in events:
        if isinstance(event, PriceLowered) and event.item in price:
            yield event.item, price[event.item], event.start
        if isinstance(event, ItemOpened | PriceLowered):
            price[event.item] = event.start


def _share(pairs: Iterable[tuple[Decimal, Decimal]]) -> Decimal:
    """Give the least share of which all these parts, cut to whole dollars and at least one, can be."""
    least = [(part / whole).quantize(LEAST_SHARE, ROUND_UP) for whole, part in pairs if whole > 0 and part > DOLLAR]
    return min(max(least, default=LEAST_SHARE), 1 - LEAST_SHARE)


def unchecked(events: Events, settings: Settings) -> tuple[str, ...]:
    """Say what is taken as told."""
    said = [] if settings else ["starting prices, raises, lowered prices and listings are taken as the log tells them"]
    if not budgets_of(events):
        said.append("budgets are private: that bids are within them is checked only as far as withdrawals tell")
        said.append("true values are taken as the log reveals them")
    return tuple(said)


RECORD = Record(rules=rules, unchecked=unchecked)
