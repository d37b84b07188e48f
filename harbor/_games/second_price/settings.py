"""The settings of the second-price auction."""

from __future__ import annotations

from harbor._games.sessions.settings import ValueRules


class SecondPriceRules(ValueRules):
    """A second-price sealed-bid auction: the highest bid wins and pays the second-highest."""

    game: str = "second-price"
