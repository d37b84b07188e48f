"""The settings of the water game."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harbor._config.rules import RuleSettings
from harbor._core.settings import Dollars, Name, Settings


def _bounds(given: Any) -> Any:
    """Take two bounds of the supply, or the name of a supply."""
    if isinstance(given, str):
        if given not in SUPPLIES:
            raise ValueError("is not a supply; choose low, medium or high, or give two bounds")
        return SUPPLIES[given]
    return given


def _in_order(bounds: tuple[int, int]) -> tuple[int, int]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"runs from {bounds[0]} down to {bounds[1]}; put the lower bound first")
    return bounds


Units = Annotated[int, Field(ge=0, le=10**6)]


class Resident(Settings):
    """What a resident needs and earns per day.

    Attributes:
        need: Units of water per day.
        salary: Dollars per day.
    """

    need: int = Field(ge=1, le=10**6)
    salary: Dollars


RESIDENTS = {
    "Alex": Resident(need=8, salary=Decimal(70)),
    "Bob": Resident(need=9, salary=Decimal(75)),
    "Cindy": Resident(need=10, salary=Decimal(100)),
    "David": Resident(need=11, salary=Decimal(120)),
    "Eric": Resident(need=12, salary=Decimal(120)),
}
SUPPLIES = {"low": (10, 20), "medium": (15, 25), "high": (20, 30)}


class WaterRules(RuleSettings):
    """The Water Allocation Challenge.

    Attributes:
        days: How many days.
        supply: "low", "medium", "high" or two bounds, both included; each day's supply is drawn from it.
        supplies: The units of each day, instead of drawn ones.
        history: How many past days a resident is shown, or "all".
        residents: The need and the salary of each bidder, by name.

    Source: Alympics (Mao et al. 2024), sec. 3 and 4.
    """

    public: ClassVar[frozenset[str]] = RuleSettings.public | frozenset({"days", "history"})

    game: str = "water"
    days: int = Field(20, ge=1, le=1_000)
    supply: Annotated[tuple[Units, Units], BeforeValidator(_bounds), AfterValidator(_in_order)] = SUPPLIES["medium"]
    supplies: Annotated[tuple[Units, ...], Field(min_length=1)] | None = None
    history: Annotated[int, Field(ge=0)] | Literal["all"] = 5
    residents: Annotated[dict[Name, Resident], Field(min_length=1)] = RESIDENTS

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most supply of a day."""
        if self.supplies:
            return min(self.supplies), max(self.supplies)
        return self.supply

    @model_validator(mode="after")
    def _one_supply_per_day(self) -> WaterRules:
        if self.supplies and self.supply != WaterRules.model_fields["supply"].default:
            raise ValueError(f"supplies fix each day, so supply {list(self.supply)} is not used; drop one")
        if self.supplies and len(self.supplies) != self.days:
            raise ValueError(f"supplies has {len(self.supplies)} days, but days is {self.days}; make them equal")
        return self
