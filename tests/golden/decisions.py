"""Reads each bidder's act in each turn from a log, and checks it against the settled action of the sale.

Failed attempts are `Tried`, legal ones `Acted` or `ActedSealed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from harbor._core.log.acts import Acted, ActedSealed, Tried, act_json
from harbor._core.log.events import BiddersAsked, SeatFailed

Act = str
"""An act as JSON, with amounts as plain decimal numbers."""
FAULT = "fault"


class Decision(NamedTuple):
    """One attempt of one bidder: the turn's number, and the act, or the reason of its failure."""

    turn: int
    bidder: str
    item: str
    round: int
    attempt: int
    done: str


class Turn(NamedTuple):
    """The events of a log from one first attempt to the next. `asked` are its attempts."""

    asked: list[Any]
    events: list[Any]


def begins_turn(event: Any) -> bool:
    """Return whether an event asks bidders for the first time."""
    return isinstance(event, BiddersAsked) and event.attempt == 1


def turns(events: Sequence[Any]) -> list[Turn]:
    """Split a log into turns. Drop the events before the first turn."""
    found: list[Turn] = []
    for event in events:
        if begins_turn(event):
            found.append(Turn([], []))
        if found and isinstance(event, BiddersAsked):
            found[-1].asked.append(event)
        elif found:
            found[-1].events.append(event)
    return found


def decisions(events: Sequence[Any], settled: Sequence[Mapping[str, Act]]) -> list[Decision]:
    """Return the decisions of each turn, in order. `settled` has the acts with which each turn was settled.

    Raises:
        ValueError: an act in the events differs from the settled one.
    """
    return [
        one
        for number, turn in enumerate(turns(events))
        for one in _of_turn(number, turn, settled[number] if number < len(settled) else {})
    ]


def plain(act: Mapping[str, Any]) -> Act:
    """Return the JSON of an act with sorted keys, and with amounts without trailing zeros."""
    return json.dumps({name: _plain(value) for name, value in act.items() if name != "reasons"}, sort_keys=True)


def _plain(value: Any) -> Any:
    return format(Decimal(str(value)).normalize(), "f") if isinstance(value, int | float | Decimal) else value


def _of_turn(number: int, turn: Turn, settled: Mapping[str, Act]) -> Iterator[Decision]:
    """Read a turn. An `Acted` for an item and round with a known act only discloses the sealed act."""
    failed = {(one.bidder, one.attempt): one.reason for one in turn.events if isinstance(one, Tried)}
    broken = {one.bidder for one in turn.events if isinstance(one, SeatFailed)}
    told: dict[str, Act] = {}
    for one in turn.events:
        if isinstance(one, Acted | ActedSealed):
            told.setdefault(one.bidder, plain(act_json(one.act)))
    for asked in turn.asked:
        for name in asked.bidders:
            reason = failed.get((name, asked.attempt))
            done = f"failed: {reason}" if reason is not None else FAULT if name in broken else ""
            yield Decision(number, name, asked.item, asked.round, asked.attempt, done or _agreed(name, told, settled))


def _agreed(name: str, told: Mapping[str, Act], settled: Mapping[str, Act]) -> Act:
    if name in told and settled and told[name] != settled[name]:
        raise ValueError(f"the log tells that {name} did {told[name]}, and {settled[name]} was settled")
    return told.get(name) or settled.get(name, "not told")
