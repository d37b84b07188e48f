"""What papers have published, as an experiment's design says it: numbers, and what stands in for what they had."""

from __future__ import annotations

from pydantic import Field

from harbor._core.settings import Settings
from harbor.evaluation._experiments.slots import SLOT

EVERYONE = "everyone"
"""The bidder name of an estimate or a comparison over all bidders of a game: their mean."""


class PublishedValue(Settings):
    """A published number and what it is of: arm, condition, bidder, subject (`about`) and place (`at`).

    Where the paper does not tell the arm or the condition, it is left out, and the number is shown beside each of ours.
    """

    value: float
    arm: str = ""
    condition: str = ""
    bidder: str = EVERYONE
    about: str = ""
    at: int | None = None
    sd: float | None = None

    def is_beside(self, arm: str, condition: str) -> bool:
        """Tell whether it is shown beside this arm under this condition."""
        return self.arm in ("", arm) and self.condition in ("", condition)


class Published(Settings):
    """Numbers that a paper prints for one model; a correlation of metrics a and b is called "a ~ b"."""

    source: str
    model: str
    metric: str
    values: tuple[PublishedValue, ...] = Field(min_length=1)
    note: str = ""


class StandIn(Settings):
    """A substitute: what the published experiment had (`wants`) and what replaces it here (`uses`).

    `slot` is "@1", "@2" ... where the user can name a model instead.
    """

    wants: str
    uses: str
    slot: str = Field("", pattern=rf"^({SLOT.pattern})?$")
