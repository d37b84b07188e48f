"""What revealed true values tell a bidder of its estimates: all lean one way, by a share that it is not told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from harbor._core.events import Event, WorthTold
from harbor._core.outcomes import Signal
from harbor._games.part import Part


def estimates_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Give a bidder's own estimates in dollars by item."""
    return next(event.values for event in seen if isinstance(event, Signal))


def values_of(seen: Sequence[Event]) -> dict[str, Decimal]:
    """Give the true values in dollars that were revealed, by item."""
    return {event.item: event.true_value for event in seen if isinstance(event, WorthTold)}


def revealed(parts: Iterable[Part]) -> dict[str, Decimal]:
    """Give the true values in dollars that were revealed of these parts of a game, by item."""
    return {part.item: part.true_value for part in parts if part.true_value is not None}


def truth_per_estimate(estimates: Mapping[str, Decimal], values: Mapping[str, Decimal]) -> Decimal | None:
    """Give the true dollars per estimated dollar of the items whose true value was revealed; None if none was."""
    estimated = sum((estimates[item] for item in values), Decimal(0))
    return sum(values.values(), Decimal(0)) / estimated if estimated else None
