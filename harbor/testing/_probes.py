"""Doors that pass turns on to an agent as it may get them one day: with new fields, long, again, or after a restart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harbor._doors.door import Door
from harbor._doors.given import Given
from harbor._doors.open_doors import open_door
from harbor._doors.turn import Told, Turn
from harbor._house.auctioneer import call

LONG = 70_000
"""Bytes: more than a reader of lines takes that has the usual limit of 64 KiB."""
REFUSAL = "it could not be read"


class Hardship(NamedTuple):
    """How a turn is changed on its way, and in which words that is told; `anew`: to an agent that is made anew."""

    words: str
    change: Callable[[Turn], Turn]
    anew: bool = False


def _with(turn: Turn, **fields: Any) -> Turn:
    told = {**turn.as_json(), **fields}
    seen = tuple(Told.of(json.dumps(event)) for event in told.pop("seen"))
    return turn._replace(head=json.dumps(told), seen=seen)


def _newer(turn: Turn) -> Turn:
    """Tell more than there is today."""
    seen = [{"type": "rumour_heard", "about": "nobody"}, *turn.as_json()["seen"]]
    return _with(turn, later={"anything": [1, None]}, seen=seen)


def _again(turn: Turn) -> Turn:
    """Ask a turn as after a failed answer."""
    words, ask = turn.as_json()["words"], turn.ask._replace(attempt=turn.ask.attempt + 1, refusal=REFUSAL)
    told = words.removesuffix(call(turn.ask)) + call(ask)
    return _with(turn._replace(ask=ask), attempt=ask.attempt, refusal=REFUSAL, words=told)


AS_IT_IS = Hardship("", lambda turn: turn)
HARDSHIPS = (
    Hardship(" to a turn with a field and an event that are new to it", _newer),
    Hardship(" when it is told that its last answer failed", _again),
    Hardship(" in the middle of a game, as after a restart", lambda turn: turn, anew=True),
    Hardship(f" to a turn of more than {LONG:,} bytes", lambda turn: _with(turn, later="x" * LONG)),
)


class Probe(Door):
    """Stands before the door to an agent.

    Args:
        agent: the agent.
        make: makes another one for the same seat.
        hardships: gives that of each turn.
    """

    def __init__(self, agent: object, make: Callable[[], object], hardships: Iterator[Hardship]) -> None:
        self._agent = agent
        self._make = make
        self._hardships = hardships
        self._door: Door | None = None
        self.hardship = AS_IT_IS

    async def ask(self, turn: Turn) -> Given:
        """Pass a turn on."""
        self.hardship = next(self._hardships)
        if self.hardship.anew and self._door is not None:
            await self.close()
            self._agent = self._make()
        self._door = self._door or open_door(self._agent)
        return await self._door.ask(self.hardship.change(turn))

    async def close(self) -> None:
        """Close the door."""
        door, self._door = self._door, None
        if door is not None:
            await door.close()
