"""How long a bidder has waited for its provider: that is not its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harbor._core.running_time import loop_seconds


def _seconds() -> float:
    """Read the clock by which the turns of this event loop are timed."""
    return loop_seconds(asyncio.get_running_loop())


@dataclass
class Waiting:
    """The time that a bidder has waited, in seconds; calls side by side count once."""

    clock: Callable[[], float] = _seconds
    _before: float = 0.0
    _since: float = 0.0
    _calls: int = 0

    @property
    def seconds(self) -> float:
        """All of it up to now."""
        return self._before + (self.clock() - self._since if self._calls else 0.0)

    @property
    def is_on(self) -> bool:
        """Whether it waits now."""
        return self._calls > 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time inside."""
        if not self._calls:
            self._since = self.clock()
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._before += self.clock() - self._since
