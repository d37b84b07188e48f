"""What papers have published, as an experiment's design says it: numbers, and what stands in for what they had."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from harbor._core.settings import Settings
from harbor.evaluation._experiments.slots import SLOT

EVERYONE = "everyone"
"""The bidder name of an estimate or a comparison over all bidders of a game: their mean."""

TRUESKILL, PER_GAME = RATINGS = ("trueskill", "trueskill_per_game")
"""The ratings of bidders by their ranks: carried from game to game, and after each game alone."""


class PublishedValue(Settings):
    """A published number and what it is of.

    Where the paper does not tell the arm or the condition, it is left out, and the number is shown beside each of
    ours.

    Attributes:
        value: The number.
        arm: The arm that it is of.
        condition: The condition that it is of.
        bidder: The bidder that it is of; without it, the mean of all.
        about: The rival or kind that it is about.
        at: The item, day or auction that it is of.
        n: How many games it is of.
        sd: Their standard deviation, where the paper tells.
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
        """Tell whether it is shown beside this arm under this condition."""
        return self.arm in ("", arm) and self.condition in ("", condition)


class Published(Settings):
    """Numbers that a paper prints for one model, or that follow from theory.

    Attributes:
        source: Where they are printed.
        model: The model that they are of, or what they are derived from.
        metric: What they are of; a correlation of metrics a and b is called "a ~ b".
        values: The numbers.
        n: How many games each is of, unless it has an `n` of its own.
        note: What else has to be known of them.
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
        """The model, or a word that none produced the numbers."""
        return f"derived: {self.model}" if self.derived else self.model

    def games(self, value: PublishedValue) -> int | None:
        """Give how many games a number is of (None: the paper does not tell)."""
        return value.n or self.n


class Deviation(Settings):
    """Where a design departs from the paper.

    Attributes:
        what: What is otherwise, here and there.
        why: Why.
        effect: What follows from it.
    """

    public: ClassVar[frozenset[str]] = frozenset({"effect", "what", "why"})

    what: str = Field(min_length=1)
    why: str = Field(min_length=1)
    effect: str = Field(min_length=1)

    @property
    def words(self) -> str:
        """The deviation in one line."""
        return f"{self.what} Why: {self.why} Effect: {self.effect}"


class StandIn(Settings):
    """A substitute for what the published experiment had.

    Attributes:
        wants: What it had.
        uses: What replaces it here.
        slot: "@1", "@2" ... where the user can name a model instead.
    """

    public: ClassVar[frozenset[str]] = frozenset({"slot", "uses", "wants"})

    wants: str
    uses: str
    slot: str = Field("", pattern=rf"^({SLOT.pattern})?$")
