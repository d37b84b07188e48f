"""Event loops that are kept: that of a process's main thread, and one in the background.

Packages of agents share an HTTP client among all that a process does, and a connection that one event loop leaves open
is dead in the next: the first call of each further game would fail, and its bidder withdraw. Connections of Harbor's
own models end with their run.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def run_kept(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end as `asyncio.run` does, but in the main thread in the same loop as before.

    Args:
        work: what to run where no event loop is running.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)
    runner = _runner(os.getpid())
    try:
        return runner.run(_to_the_last(work), context=copy_context())  # else it would be that of the first work
    except (KeyboardInterrupt, SystemExit):  # the loop was left in the middle: what is under way ends with it
        _runner.cache_clear()
        runner.close()
        raise


@cache
def _runner(_process: int) -> asyncio.Runner:  # one that was forked has the loop of the other, and can't use it
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in a loop of another thread, which never ends, also where an event loop is running here."""
    running = asyncio.run_coroutine_threadsafe(work, _background(os.getpid()))
    try:
        return running.result()
    except BaseException:
        running.cancel()  # whoever waited was interrupted
        raise


@cache
def _background(_process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="harbor-background", daemon=True).start()
    return loop


async def _to_the_last(work: Coroutine[Any, Any, T]) -> T:
    """End what the work leaves going, as the end of its loop would."""
    before = asyncio.all_tasks()
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - before
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
