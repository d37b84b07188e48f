"""The settings that all games played in sessions share, and those of auctions with private values."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harbor._config.rules import RuleSettings
from harbor._core.settings import Dollars, Name, Number


class SessionRules(RuleSettings):
    """A session of `runs` one-shot games.

    `show` is what becomes public after a run. `history` is how many past runs a bidder is shown (0: none).
    `rational_rivals`: everyone is told that the others are perfectly rational.
    Source: EconArena, sec. 3 and A.
    """

    runs: int = Field(6, ge=1, le=10_000)
    show: Literal["nothing", "actions", "actions and values"] = "actions"
    history: int = Field(3, ge=0)
    rational_rivals: bool = False

    @property
    def shown(self) -> Literal["nothing", "actions", "actions and values"]:
        """What is shown of a run: nothing if no run is shown."""
        return self.show if self.history else "nothing"


class ValueRules(SessionRules):
    """A session of auctions with private values.

    Values are drawn for each run from the distribution of `group`, or given: `values` has one value per run, or one for
    all runs, by bidder. `assets` is what everyone can spend in a run, in dollars (None: the group's; $100 if values are
    given). A bidder whose every attempt to answer a call fails pays `entrance_fee_share` of the assets; a failed bid
    that it corrects costs nothing.
    """

    group: Literal["L", "M", "H"] = "L"
    values: dict[Name, Annotated[tuple[Dollars, ...], Field(min_length=1)]] = Field(default_factory=dict)
    assets: Dollars | None = None
    entrance_fee_share: Annotated[Number, Field(ge=0, le=1)] = Decimal("0.1")

    @model_validator(mode="after")
    def _one_source_of_values(self) -> ValueRules:
        if self.values and self.group != "L":
            raise ValueError(f"group {self.group!r} draws no values if values are given; drop group, or values")
        return self
