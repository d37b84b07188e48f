"""A turn of a sale by hand, as the auctioneer takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harbor._core.actions import Action
from harbor._core.events import Event
from harbor._house.sale import Sale


def take_turn(sale: Sale[Any], actions: Mapping[str, Action]) -> list[Event]:
    """Record what everyone who is asked did, and what follows from it."""
    sale.act(sale.asks(), actions)
    return sale.settle(actions)
