"""A provider's limits: concurrent calls, and calls in a sliding window of time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """At most `at_once` concurrent calls, and at most `per_window` accepted calls within any `window` seconds.

    A further call is refused with 429, and with a Retry-After of `retry_after` seconds if it is given.
    """

    at_once: int | None = None
    per_window: int | None = None
    window: float = 1.0
    retry_after: float | None = None


class Gate:
    """Admits calls, and counts the accepted and the rejected ones, and the most at the same time."""

    def __init__(self) -> None:
        self.inside, self.peak, self.accepted, self.rejected = 0, 0, 0, 0
        self._starts: deque[float] = deque()

    def enter(self, limits: Limits, now: float) -> bool:
        """Return whether a call is admitted."""
        while self._starts and self._starts[0] <= now - limits.window:
            self._starts.popleft()
        if limits.at_once is not None and self.inside >= limits.at_once:
            return self._reject()
        if limits.per_window is not None and len(self._starts) >= limits.per_window:
            return self._reject()
        self._starts.append(now)
        self.inside, self.accepted = self.inside + 1, self.accepted + 1
        self.peak = max(self.peak, self.inside)
        return True

    def leave(self) -> None:
        """Note that an admitted call has ended."""
        self.inside -= 1

    def _reject(self) -> bool:
        self.rejected += 1
        return False
