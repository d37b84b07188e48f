"""What an experiment compares: two sides of one metric, or of two."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from harbor._core.settings import Settings
from harbor.evaluation._experiments.published import EVERYONE


class Side(Settings):
    """One side of a comparison.

    Attributes:
        metric: Replaces the metric of the comparison on this side, in the same unit.
        arm: Its arm.
        condition: Its condition.
        bidder: Its bidder; without it, the mean of everyone.
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
        metric: What is compared.
        of: The side that the other is taken from.
        against: The side that is taken from it.
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
            raise ValueError(f"the comparison of {self.metric!r} has two equal sides; name what differs")
        return self

    @property
    def metrics(self) -> tuple[str, str]:
        """The metric of each side."""
        return self.of.metric or self.metric, self.against.metric or self.metric
