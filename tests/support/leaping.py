"""A clock for waiting clients: it leaps when a request hangs, or with each request, so that no test waits.

A busy machine thus causes no time-outs of sound calls.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from support.providers import Provider

T = TypeVar("T")
LIMIT = 60.0
"""Seconds until a client gives up. A sound call takes far less, and a bidder has more."""


def hung(server: Provider) -> float:
    """Leap by more than `LIMIT` at the first request that hangs, and by four times as much at each further one."""
    return (LIMIT + 1) * (4**server.stuck - 1) / 3


def slow(seconds: float) -> Callable[[Provider], float]:
    """Leap by `seconds` as soon as a request has come, before its answer."""
    return lambda server: seconds * len(server.requests)


def run_leaping(work: Coroutine[Any, Any, T], server: Provider, leaps: Callable[[Provider], float] = hung) -> T:
    """Run `work` to its end, in an event loop whose clock leaps."""
    with asyncio.Runner(loop_factory=lambda: _LeapingLoop(server, leaps)) as runner:
        return runner.run(work)


class _LeapingLoop(asyncio.SelectorEventLoop):
    def __init__(self, server: Provider, leaps: Callable[[Provider], float]) -> None:
        self._server, self._leaps = server, leaps
        super().__init__(_Attentive())

    def time(self) -> float:
        return super().time() + self._leaps(self._server)


class _Attentive(selectors.DefaultSelector):
    """A selector that wakes up from time to time, as the clock may have leapt."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(0.01 if timeout is None else min(timeout, 0.01))
