"""Reads each bidder's act in each turn from a log, and checks it against the settled action of the sale.

Failed attempts are `Tried`, legal ones `Acted` or `ActedSealed`. A witness records the asks of sales and their settled
actions while the sales are held.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import zip_longest
from typing import Any, NamedTuple
from unittest.mock import patch

from harbor._core.asking.decisions import as_reply
from harbor._core.log.acts import Acted, ActedSealed, Tried, act_json
from harbor._core.log.events import BiddersAsked, SeatFailed
from harbor._house.auctioneer import Sale, call

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
    parts = zip_longest(turns(events), settled[: len(turns(events))], fillvalue={})
    return [one for number, (turn, acts) in enumerate(parts) for one in _of_turn(number, turn, acts)]


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


@dataclass
class Witness:
    """The asks of one sale, in words, and the acts with which each turn was settled."""

    sale: Any
    asked: list[str] = field(default_factory=list)
    settled: list[Mapping[str, Act]] = field(default_factory=list)

    @property
    def opened(self) -> Any:
        """The first event of the sale's log, which no other log has."""
        return self.sale.log.entries[0].event


@contextmanager
def witnessing() -> Iterator[list[Witness]]:
    """Record all sales while the context is open."""
    found: dict[int, Witness] = {}
    asks, settle = Sale.asks, Sale.settle

    def of(sale: Any) -> Witness:
        return found.setdefault(id(sale), Witness(sale))

    def asked(sale: Any) -> Any:
        given = asks(sale)
        of(sale).asked += map(call, given)
        return given

    def settled(sale: Any, actions: Mapping[str, Any], *more: Any) -> Any:
        if actions:
            of(sale).settled.append({name: _act(action) for name, action in actions.items()})
        return settle(sale, actions, *more)

    witnesses: list[Witness] = []
    with patch.object(Sale, "asks", asked), patch.object(Sale, "settle", settled):
        yield witnesses
    witnesses += found.values()


def _act(action: Any) -> Act:
    reason = getattr(action, "reason", "declined")
    return plain(as_reply(action)) if reason == "declined" else FAULT if reason == "fault" else f"withdrawn: {reason}"
