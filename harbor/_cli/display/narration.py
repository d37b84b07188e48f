"""What a person in a seat is told, line by line: the news, what only it knows, and how things stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from harbor._core.events import Event, Listed
from harbor._core.money import dollars
from harbor._core.outcomes import Signal
from harbor._games.outcomes import Sale, sales, told_by
from harbor._games.revealed import values_of
from harbor._house.people import Call


def situation(call: Call) -> list[str]:
    """Tell what a person should have before its eyes when something new is for sale."""
    return [*_item(call.ask.item, call.seen), *_standings(call.seen)]


def _item(item: str, seen: Sequence[Event]) -> Iterator[str]:
    for event in seen:
        if isinstance(event, Listed):
            yield from (f"{lot.name}: {lot.listing}" for lot in event.lots if lot.name == item and lot.listing)
        elif isinstance(event, Signal) and event.noisy and item in event.values:
            yield f"Your estimate: {dollars(event.values[item])}."


def own_items(name: str, seen: Sequence[Event]) -> Iterator[str]:
    """Tell what a bidder has bought, item by item."""
    values = values_of(seen)
    for item, sale in _listed_sales(seen).items():
        if sale.winner == name:
            worth = f", worth {dollars(values[item])}" if item in values else ""
            yield f"You bought {item} for {dollars(sale.price)}{worth}."


def _standings(seen: Sequence[Event]) -> Iterator[str]:
    """Tell what each winner has won, spent and, where values are revealed, earned."""
    values, won = values_of(seen), dict[str, dict[str, Decimal]]()
    for item, sale in _listed_sales(seen).items():
        won.setdefault(sale.winner, {})[item] = sale.price
    for winner, wins in won.items():
        spent, items = sum(wins.values(), Decimal(0)), "item" if len(wins) == 1 else "items"
        earned = sum((values[item] - price for item, price in wins.items() if item in values), Decimal(0))
        yield f"So far {winner}: {len(wins)} {items} for {dollars(spent)}" + (
            f", profit {dollars(earned)}." if values else "."
        )


def _listed_sales(seen: Sequence[Event]) -> dict[str, Sale]:
    """Give the sales of items that were listed before the game; runs and days have boards that tell them."""
    listed = {lot.name for event in seen if isinstance(event, Listed) for lot in event.lots}
    return {item: sale for item, sale in sales(told_by(seen)).items() if item in listed}
