"""The rules of a session of auctions with private values, made of what its log tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from harbor._core.events import Event
from harbor._core.outcomes import Signal
from harbor._games.sessions.private_values import ItemAllotted, PrivateValues
from harbor._games.sessions.session import SessionOpened
from harbor._games.sessions.settings import ValueRules


def opening_of(events: Sequence[Event]) -> SessionOpened:
    """Find the opening of a session."""
    return next(event for event in events if isinstance(event, SessionOpened))


def of_values(kind: type[PrivateValues]) -> Callable[[Any, Sequence[Event]], PrivateValues]:
    """Return the function that makes rules of this kind of a log; a value that nothing tells is 0."""

    def from_public(rules: ValueRules, events: Sequence[Event]) -> PrivateValues:
        opened = opening_of(events)
        told = _values(events, opened.bidders)
        values = {name: [*own, *[Decimal(0)] * (rules.runs - len(own))] for name, own in told.items()}
        return kind(opened.bidders, rules, values, opened.assets, opened.prior)

    return from_public


def _values(events: Sequence[Event], bidders: Sequence[str]) -> Mapping[str, list[Decimal]]:
    """Give each bidder's values in the runs so far, as it was told them, or as they were shown to all."""
    told: dict[str, list[Decimal]] = {name: [] for name in bidders}
    for event in events:
        if isinstance(event, Signal):
            told[event.bidder] += event.values.values()
    if any(told.values()):
        return told
    for event in events:
        for name, value in event.values.items() if isinstance(event, ItemAllotted) else ():
            told[name].append(value)
    return told
