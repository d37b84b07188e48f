"""A sale in an ascending auction as its log records it, for logs written by hand."""

from __future__ import annotations

from decimal import Decimal

from harbor._core.log.acts import HOUSE, Allocated, Paid
from harbor._core.log.events import Event
from harbor._games.english.events import ItemSold


def sold(item: str, winner: str, price: Decimal) -> tuple[Event, ...]:
    """Return the events that move the item to the winner and its money to the house, and that close the item."""
    return Allocated(winner, item), Paid(winner, HOUSE, item, price), ItemSold(item, winner, price)
