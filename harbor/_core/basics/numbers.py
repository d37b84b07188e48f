"""Money as exact decimals, counts in words, and random streams from one seed.

Money is dollars with at most two places, never a binary float.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256
from random import Random
from typing import Annotated

from pydantic import Field, PlainSerializer

CENT = Decimal("0.01")
DOLLAR = Decimal(1)
SMALL = 0.1
"""Costs below this many dollars are written to hundredths of a cent."""


def as_number(amount: Decimal) -> int | float:
    """Return an amount as a JSON number: an integer when whole, else with its cents.

    A float is exact enough for this: amounts of up to 13 digits before the point read back the same to the cent.
    """
    return int(amount) if amount == amount.to_integral_value() else float(amount)


NUMBER_IN_JSON = PlainSerializer(as_number, return_type=int | float, when_used="json")

MOST_DIGITS = 1_000
"""The greatest number of digits of a number, more than any model says.

Without a bound, ten characters ("1E+999999") would fill the memory.
"""

Money = Annotated[Decimal, Field(decimal_places=2, max_digits=MOST_DIGITS, allow_inf_nan=False), NUMBER_IN_JSON]
"""Any amount in dollars, including a loss."""

Claim = Annotated[Decimal, Field(max_digits=MOST_DIGITS, allow_inf_nan=False), NUMBER_IN_JSON]
"""An amount in dollars that a bidder or a model claims; it may be wrong, and finer than a cent."""

PositiveMoney = Annotated[Decimal, Field(gt=0, le=10**12, decimal_places=2, allow_inf_nan=False), NUMBER_IN_JSON]
"""A positive amount in dollars: a budget, a starting price, a true value."""


def to_cents(amount: Decimal) -> Decimal:
    """Round an amount in dollars to the nearest cent; a whole number of dollars is returned without cents.

    Half a cent is rounded away from zero.

    >>> to_cents(Decimal("2.345")), to_cents(Decimal("3.000"))
    (Decimal('2.35'), Decimal('3'))
    """
    rounded = amount.quantize(CENT, rounding=ROUND_HALF_UP)
    return rounded.quantize(DOLLAR) if rounded == rounded.to_integral_value() else rounded


def dollars(amount: Decimal) -> str:
    """Write an amount in dollars as the auctioneer says it: ``$1,250`` or ``$47.50``; ``-$5`` for a loss.

    >>> dollars(Decimal("1250")), dollars(Decimal("47.5")), dollars(Decimal(-5))
    ('$1,250', '$47.50', '-$5')
    """
    sign, size = ("-", -amount) if amount < 0 else ("", amount)
    if size == size.to_integral_value():
        return f"{sign}${size:,.0f}"
    exponent = size.as_tuple().exponent
    places = max(2, -exponent) if isinstance(exponent, int) else 2
    return f"{sign}${size:,.{places}f}"


def cell_text(value: object) -> str:
    """Write a value for a cell of a table: nothing for None, a fraction to three places."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case Decimal():
            return dollars(value)
        case tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def cost_in_words(amount: float | None) -> str:
    """Write the cost of model calls, small amounts to a hundredth of a cent; None is "unknown".

    >>> cost_in_words(12.5), cost_in_words(0.01234), cost_in_words(None)
    ('$12.50', '$0.0123', 'unknown')
    """
    return "unknown" if amount is None else f"${amount:,.2f}" if amount >= SMALL or not amount else f"${amount:,.4f}"


def counted(count: int, thing: str) -> str:
    """Write a count with its noun, such as "1 game" and "1,200 games"."""
    return f"{count:,} {thing if count == 1 else f'{thing}s'}"


def derive(seed: int, *names: str) -> int:
    """Derive a 64-bit seed for a named purpose.

    The same arguments give the same seed on every machine; different names give independent seeds.
    """
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def stream(seed: int, *names: str) -> Random:
    """Return a random generator for a seed and a named purpose, such as ``stream(7, "ties")``.

    Equal seeds and names give equal generators; different names give independent generators.

    >>> stream(7, "ties").random() == stream(7, "ties").random()
    True
    """
    return Random(derive(seed, *names))
