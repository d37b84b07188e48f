"""The settings of the first-price auction."""

from __future__ import annotations

from harbor._games.sessions.settings import ValueRules


class FirstPriceRules(ValueRules):
    """A first-price sealed-bid auction: the highest bid wins and pays its own bid."""

    game: str = "first-price"
