"""A turn of a sale by hand, as the auctioneer runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harbor._core.asking.asks import Action, Ask
from harbor._core.log.events import Event
from harbor._house.auctioneer import Sale


def take_turn(sale: Sale[Any], actions: Mapping[str, Action], asks: Sequence[Ask] | None = None) -> list[Event]:
    """Record the actions of all asked bidders and the events that follow. `asks` are the open asks, if known."""
    sale.act(sale.asks() if asks is None else asks, actions)
    return sale.settle(actions)
