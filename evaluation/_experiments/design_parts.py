"""Parts of a design: published numbers, planned comparisons, deviations, stand-ins, and prices of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from harbor._core.settings import Settings
from harbor.evaluation._experiments.variations import SLOT

EVERYONE = "everyone"
"""The bidder name of an estimate or a comparison over all bidders of a game: their mean."""

TRUESKILL, PER_GAME = RATINGS = ("trueskill", "trueskill_per_game")
"""Ratings of bidders by their ranks: carried from game to game, and after each game alone."""


class PublishedValue(Settings):
    """A published number and the games that it describes.

    If the paper does not name the arm or the condition, the field is empty, and the number is shown beside each of
    ours.

    Attributes:
        value: The number.
        arm: Its arm.
        condition: Its condition.
        bidder: Its bidder; by default the mean of all.
        about: The rival or kind that it is about.
        at: Its item, day or auction.
        n: Number of games behind it.
        sd: Standard deviation over these games, if the paper prints one.
    """

    public: ClassVar[frozenset[str]] = frozenset({"about", "arm", "at", "bidder", "condition", "n", "sd", "value"})

    value: float
    arm: str = ""
    condition: str = ""
    bidder: str = EVERYONE
    about: str = ""
    at: int | None = None
    n: int | None = Field(None, ge=1)
    sd: float | None = Field(None, ge=0)

    def is_beside(self, arm: str, condition: str) -> bool:
        """Return whether the number is shown beside this arm under this condition."""
        return self.arm in ("", arm) and self.condition in ("", condition)


class Published(Settings):
    """Numbers that a paper prints for one model, or that follow from theory.

    Attributes:
        source: The place where they are printed.
        model: The model that produced them, or the theory behind them.
        metric: Their metric; a correlation of metrics a and b is called "a ~ b".
        values: The numbers.
        n: Number of games behind each, unless it has an `n` of its own.
        note: Further facts about them.
        derived: Whether they follow from theory, as the error of a uniform guess does: no model produced them.
    """

    public: ClassVar[frozenset[str]] = frozenset({"derived", "metric", "model", "n", "source", "values"})

    source: str
    model: str
    metric: str
    values: tuple[PublishedValue, ...] = Field(min_length=1)
    n: int | None = Field(None, ge=1)
    note: str = ""
    derived: bool = False

    @property
    def produced_by(self) -> str:
        """The model, or its theory after "derived: "."""
        return f"derived: {self.model}" if self.derived else self.model

    def games(self, value: PublishedValue) -> int | None:
        """Return the number of games behind a value (None: the paper does not say)."""
        return value.n or self.n


class Deviation(Settings):
    """A departure of a design from its paper.

    Attributes:
        what: The difference, with both sides of it.
        why: The reason.
        effect: The consequence.
    """

    public: ClassVar[frozenset[str]] = frozenset({"effect", "what", "why"})

    what: str = Field(min_length=1)
    why: str = Field(min_length=1)
    effect: str = Field(min_length=1)


class StandIn(Settings):
    """A substitute for a part of the published experiment.

    Attributes:
        wants: The published part.
        uses: The substitute here.
        slot: "@1", "@2" ... if the user can name a model instead.
    """

    public: ClassVar[frozenset[str]] = frozenset({"slot", "uses", "wants"})

    wants: str
    uses: str
    slot: str = Field("", pattern=rf"^({SLOT.pattern})?$")


class Side(Settings):
    """One side of a comparison.

    Attributes:
        metric: The metric of this side, in place of that of the comparison; its unit is the same.
        arm: Its arm.
        condition: Its condition.
        bidder: Its bidder; by default the mean of everyone.
    """

    public: ClassVar[frozenset[str]] = frozenset({"arm", "bidder", "condition", "metric"})

    metric: str | None = None
    arm: str | None = None
    condition: str | None = None
    bidder: str = EVERYONE


class Comparison(Settings):
    """A planned comparison of one metric, or of two: `of` minus `against`, paired by repeat.

    If neither side names an arm (or a condition), there is one comparison in each arm (or condition).

    Attributes:
        metric: Metric of both sides, unless a side has its own.
        of: The minuend.
        against: The subtrahend.
    """

    public: ClassVar[frozenset[str]] = frozenset({"against", "metric", "of"})

    metric: str
    of: Side = Side()
    against: Side = Side()

    @model_validator(mode="after")
    def _open_on_both_sides(self) -> Comparison:
        for name in ("arm", "condition"):
            if (getattr(self.of, name) is None) != (getattr(self.against, name) is None):
                raise ValueError(f"only one side of the comparison of {self.metric!r} names its {name}; name both")
        one, other = (side.model_copy(update={"metric": None}) for side in (self.of, self.against))
        if one == other and len(set(self.metrics)) == 1:
            raise ValueError(f"the comparison of {self.metric!r} has two equal sides; name the difference")
        return self

    @property
    def metrics(self) -> tuple[str, str]:
        """The metrics of both sides."""
        return self.of.metric or self.metric, self.against.metric or self.metric


class ModelPrice(Settings):
    """The price of a model in dollars per million tokens.

    Attributes:
        input_price: Input.
        cached_price: Input from the provider's cache; None: the price of other input.
        output_price: Output.
    """

    input_price: float = Field(ge=0, allow_inf_nan=False)
    cached_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    output_price: float = Field(ge=0, allow_inf_nan=False)


def price_key(use: str, base_url: str | None) -> str:
    """Return the key of a model in a design's prices. The same model may cost more on another server.

    >>> price_key("openai:gpt-4.1", None)
    'openai:gpt-4.1'
    """
    return f"{use} at {base_url}" if base_url else use


def priced(settings: Mapping[str, Any], prices: Mapping[str, ModelPrice]) -> dict[str, Any]:
    """Add the design's prices to a model's settings if they lack prices. A cached price belongs to an input price."""
    listed = prices.get(price_key(str(settings.get("use")), settings.get("base_url")))
    own = {"cached_price"} if settings.get("input_price") is not None else set[str]()
    return (listed.model_dump(exclude=own) if listed else {}) | dict(settings)
