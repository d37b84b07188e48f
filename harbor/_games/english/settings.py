"""The settings of the ascending auction."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harbor._config.rules import RuleSettings
from harbor._core.settings import Share


class EnglishRules(RuleSettings):
    """The rules of an ascending auction.

    Attributes:
        increment_share: The minimum raise, as a share of the starting price.
        lowerings: How often an item without a bid is offered again; a price of one dollar is not lowered.
        lowering_share: By which share its price is lowered then, cut to whole dollars.
        reveal: What is announced of an item after its sale.

    Source: Chen et al. 2023, sec. 3.1.
    """

    public: ClassVar[frozenset[str]] = RuleSettings.public | frozenset(
        {"increment_share", "lowerings", "lowering_share", "reveal"}
    )

    game: str = "english"
    increment_share: Share = Decimal("0.1")
    lowerings: int = Field(0, ge=0, le=3)
    lowering_share: Annotated[Share, Field(lt=1)] = Decimal("0.5")
    reveal: Literal["price", "true value"] = "true value"
