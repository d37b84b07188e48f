"""The settings of the English auction with private values."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from harbor._core.settings import Share
from harbor._games.sessions.settings import ValueRules


class EnglishPrivateRules(ValueRules):
    """A private-value English auction: the price rises round by round, and bidders drop out.

    Attributes:
        step_share: By how much the price rises per round, as a share of the assets.
    """

    public: ClassVar[frozenset[str]] = ValueRules.public | frozenset({"step_share"})

    game: str = "english-private"
    step_share: Share = Decimal("0.05")
