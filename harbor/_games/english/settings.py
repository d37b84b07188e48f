"""The settings of the ascending auction."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from harbor._config.rules import RuleSettings
from harbor._core.settings import Share


class EnglishRules(RuleSettings):
    """The rules of an ascending auction.

    `increment_share` is the minimum raise as a share of the starting price. `lowerings` is how often an item without a
    bid is offered again, each time with its price lowered by `lowering_share`.
    Source: Chen et al. 2023, sec. 3.1.
    """

    game: str = "english"
    increment_share: Share = Decimal("0.1")
    lowerings: int = Field(0, ge=0, le=3)
    lowering_share: Annotated[Share, Field(lt=1)] = Decimal("0.5")
    reveal: Literal["price", "true value"] = "true value"
