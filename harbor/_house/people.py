"""People bid through two queues, one for questions and one for answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.asking.asks import Ask, Pause
from harbor._core.log.events import Event


@dataclass(frozen=True)
class Call:
    """A person's turn: the question, and all events that this bidder has seen so far."""

    ask: Ask
    seen: tuple[Event, ...]


class Person:
    """A player whose answers come from a person, through a terminal or a web page, or from a test.

    Take from the queue `asks` a `Call`, which has the question in `ask` and the events in `seen`. Then put words, such
    as "1200" or "I withdraw", into the queue `answers`. None in `asks` means that the last call ended without an
    answer: time ran out, or the run was stopped. Words that come after that are dropped.

    >>> Person().asks.empty()
    True
    """

    def __init__(self) -> None:
        self.asks: asyncio.Queue[Call | None] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> str | None:
        """Ask the person and wait for the answer; return None at a pause, in which nothing is asked."""
        if isinstance(ask, Pause):
            return None
        while not self.answers.empty():  # late words for an earlier call
            self.answers.get_nowait()
        self.asks.put_nowait(Call(ask, tuple(seen)))
        try:
            return await self.answers.get()
        except asyncio.CancelledError:
            self.asks.put_nowait(None)
            raise
