"""Maps old events to new ones: each bidder's act in each turn, read from a log of either schema.

Schema 3 implies an act by the events after it. The next schema records it as `Tried`, `Acted` and `ActedSealed`. Acts
that events of schema 3 omit (who else accepted a price, a losing sealed bid of a third-party game) come from the
settled actions of the sale. All other acts are checked against them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

Act = str
"""An act as JSON, with amounts as plain decimal numbers."""
NEW = ("Tried", "Acted", "ActedSealed")
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


def kind(event: Any) -> str:
    """Return the name of an event's type."""
    return type(event).__name__


def begins_turn(event: Any) -> bool:
    """Return whether an event asks bidders for the first time."""
    return kind(event) == "BiddersAsked" and event.attempt == 1


def turns(events: Sequence[Any]) -> list[Turn]:
    """Split a log into turns. Drop the events before the first turn."""
    found: list[Turn] = []
    for event in events:
        if begins_turn(event):
            found.append(Turn([], []))
        if found and kind(event) == "BiddersAsked":
            found[-1].asked.append(event)
        elif found:
            found[-1].events.append(event)
    return found


def decisions(events: Sequence[Any], settled: Sequence[Mapping[str, Act]]) -> list[Decision]:
    """Return the decisions of each turn, in order. `settled` has the acts with which each turn was settled.

    Raises:
        ValueError: an act in the events differs from the settled one.
    """
    is_new = any(kind(event) in NEW for event in events)
    read = of_new_turn if is_new else of_old_turn
    return [
        one
        for number, turn in enumerate(turns(events))
        for one in read(number, turn, settled[number] if number < len(settled) else {})
    ]


def plain(act: Any) -> Act:
    """Return the JSON of an act with sorted keys, and with amounts without trailing zeros."""
    told = json.loads(act) if isinstance(act, str) else act
    return json.dumps({name: _plain(value) for name, value in told.items() if name != "reasons"}, sort_keys=True)


def _plain(value: Any) -> Any:
    return format(Decimal(str(value)).normalize(), "f") if isinstance(value, int | float | Decimal) else value


# ---------------------------------------------------------------- schema 3


def of_old_turn(number: int, turn: Turn, settled: Mapping[str, Act]) -> Iterator[Decision]:
    """Read a turn of a log of schema 3."""
    last = {name: asked.attempt for asked in turn.asked for name in asked.bidders}
    failed = {(one.bidder, one.attempt): one.reason for one in turn.events if kind(one) == "BidFailed"}
    broken = {one.bidder for one in turn.events if kind(one) == "SeatFailed"}
    told = old_acts(turn.events, tuple(last), turn.asked[0].item)
    for asked in turn.asked:
        for name in asked.bidders:
            reason = failed.get((name, asked.attempt))
            if reason is not None:
                done = f"failed: {reason}"
            elif name in broken:
                done = FAULT
            else:
                done = _agreed(name, told, settled)
            yield Decision(number, name, asked.item, asked.round, asked.attempt, done)


def _agreed(name: str, told: Mapping[str, Act], settled: Mapping[str, Act]) -> Act:
    if name in told and settled and told[name] != settled[name]:
        raise ValueError(f"the log tells that {name} did {told[name]}, and {settled[name]} was settled")
    return told.get(name) or settled.get(name, "not told")


def old_acts(events: Sequence[Any], asked: Sequence[str], item: str) -> dict[str, Act]:
    """Read acts on an item from the events that follow from them. The first event of a bidder counts."""
    found: dict[str, Act] = {}
    for event in events:
        for name, act in _acts_of(event, asked) if getattr(event, "item", item) == item else ():
            found.setdefault(name, act)
    return found


def _acts_of(event: Any, asked: Sequence[str]) -> Iterator[tuple[str, Act]]:
    match kind(event):
        case "BidPlaced":
            yield event.bidder, bid(event.amount)
        case "BidderWithdrew" if event.reason == "declined":
            yield event.bidder, WITHDRAWAL
        case "RunSettled":
            yield event.bidder, bid(event.action)
        case "DayClosed":
            yield from ((name, bid(amount)) for name, amount in event.bids.items())
        case "PicksShown":
            yield from ((name, bid(event.picks.get(name))) for name in asked)
        case "BundleSealed":
            yield event.bidder, plain({"action": "bid", "items": list(event.items), "amount": event.amount})
        case "BundlesAllotted":  # comes after all sealed bids: the others sealed none
            yield from ((name, WITHDRAWAL) for name in asked)
        case "PriceCalled":  # no bidder accepted the previous price
            yield from ((name, WAITING) for name in asked)
        case "FlowerSold":
            yield from ((event.winner, ACCEPTANCE),) if event.winner else ((name, WAITING) for name in asked)


WITHDRAWAL = plain({"action": "withdraw"})
WAITING = plain({"action": "wait"})
ACCEPTANCE = plain({"action": "accept"})


def bid(amount: Any) -> Act:
    """Return the act of bidding an amount, or of withdrawing if `amount` is None."""
    return WITHDRAWAL if amount is None else plain({"action": "bid", "amount": amount})


# ---------------------------------------------------------------- the schema after it: adapt this when it is there


def of_new_turn(number: int, turn: Turn, settled: Mapping[str, Act]) -> Iterator[Decision]:
    """Read a turn of a log with acts: failed attempts are `Tried`, legal ones `Acted` or `ActedSealed`.

    An `Acted` for an item and round with a known act only discloses the sealed act.
    """
    from harbor._core.log.acts import act_json  # the earlier schema lacks this module

    failed = {(one.bidder, one.attempt): one.reason for one in turn.events if kind(one) == "Tried"}
    broken = {one.bidder for one in turn.events if kind(one) == "SeatFailed"}
    told: dict[str, Act] = {}
    for one in turn.events:
        if kind(one) in ("Acted", "ActedSealed"):
            told.setdefault(one.bidder, plain(act_json(one.act)))
    for asked in turn.asked:
        for name in asked.bidders:
            reason = failed.get((name, asked.attempt))
            done = f"failed: {reason}" if reason is not None else FAULT if name in broken else ""
            yield Decision(number, name, asked.item, asked.round, asked.attempt, done or _agreed(name, told, settled))
