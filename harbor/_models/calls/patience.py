"""How long a request may take: what the settings say, and never less than the model's own speed explains."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from harbor._config.models import ModelSettings
from harbor._core.running_time import loop_seconds, running_timeout
from harbor._models.calls.lost import is_late
from harbor._models.passports.passport import Known, Passport

T = TypeVar("T")
REQUEST_SECONDS = 900.0
"""How long a request may take to a model of which nothing is known: one that thinks takes minutes."""
SLOWER = 2
"""How many times the longest answer so far the next may take."""
MOST_SECONDS = 3_600.0
"""How long a request may take because others were slow: providers end theirs before, and a server may hang."""


class Late(TimeoutError):
    """A request was sent, and no answer came in time."""


def longest(settings: ModelSettings, known: Passport) -> float:
    """Give the seconds that a request may take."""
    most = settings.max_tokens
    written = most * known.seconds / known.output_tokens if most and known.output_tokens else 0.0
    expected = min(max(SLOWER * known.slowest, written), MOST_SECONDS)
    return max(settings.timeout_seconds or REQUEST_SECONDS, expected)


async def in_time(request: Awaitable[T], settings: ModelSettings, known: Known) -> T:
    """Wait for the answer to a request, and note how long that was: the next one may take longer.

    Raises:
        Late: it took longer than it may.
    """
    loop, limit = asyncio.get_running_loop(), longest(settings, known.passport)
    began = loop_seconds(loop)
    try:
        async with running_timeout(limit):
            answer = await request
    except Exception as error:
        if not is_late(error):
            raise
        seconds = loop_seconds(loop) - began
        _note(known, seconds)
        raise Late(f"no answer in {seconds:.1f} s") from error
    _note(known, loop_seconds(loop) - began)
    return answer


def _note(known: Known, seconds: float) -> None:
    if seconds > known.passport.slowest:
        known.learn(slowest=seconds)
