"""A sale of an ascending auction as its log tells it, for logs that are written by hand."""

from __future__ import annotations

from decimal import Decimal

from harbor._core.log.acts import HOUSE, Allocated, Paid
from harbor._core.log.events import Event
from harbor._games.english.events import ItemSold


def sold(item: str, winner: str, price: Decimal) -> tuple[Event, ...]:
    """Give the item to the winner, its money to the house, and let the hammer fall."""
    return Allocated(winner, item), Paid(winner, HOUSE, item, price), ItemSold(item, winner, price)
