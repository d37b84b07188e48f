"""Whoever plays a bidder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event, SeatFailed


class Player(Protocol):
    """Whoever plays a bidder: a graph, a script, a person."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer the auctioneer, in words too, knowing only what this bidder has seen; a pause wants no answer."""
        ...


class Policy(ABC):
    """A player that follows a script: a pure function of what it is asked and what it has seen."""

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> Answer | str | None:
        """Answer an ask; a pause needs no thought."""
        return self.decide(ask, seen) if isinstance(ask, Ask) else None

    @abstractmethod
    def decide(self, ask: Ask, seen: Sequence[Event]) -> Answer | str:
        """Choose an answer, in words too."""


@dataclass(frozen=True)
class SeatReply:
    """What came back from a seat: its words, what it concluded on the way, and its failure if it has one."""

    words: str = ""
    notes: tuple[Event, ...] = ()
    failure: SeatFailed | None = None
