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
    """A player whose answers come from a terminal, a web page or a test.

    Take a `Call` from `asks` and put words, such as "1200" or "I withdraw", into `answers`. None in `asks` means that
    the last call ended without an answer: time ran out, or the run was stopped. Late words are dropped.

    >>> Person().asks.empty()
    True
    """

    def __init__(self) -> None:
        self.asks: asyncio.Queue[Call | None] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> str | None:
        """Ask the person and wait for the answer. Return None for a pause, which needs no answer."""
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
