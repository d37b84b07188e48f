"""A door: one turn goes out, one answer comes back; and the bidder that answers through it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event
from harbor._doors.given import Given, Usage
from harbor._doors.turn import SeatTurns, Turn


class Door(ABC):
    """A transport to one agent in one seat. It may raise anything and take for ever: the seat bears that."""

    @abstractmethod
    async def ask(self, turn: Turn) -> Given:
        """Send a turn, and give the answer to it; late answers to earlier turns are dropped."""

    @abstractmethod
    async def close(self) -> None:
        """End it: nothing that it started goes on. It may never have been asked."""


class DoorFailed(Exception):
    """An agent could not be asked, or gave no answer: what happened and what mends it, without keys."""


class DoorBidder:
    """A player that answers through a door."""

    def __init__(self, door: Door, turns: SeatTurns) -> None:
        self.door = door
        self._turns = turns
        self._usage: list[Usage] = []

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask; a pause needs no thought."""
        if isinstance(ask, Pause):
            return None
        given = await self.door.ask(self._turns.of(ask, seen))
        self._usage.extend(given.usage)
        return given.answer

    def take_usage(self) -> tuple[Usage, ...]:
        """Give the calls of models that it has told of since the last time."""
        usage, self._usage = self._usage, []
        return tuple(usage)
