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
    """A beauty contest: pick a number from 0 to `bound`; the number closest to `fraction` of the mean wins `prize`.

    Ties split the prize. There is no entrance fee.

    Attributes:
        fraction: The fraction of the mean, such as "2/3" or 0.5.
        bound: The greatest number that may be picked.
        group: Draws the bound instead: L from 10 to 99, M from 100 to 999, H from 1,000 to 9,999.
        prize: The dollars that the closest number wins.
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
