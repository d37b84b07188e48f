"""Compares two games as their seats were told them, up to where what is public differs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from harbor._audit.holding import Change
from harbor._audit.tape import OF_THE_HOUSE, Channel, Tape, Told
from harbor._core.events import Event

AROUND = 60
"""How many characters are shown on each side of a difference."""
NEAR = 50
"""How far apart two things may be told that have changed places."""
BIDS = ("bid",)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference in what a seat was told: its channel, the texts around it, and after which settlement."""

    channel: Channel
    before: str
    now: str
    settled: int


def differences(before: Tape, now: Tape, change: Change, seats: Sequence[str]) -> dict[str, Difference]:
    """Give the first difference of each seat that was told something else."""
    found = {}
    told_all = _public_leak(before, now, change)
    for seat in seats:
        one = _first(*(_secret(tape, now, seat, change) for tape in (before, now))) or told_all
        if one is not None:
            found[seat] = one
    return found


def _secret(tape: Tape, now: Tape, seat: str, change: Change) -> list[Told]:
    """Give what a seat was told before anything public differs, the acts part, or a changed bid becomes public."""
    ends = [end for end in (now.differs, now.parted) if end is not None]
    end = min(ends, default=max(len(tape.public), len(now.public)))
    last = min([inf if now.parted_at is None else now.parted_at + 1, change.public_at or inf])
    return [one for one in tape.told[seat] if one.public <= end and one.settled < last]


def _first(before: Sequence[Told], now: Sequence[Told]) -> Difference | None:
    for place in range(max(len(before), len(now))):
        then, told = (one[place] if place < len(one) else None for one in (before, now))
        if then is None or told is None:
            earlier, later = ("(nothing)" if one is None else around(one.text, 0) for one in (then, told))
            there = then or told or before[0]
            return Difference(there.channel, earlier, later, there.settled)
        if (then.channel, then.text) != (told.channel, told.text):
            after = [(one.channel, one.text) for one in now[place : place + NEAR]]
            usual = [(one.channel, one.text) for one in before[place : place + NEAR]]
            swapped = (then.channel, then.text) in after and (told.channel, told.text) in usual
            return _between("order" if swapped else told.channel, then.text, told.text, told.settled)
    return None


def _between(channel: Channel, before: str, now: str, settled: int) -> Difference:
    at = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    return Difference(channel, around(before, at), around(now, at), settled)


def around(text: str, at: int) -> str:
    """Give the part of a text around a place."""
    shown = text[max(0, at - AROUND) : at + AROUND]
    return f"{'...' if at > AROUND else ''}{shown}{'...' if len(text) > at + AROUND else ''}"


def _public_leak(before: Tape, now: Tape, change: Change) -> Difference | None:
    """Give a public difference that no rules make: in what the house says, or in nothing but an order."""
    if now.differs is None or change.kind in BIDS or (now.parted is not None and now.parted <= now.differs):
        return None
    then, told = (_rest(tape.public, now.differs) for tape in (before, now))
    if not then or not told:
        return None
    if sorted(_words(then)) == sorted(_words(told)):
        return _between("order", repr(then[0]), repr(told[0]), now.settled_at(now.differs))
    if isinstance(then[0], OF_THE_HOUSE) and isinstance(told[0], OF_THE_HOUSE):
        return _between("event", repr(then[0]), repr(told[0]), now.settled_at(now.differs))
    return None


def _rest(public: Sequence[Event], start: int) -> list[Event]:
    """Give what became public at once, from a place on."""
    return list(_until_house(public[start:]))


def _until_house(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        yield event
        if isinstance(event, OF_THE_HOUSE):
            return


def _words(events: Sequence[Event]) -> list[str]:
    return re.findall(r"[^\s,()\[\]{}]+", " ".join(map(repr, events)))
