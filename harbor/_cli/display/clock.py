"""The seconds that a person has for an answer, counted down above what it types."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from harbor._core.running_time import running_seconds

TICK_SECONDS = 1.0
MARKS = (60, 30, 10, 5, 4, 3, 2, 1)
"""The seconds at which the time that is left is written anew; before, each full minute."""


def is_due(told: float, left: int) -> bool:
    """Tell whether a mark has been passed since the time was last told."""
    return any(left <= mark < told for mark in (*range(120, int(told) + 1, 60), *MARKS))


class Clock:
    """Counts down from the seconds of a seat.

    At a terminal the line above the prompt is written anew, between saving and restoring the place where the person
    types; nothing is written where no terminal is. It is written seldom, as a screen reader may read out each change.
    """

    def __init__(self, seconds: float) -> None:
        self._until = running_seconds() + seconds
        self._told = seconds
        self._first = True

    def told(self) -> str:
        """Say how much time is left; the first time, how much there is."""
        if not self._first:
            self._told = self._left()
        self._first = False
        return f"You have {self._told:g} s."

    async def awaits(self, typed: asyncio.Future[str], over: asyncio.Future[Any]) -> bool:
        """Wait for a line, and say whether it came before the call was over."""
        either: set[asyncio.Future[Any]] = {typed, over}
        while not (typed.done() or over.done()):
            await asyncio.wait(either, timeout=TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not (typed.done() or over.done()) and is_due(self._told, self._left()):
                self._show()
        return not over.done()

    def _left(self) -> int:
        return max(0, int(self._until - running_seconds()))

    def _show(self) -> None:
        if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            sys.stdout.write(f"\x1b7\x1b[1A\r{self.told()}\x1b[K\x1b8")
            sys.stdout.flush()
