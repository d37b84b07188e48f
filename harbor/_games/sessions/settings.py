"""The settings that all games played in sessions share, and those of auctions with private values."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harbor._config.rules import RuleSettings
from harbor._core.settings import Dollars, Name, Number


class SessionRules(RuleSettings):
    """A session of `runs` one-shot games.

    Attributes:
        runs: How many games.
        show: What becomes public after a run.
        history: How many past runs a bidder is shown (0: none).
        rational_rivals: Whether everyone is told that the others are perfectly rational.
        equal_rivals: Whether everyone is told that all are about equally rational.

    Source: EconArena, sec. 3 and A.
    """

    public: ClassVar[frozenset[str]] = RuleSettings.public | frozenset(
        {"equal_rivals", "history", "rational_rivals", "runs", "show"}
    )

    runs: int = Field(6, ge=1, le=10_000)
    show: Literal["nothing", "actions", "actions and values"] = "actions"
    history: int = Field(3, ge=0)
    rational_rivals: bool = False
    equal_rivals: bool = False

    @property
    def shown(self) -> Literal["nothing", "actions", "actions and values"]:
        """What is shown of a run: nothing if no run is shown."""
        return self.show if self.history else "nothing"

    @model_validator(mode="after")
    def _one_kind_of_rivals(self) -> Self:
        if self.rational_rivals and self.equal_rivals:
            raise ValueError("rational_rivals and equal_rivals tell players two things of their rivals; drop one")
        return self


class ValueRules(SessionRules):
    """A session of auctions with private values.

    Attributes:
        group: The distribution that values are drawn from; all are told so.
        draw: Whether values are drawn for each run, or once for all of them.
        values: The values instead of drawn ones, by bidder: one per run, or one for all runs.
        assets: What each can spend in a run; without it, the group's, or $100 if values are given.
        entrance_fee_share: What a bidder pays, as a share of the assets, whose every attempt to answer a call
            fails; a failed bid that it corrects costs nothing.
    """

    public: ClassVar[frozenset[str]] = SessionRules.public | frozenset({"draw", "entrance_fee_share"})

    group: Literal["L", "M", "H"] = "L"
    draw: Literal["each run", "once"] = "each run"
    values: dict[Name, Annotated[tuple[Dollars, ...], Field(min_length=1)]] = Field(default_factory=dict)
    assets: Dollars | None = None
    entrance_fee_share: Annotated[Number, Field(ge=0, le=1)] = Decimal("0.1")

    @model_validator(mode="after")
    def _one_source_of_values(self) -> ValueRules:
        if self.values and self.group != "L":
            raise ValueError(f"group {self.group!r} draws no values if values are given; drop group, or values")
        if self.values and self.draw != "each run":
            raise ValueError(f"draw {self.draw!r} draws no values if values are given; drop draw, or values")
        return self
