"""Settings of sessions: those of all their games, and those of auctions with private values.

Private values are drawn from a distribution; bidders that are told it share it as their prior. A value is at least one
cent, and rounded to cents. The functions of a distribution describe its values before rounding; the difference is less
than the step of a bid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import erfc, sqrt
from random import Random
from statistics import NormalDist
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, WrapValidator, model_validator

from harbor._config.rules import RuleSettings
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import CENT, dollars, to_cents
from harbor._core.settings import TAG, Dollars, Name, Number, Settings

REACH = 9
"""Half width of the support in standard deviations: `Random.gauss` draws nothing beyond 8.6, as it uses 53 bits."""

SPREAD = 1
"""The least width of a distribution in dollars. With fewer than 100 distinct cents, rounding would distort it."""


class Normal(Settings):
    """The normal distribution, without its values below one cent, which are drawn again.

    Attributes:
        kind: Required: "normal".
        mean: Mean of the distribution before it is cut off, in dollars.
        deviation: Standard deviation of the distribution before it is cut off, in dollars; at least 1.
    """

    kind: Literal["normal"] = "normal"
    mean: Dollars
    deviation: Annotated[Dollars, Field(ge=SPREAD)]

    @property
    def words(self) -> str:
        """The distribution in words, for bidders."""
        return (
            f"the normal distribution with mean {dollars(self.mean)} and standard deviation {dollars(self.deviation)}, "
            "cut off below one cent"
        )

    @property
    def lowest(self) -> float:
        """The lower end of the support in dollars: one cent, or 9 standard deviations below the mean."""
        return max(float(CENT), float(self.mean - REACH * self.deviation))

    @property
    def highest(self) -> float:
        """The upper end of the support in dollars: 9 standard deviations above the mean."""
        return float(self.mean + REACH * self.deviation)

    def draw(self, rng: Random) -> Decimal:
        """Draw a value in dollars, in whole cents."""
        while (value := rng.gauss(float(self.mean), float(self.deviation))) < CENT:
            pass
        return to_cents(Decimal(repr(value)))

    def cdf(self, value: float) -> float:
        """Return the probability of a value of at most `value` dollars."""
        below = self._uncut(self.lowest)
        return min(1.0, max(0.0, self._uncut(value) - below) / (1 - below))

    def quantile(self, share: float) -> float:
        """Return the quantile in dollars for a probability from 0 to 1."""
        below = self._uncut(self.lowest)
        uncut = below + share * (1 - below)
        if not 0 < uncut < 1:
            return self.highest if uncut else self.lowest
        value = NormalDist(float(self.mean), float(self.deviation)).inv_cdf(uncut)
        return min(self.highest, max(self.lowest, value))

    def _uncut(self, value: float) -> float:
        return erfc((float(self.mean) - value) / float(self.deviation) / sqrt(2)) / 2


class Uniform(Settings):
    """The uniform distribution; a value that would round to 0 is one cent.

    Attributes:
        kind: Required: "uniform".
        low: Lower end of the distribution, in dollars.
        high: Upper end of the distribution, in dollars; at least $1 above the lower end.
    """

    kind: Literal["uniform"] = "uniform"
    low: Annotated[Number, Field(ge=0)]
    high: Dollars

    @model_validator(mode="after")
    def _has_a_width(self) -> Self:
        if self.high - self.low < SPREAD:
            raise ValueError(f"high {self.high:f} is not at least 1 above low {self.low:f}; set them further apart")
        return self

    @property
    def words(self) -> str:
        """The distribution in words, for bidders."""
        return f"the uniform distribution from {dollars(self.low)} to {dollars(self.high)}"

    @property
    def mean(self) -> Decimal:
        """Its mean in dollars."""
        return (self.low + self.high) / 2

    @property
    def deviation(self) -> Decimal:
        """Its standard deviation in dollars."""
        return to_cents((self.high - self.low) / Decimal(12).sqrt())

    @property
    def lowest(self) -> float:
        """The lower end of the support in dollars."""
        return float(self.low)

    @property
    def highest(self) -> float:
        """The upper end of the support in dollars."""
        return float(self.high)

    def draw(self, rng: Random) -> Decimal:
        """Draw a value in dollars, in whole cents."""
        return max(CENT, to_cents(Decimal(repr(rng.uniform(self.lowest, self.highest)))))

    def cdf(self, value: float) -> float:
        """Return the probability of a value of at most `value` dollars."""
        return min(1.0, max(0.0, (value - self.lowest) / (self.highest - self.lowest)))

    def quantile(self, share: float) -> float:
        """Return the quantile in dollars for a probability from 0 to 1."""
        return self.lowest + share * (self.highest - self.lowest)


KINDS = ("normal", "uniform")


def _known(given: Any, read: Callable[[Any], Any]) -> Any:
    """Refuse a value that is no distribution, with an example of one."""
    if not isinstance(given, Normal | Uniform):
        if not isinstance(given, dict) or "kind" not in given:
            raise ValueError('is no distribution; write { kind = "normal", mean = 50, deviation = 10 }, for example')
        if str(given["kind"]) not in KINDS:
            raise ValueError(unknown("distribution", str(given["kind"]), KINDS))
    try:
        return read(given)
    except ConfigError as error:  # in a log, whose readers expect a ValueError
        raise ValueError(str(error)) from error


def _kind(given: Any) -> str:
    return f"{TAG}{given['kind'] if isinstance(given, dict) else given.kind}"


Distribution = Annotated[
    Annotated[Normal, Tag(f"{TAG}normal")] | Annotated[Uniform, Tag(f"{TAG}uniform")],
    Discriminator(_kind),
    WrapValidator(_known),
]
"""The distribution of values: its `kind` and the numbers of that kind, in dollars."""


def distribution_of(told: Mapping[str, Any]) -> Distribution:
    """Return a distribution from its fields, as prompts tell them."""
    return Uniform(**told) if told["kind"] == "uniform" else Normal(**told)


GROUPS = {
    "L": Normal(mean=50, deviation=10),
    "M": Normal(mean=500, deviation=100),
    "H": Normal(mean=5_000, deviation=1_000),
}
"""The distributions of values in EconArena, sec. 4.2, in dollars. Its assets are twice the mean."""


class SessionRules(RuleSettings):
    """The settings of a session, in which the same bidders play a one-shot game several times.

    Attributes:
        runs: Number of times that the game is played.
        show: The facts of a run that become public after the run.
        history: Number of past runs that a bidder is shown; 0 shows none.
        rational_rivals: Whether bidders are told that all other bidders are perfectly rational.
        equal_rivals: Whether bidders are told that all bidders are about equally rational.

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
        """The facts of a run that become public; "nothing" if bidders are shown no past run."""
        return self.show if self.history else "nothing"

    @model_validator(mode="after")
    def _one_kind_of_rivals(self) -> Self:
        if self.rational_rivals and self.equal_rivals:
            raise ValueError("rational_rivals and equal_rivals tell players two things of their rivals; drop one")
        return self


class ValueRules(SessionRules):
    """The settings of a session of auctions in which each bidder has a private value for the item.

    Attributes:
        group: The published distribution from which values are drawn: "L" (low), "M" (medium) or "H" (high).
        distribution: Another distribution from which values are drawn, in place of a published one. If `values` is
            given too, the values count as draws from this distribution, one for each run.
        draw: Whether values are drawn anew for "each run", or "once" for all runs.
        values: The values in dollars, if they are not to be drawn: for each bidder one value per run, or one value for
            all runs.
        assets: Dollars that each bidder can spend in a run; by default twice the mean of the distribution, or $100 if
            values are given without a distribution.
        entrance_fee_share: Fee for a bidder if all its attempts to answer a call fail, as a share of the assets. A
            failed bid that the bidder corrects costs nothing.
    """

    public: ClassVar[frozenset[str]] = SessionRules.public | frozenset({"draw", "entrance_fee_share"})

    group: Literal["L", "M", "H"] = "L"
    distribution: Distribution | None = None
    draw: Literal["each run", "once"] = "each run"
    values: dict[Name, Annotated[tuple[Dollars, ...], Field(min_length=1)]] = Field(default_factory=dict)
    assets: Dollars | None = None
    entrance_fee_share: Annotated[Number, Field(ge=0, le=1)] = Decimal("0.1")

    @property
    def prior(self) -> Distribution | None:
        """The distribution of values that bidders are told; None if values are given without a distribution."""
        return None if self.values and self.distribution is None else self.source

    @property
    def money(self) -> Decimal:
        """The dollars that each bidder can spend in a run."""
        return self.assets or 2 * self.source.mean

    @property
    def source(self) -> Distribution:
        """The distribution from which values are drawn if they are not given."""
        return self.distribution or GROUPS[self.group]

    @model_validator(mode="after")
    def _one_source_of_values(self) -> ValueRules:
        if self.distribution and self.group != "L":
            raise ValueError(f"group {self.group!r} and distribution are two distributions of values; drop one")
        if self.values and self.group != "L":
            raise ValueError(f"group {self.group!r} draws no values if values are given; drop group, or values")
        if self.values and self.draw != "each run":
            raise ValueError(f"draw {self.draw!r} draws no values if values are given; drop draw, or values")
        return self
