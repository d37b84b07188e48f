"""The seconds that a person has for an answer, counted down above what it types."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

TICK_SECONDS = 1.0


class Clock:
    """Counts down from the seconds of a seat.

    At a terminal the line above the prompt is written anew each second, between saving and restoring the place where
    the person types; nothing is written where no terminal is.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._first = True

    def told(self) -> str:
        """Say how much time is left; the first time, how much there is."""
        left = self._seconds if self._first else self._left()
        self._first = False
        return f"You have {left:g} s."

    async def awaits(self, typed: asyncio.Future[str], over: asyncio.Future[Any]) -> bool:
        """Wait for a line, and say whether it came before the call was over."""
        either: set[asyncio.Future[Any]] = {typed, over}
        while not (typed.done() or over.done()):
            await asyncio.wait(either, timeout=TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not (typed.done() or over.done()):
                self._show()
        return not over.done()

    def _left(self) -> int:
        return max(0, int(self._until - time.monotonic()))

    def _show(self) -> None:
        if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            sys.stdout.write(f"\x1b7\x1b[1A\r{self.told()}\x1b[K\x1b8")
            sys.stdout.flush()
