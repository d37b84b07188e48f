"""People as bidders: what a person is asked, and its answers, through two queues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.asks import Ask, Pause
from harbor._core.events import Event


@dataclass(frozen=True)
class Call:
    """A person's turn: what is asked, and all that its seat has seen so far."""

    ask: Ask
    seen: tuple[Event, ...]


class Person:
    """A player whose answers come from a terminal, a web page or a test.

    Take a `Call` from `asks` and put words, such as "1200" or "I withdraw", into `answers`. None in `asks` says that
    the last call is over without them: time ran out, or the run was stopped. Words that come too late are dropped.
    """

    def __init__(self) -> None:
        self.asks: asyncio.Queue[Call | None] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def act(self, ask: Ask | Pause, seen: Sequence[Event]) -> str | None:
        """Ask the person and wait for its words; a pause passes."""
        if isinstance(ask, Pause):
            return None
        while not self.answers.empty():  # said too late for the call before
            self.answers.get_nowait()
        self.asks.put_nowait(Call(ask, tuple(seen)))
        try:
            return await self.answers.get()
        except asyncio.CancelledError:
            self.asks.put_nowait(None)
            raise
