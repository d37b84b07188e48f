"""The settings of the beauty contest."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from harbor._core.settings import Dollars, Number
from harbor._games.sessions.settings import SessionRules


def _fraction(given: Any) -> Any:
    """Read a fraction written as "2/3", 0.5 or 1."""
    if isinstance(given, bool) or not isinstance(given, str | int | float | Decimal | Fraction):
        raise ValueError("is not a fraction; write one, such as '2/3' or 0.5")
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError("is not a fraction; write one, such as '2/3' or 0.5") from error


Ratio = Annotated[Fraction, BeforeValidator(_fraction), PlainSerializer(str, when_used="json")]
"""An exact fraction, written as "2/3" in files."""


class BeautyRules(SessionRules):
    """The settings of a session of beauty contests.

    Each bidder picks a number from 0 to `bound`, and the number closest to `fraction` times the mean of all numbers
    wins `prize`. If several numbers are equally close, their bidders share the prize. There is no entrance fee.

    Attributes:
        fraction: The fraction of the mean that wins, such as "2/3" or 0.5.
        bound: The highest number that may be picked.
        group: The range from which `bound` is drawn, if it is not given: "L" from 10 to 99, "M" from 100 to 999, "H"
            from 1,000 to 9,999.
        prize: The prize of a run, in dollars.
    """

    public: ClassVar[frozenset[str]] = SessionRules.public | frozenset({"fraction", "prize"})

    game: str = "beauty"
    fraction: Annotated[Ratio, Field(gt=0, le=1)] = Fraction(2, 3)
    bound: Annotated[Number, Field(gt=0, le=10**6, decimal_places=6)] = Decimal(100)
    group: Literal["L", "M", "H"] | None = None
    prize: Dollars = Decimal(100)

    @model_validator(mode="after")
    def _one_bound(self) -> BeautyRules:
        if self.group and self.bound != BeautyRules.model_fields["bound"].default:
            raise ValueError(f"group {self.group!r} draws the bound, so bound {self.bound:f} is not used; drop one")
        return self
