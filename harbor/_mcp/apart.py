"""Work that computes for long, away from whoever is served meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """Await work in a thread with an event loop of its own; if this is cancelled, so is the work, and then awaited."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(_awaited(task))

    thread = asyncio.ensure_future(asyncio.to_thread(run))
    thread.add_done_callback(lambda one: one.cancelled() or one.exception())  # heard, also where this was cancelled
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        with suppress(RuntimeError):  # its loop is closed: it has ended
            loop.call_soon_threadsafe(task.cancel)
        await asyncio.wait({thread})
        raise


async def _awaited(task: asyncio.Task[T]) -> T:
    return await task
