"""Event loops that are kept between games, and a clock that runs only while this process runs.

Packages of agents share an HTTP client among all calls of a process, and a connection from one event loop is
dead in the next: the first call of each further game would fail, and its bidder withdraw. Connections of Harbor's
own models end with their run.

The clock stands still while the process is stopped or asleep. It measures the time limits of players, as a pause
is no play. A separate thread calls `look` every few milliseconds. Between two looks the clock advances at most
`MOST_SECONDS`, or as long as code was at work here. While no thread looks, it runs as `time.monotonic` does.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

MOST_SECONDS = 0.05
"""Seconds that the clock advances at most between two looks if nothing is at work here: the error of a pause."""


class _Look(NamedTuple):
    """The last look: the readings of three clocks, in seconds, the thread that looks, and how often it had waited."""

    steady: float
    processor: float
    seconds: float
    thread: int = 0
    waits: int = 0


_SWITCH_SECONDS = sys.getswitchinterval()
"""Seconds between the attempts of a thread to get Python's lock; read once, as code of agents could change it."""
_start = time.monotonic()
_last = _Look(_start, -math.inf, _start)


def running_seconds() -> float:
    """Return the reading of the clock, in seconds. The clock never runs backwards, and takes no lock."""
    return _reading(_last, time.monotonic())


def loop_seconds(loop: asyncio.AbstractEventLoop) -> float:
    """Return the reading of an event loop's own clock without pauses, in seconds."""
    before = -math.inf
    while (steady := time.monotonic()) - before > MOST_SECONDS:  # a pause between the two would be in one of them
        before, now, last = steady, loop.time(), _last
    return now - (steady - _reading(last, steady))


def look(thread: int) -> None:
    """Note that this process runs, and that this thread will soon look again."""
    global _last
    last, now = _last, time.monotonic()
    _last = _Look(now, time.process_time(), _reading(last, now), thread, _waits(thread))


def look_away() -> None:
    """Let the clock run as the steady one does, as no thread will look."""
    global _last
    last, now = _last, time.monotonic()
    _last = _Look(now, -math.inf, _reading(last, now))


def _reading(last: _Look, now: float) -> float:
    passed = now - last.steady
    if passed > MOST_SECONDS:
        held = (_waits(last.thread) - last.waits) * _SWITCH_SECONDS
        passed = min(passed, max(MOST_SECONDS, time.process_time() - last.processor, held))
    return last.seconds + passed


def _waits(thread: int) -> int:
    """Count how often a thread has waited for something; return 0 where the system does not tell.

    A thread that waits for Python's lock does so every few milliseconds. This distinguishes code that holds the lock
    and sleeps from a process that is stopped.
    """
    try:
        told = Path(f"/proc/self/task/{thread}/status").read_bytes()
    except OSError:
        return 0
    found = re.search(rb"^voluntary_ctxt_switches:\s*(\d+)", told, re.MULTILINE)
    return int(found[1]) if found else 0


@asynccontextmanager
async def running_timeout(seconds: float) -> AsyncIterator[None]:
    """Cancel the code inside after this many seconds in which the process runs.

    Raises:
        TimeoutError: they were over.
    """
    loop = asyncio.get_running_loop()
    until = loop_seconds(loop) + seconds
    alarm: asyncio.TimerHandle
    async with asyncio.timeout(None) as limit:

        def ring(again: Any) -> None:  # not by its own name: such a cycle would keep a whole call in memory
            nonlocal alarm
            if (left := until - loop_seconds(loop)) > 0:
                alarm = loop.call_later(left, again, again)
            else:
                limit.reschedule(loop.time())

        alarm = loop.call_later(seconds, ring, ring)
        try:
            yield
        finally:
            alarm.cancel()


T = TypeVar("T")


def run_kept(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end as `asyncio.run` does, but in the main thread in the same loop as before.

    Args:
        work: the coroutine to run; no event loop may be running here.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)
    runner = _runner(os.getpid())
    try:
        return runner.run(_to_the_last(work), context=copy_context())  # else the first work's context would be used
    except (KeyboardInterrupt, SystemExit):  # the loop was left in the middle: its tasks end with it
        _runner.cache_clear()
        runner.close()
        raise


@cache
def _runner(_process: int) -> asyncio.Runner:  # a forked process has a copy of the parent's loop, and can't use it
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in the endless loop of another thread, also where an event loop is running here."""
    running = asyncio.run_coroutine_threadsafe(work, _background(os.getpid()))
    try:
        return running.result()
    except BaseException:
        running.cancel()  # the waiting caller was interrupted
        raise


@cache
def _background(_process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="harbor-background", daemon=True).start()
    return loop


async def _to_the_last(work: Coroutine[Any, Any, T]) -> T:
    """Run the work, and cancel the tasks that it leaves, as the end of its loop would."""
    before = asyncio.all_tasks()
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - before
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
