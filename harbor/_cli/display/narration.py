"""What a person in a seat is told, line by line: the news, what only it knows, and how things stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from harbor._core.events import Event, ItemSold, SaleOpened, ValueRevealed
from harbor._core.money import dollars
from harbor._core.outcomes import Signal
from harbor._house.people import Call


def situation(call: Call) -> list[str]:
    """Tell what a person should have before its eyes when something new is for sale."""
    return [*_item(call.ask.item, call.seen), *_standings(call.seen)]


def _item(item: str, seen: Sequence[Event]) -> Iterator[str]:
    for event in seen:
        if isinstance(event, SaleOpened):
            yield from (f"{lot.name}: {lot.listing}" for lot in event.lots if lot.name == item and lot.listing)
        elif isinstance(event, Signal) and event.noisy and item in event.values:
            yield f"Your estimate: {dollars(event.values[item])}."


def own_items(name: str, seen: Sequence[Event]) -> Iterator[str]:
    """Tell what a bidder has bought, item by item."""
    values = {event.item: event.true_value for event in seen if isinstance(event, ValueRevealed)}
    for event in seen:
        if isinstance(event, ItemSold) and event.winner == name:
            worth = f", worth {dollars(values[event.item])}" if event.item in values else ""
            yield f"You bought {event.item} for {dollars(event.price)}{worth}."


def _standings(seen: Sequence[Event]) -> Iterator[str]:
    """Tell what each winner has won, spent and, where values are revealed, earned."""
    values = {event.item: event.true_value for event in seen if isinstance(event, ValueRevealed)}
    won: dict[str, list[ItemSold]] = {}
    for event in seen:
        if isinstance(event, ItemSold):
            won.setdefault(event.winner, []).append(event)
    for winner, wins in won.items():
        spent, items = sum((win.price for win in wins), Decimal(0)), "item" if len(wins) == 1 else "items"
        earned = sum((values[win.item] - win.price for win in wins if win.item in values), Decimal(0))
        yield f"So far {winner}: {len(wins)} {items} for {dollars(spent)}" + (
            f", profit {dollars(earned)}." if values else "."
        )
