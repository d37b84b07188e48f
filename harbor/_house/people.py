"""People as bidders: each person has a queue of questions and a queue of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.asking.asks import Ask, Pause
from harbor._core.log.events import Event


@dataclass(frozen=True)
class Call:
    """A question to a person: the auctioneer's ask, and all events that the person's bidder has seen so far."""

    ask: Ask
    seen: tuple[Event, ...]


class Person:
    """A person who plays a bidder; your code brings the answers, from a terminal, a web page or a test.

    Your code takes each `Call` from the queue `asks`, and puts the person's words, such as "1200" or "I withdraw", into
    the queue `answers`. If a call ends without an answer, because time ran out or the run was stopped, None follows in
    `asks`. Words that come after the end of their call are dropped.
    """

    def __init__(self) -> None:
        self.asks: asyncio.Queue[Call | None] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> str | None:
        """Ask the person and return the answer; at a pause of the auctioneer, return None at once."""
        if isinstance(ask, Pause):
            return None
        while not self.answers.empty():  # too late for an earlier call, and not meant for this one
            self.answers.get_nowait()
        self.asks.put_nowait(Call(ask, tuple(seen)))
        try:
            return await self.answers.get()
        except asyncio.CancelledError:
            self.asks.put_nowait(None)
            raise
