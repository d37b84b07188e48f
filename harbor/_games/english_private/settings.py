"""The settings of the English auction with private values."""

from __future__ import annotations

from decimal import Decimal

from harbor._core.settings import Share
from harbor._games.sessions.settings import ValueRules


class EnglishPrivateRules(ValueRules):
    """A private-value English auction: the price rises by `step_share` of the assets per round; bidders drop out."""

    game: str = "english-private"
    step_share: Share = Decimal("0.05")
