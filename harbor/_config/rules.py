"""The settings of the rules, one class per game; the setting `game` selects the class."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainSerializer, Tag, model_validator

from harbor._core.settings import TAG, Dollars, Name, Number, Settings, Share


def _fraction(given: Any) -> Any:
    """Take a fraction as it is written: "2/3", 0.5 or 1."""
    if isinstance(given, bool) or not isinstance(given, str | int | float | Decimal | Fraction):
        raise ValueError("is not a fraction; write one, such as '2/3' or 0.5")
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError("is not a fraction; write one, such as '2/3' or 0.5") from error


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


Ratio = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str, when_used="json")]
"""An exact fraction, written as "2/3" in files."""

Units = Annotated[int, Field(ge=0, le=10**6)]


class RuleSettings(Settings):
    """The settings of every game: `reasks` is how often a bidder is asked again after a failed bid."""

    reasks: int = Field(3, ge=0, le=20)


class EnglishRules(RuleSettings):
    """The rules of an ascending auction.

    `increment_share` is the minimum raise as a share of the starting price. `lowerings` is how often an item without a
    bid is offered again, each time with its price lowered by `lowering_share`.
    Source: Chen et al. 2023, sec. 3.1.
    """

    game: Literal["english"] = "english"
    increment_share: Share = Decimal("0.1")
    lowerings: int = Field(0, ge=0, le=3)
    lowering_share: Annotated[Share, Field(lt=1)] = Decimal("0.5")
    reveal: Literal["price", "true value"] = "true value"


class Resident(Settings):
    """What a resident needs per day, in units of water, and earns per day, in dollars."""

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

    `supply` is "low", "medium", "high" or two bounds, both included; each day's supply is drawn from it. `supplies`
    fixes the units of each day instead. `residents` contains a need and a salary for each bidder by name.
    Source: Alympics (Mao et al. 2024), sec. 3 and 4.
    """

    game: Literal["water"] = "water"
    days: int = Field(20, ge=1, le=1_000)
    supply: Annotated[tuple[Units, Units], BeforeValidator(_bounds), AfterValidator(_in_order)] = SUPPLIES["medium"]
    supplies: Annotated[tuple[Units, ...], Field(min_length=1)] | None = None
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


class SecondPriceRules(ValueRules):
    """A second-price sealed-bid auction: the highest bid wins and pays the second-highest."""

    game: Literal["second-price"] = "second-price"


class FirstPriceRules(ValueRules):
    """A first-price sealed-bid auction: the highest bid wins and pays its own bid."""

    game: Literal["first-price"] = "first-price"


class EnglishPrivateRules(ValueRules):
    """A private-value English auction: the price rises by `step_share` of the assets per round; bidders drop out."""

    game: Literal["english-private"] = "english-private"
    step_share: Share = Decimal("0.05")


class BeautyRules(SessionRules):
    """A beauty contest: pick a number from 0 to `bound`; the number closest to `fraction` of the mean wins `prize`.

    If `group` is given, the bound is drawn: L from 10 to 99, M from 100 to 999, H from 1,000 to 9,999. Ties split the
    prize. There is no entrance fee.
    """

    game: Literal["beauty"] = "beauty"
    fraction: Annotated[Ratio, Field(gt=0, le=1)] = Fraction(2, 3)
    bound: Annotated[Number, Field(gt=0, le=10**6, decimal_places=6)] = Decimal(100)
    group: Literal["L", "M", "H"] | None = None
    prize: Dollars = Decimal(100)

    @model_validator(mode="after")
    def _one_bound(self) -> BeautyRules:
        if self.group and self.bound != BeautyRules.model_fields["bound"].default:
            raise ValueError(f"group {self.group!r} draws the bound, so bound {self.bound:f} is not used; drop one")
        return self


def _game_of(rules: Any) -> Any:
    game = rules.get("game", "english") if isinstance(rules, dict) else getattr(rules, "game", "english")
    return f"{TAG}{game}"


AnyRules = Annotated[
    Annotated[EnglishRules, Tag(f"{TAG}english")]
    | Annotated[WaterRules, Tag(f"{TAG}water")]
    | Annotated[SecondPriceRules, Tag(f"{TAG}second-price")]
    | Annotated[FirstPriceRules, Tag(f"{TAG}first-price")]
    | Annotated[EnglishPrivateRules, Tag(f"{TAG}english-private")]
    | Annotated[BeautyRules, Tag(f"{TAG}beauty")],
    Discriminator(_game_of),
]
"""The rules of one game; without `game` they are those of the ascending auction."""
