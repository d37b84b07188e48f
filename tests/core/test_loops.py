"""One event loop is kept from game to game, and its limits are of the time in which its process runs."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import weakref
from contextvars import ContextVar
from subprocess import Popen
from textwrap import indent

import pytest

from harbor._core.basics.loops import run_in_background, run_kept, running_timeout
from support.processes import stopped_and_continued

SOME = ContextVar("SOME", default=0)


async def loop():
    return asyncio.get_running_loop()


def test_what_is_run_one_after_another_shares_a_loop():
    assert run_kept(loop()) is run_kept(loop())


def test_what_is_run_sees_the_context_that_it_is_run_in():
    async def seen():
        return SOME.get()

    assert run_kept(seen()) == 0
    token = SOME.set(1)
    assert run_kept(seen()) == 1
    SOME.reset(token)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_ends_the_loop_too(end):
    async def ends():
        raise end

    before = run_kept(loop())
    with pytest.raises(end):
        run_kept(ends())
    assert before.is_closed()
    assert run_kept(loop()) is not before


def test_a_thread_has_a_loop_of_its_own_that_ends_with_the_work():
    found = []
    thread = threading.Thread(target=lambda: found.append(run_kept(loop())))
    thread.start()
    thread.join()
    assert found[0] is not run_kept(loop())
    assert found[0].is_closed()


async def test_work_in_the_background_shares_a_loop_that_is_not_this_one():
    assert run_in_background(loop()) is run_in_background(loop()) is not asyncio.get_running_loop()


def test_work_in_the_background_ends_in_a_forked_process_too():
    run_in_background(loop())
    if (child := os.fork()) == 0:
        os._exit(run_in_background(loop()).is_closed())
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_has_a_loop_of_its_own():
    before = run_kept(loop())
    if (child := os.fork()) == 0:
        os._exit(run_kept(loop()) is before)
    assert os.waitpid(child, 0)[1] == 0


# ---------------------------------------------------------------- what is limited is the time in which a process runs

LIMIT, PAUSE = 0.6, 1.0
BEGINNING = """
import asyncio, os, signal
from contextlib import suppress
from harbor._core.basics.loops import loop_seconds, running_seconds, running_timeout
from harbor._house.watchdog import timed

async def stop():
    await asyncio.sleep(0.05)
    os.kill(os.getpid(), signal.SIGSTOP)
    await asyncio.sleep(0.05)

async def main():
    with timed():
BODY

asyncio.run(main())
"""
TIMEOUT = f"""
before = running_seconds()
async with running_timeout(2 * {LIMIT}):
    await stop()
    await stop()
assert running_seconds() - before < {LIMIT}
with suppress(TimeoutError):
    async with running_timeout(0.1):
        await asyncio.Event().wait()
"""
READINGS = f"""
loop = asyncio.get_running_loop()

class Stopped:
    def __init__(self, first):
        self.first = first

    def time(self):
        first, self.first = self.first, None
        if first == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        now = loop.time()
        if first == "read":
            os.kill(os.getpid(), signal.SIGSTOP)
        return now

for first in ("read", "stop"):
    before = loop_seconds(Stopped(first))
    assert abs(loop_seconds(loop) - before) < {LIMIT}, first
"""
CALL = f"""
from harbor._config.models import ModelSettings
from harbor._models.calls.line import Identity, Line

asked = []

async def request():
    asked.append(1)
    if len(asked) == 1:
        await stop()
    return "hello"

async def attempt():
    return await line.ask(request()), 1

line = Line("mine", ModelSettings(use="openai:gpt", timeout_seconds={LIMIT}), Identity("account", "model"))
assert await line.send(attempt, 1) == ("hello", 0)
"""
CLIENTS = f"""
from harbor._mcp.held_auctions import within

come = asyncio.Event()

async def comes():
    await stop()
    come.set()

coming = asyncio.create_task(comes())
await within([come.wait()], {LIMIT})
assert come.is_set()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("body", "stops"), [(TIMEOUT + READINGS, 4), (CALL + CLIENTS, 2)], ids=["limits", "waiting"])
def test_a_process_that_is_stopped_loses_no_time(body, stops):
    program = BEGINNING.replace("BODY", indent(body, " " * 8))
    with Popen([sys.executable, "-c", program]) as running:
        assert stopped_and_continued(running, PAUSE) == (stops, 0)


async def test_what_has_ended_in_time_is_freed_at_once():
    async def timed():
        async with running_timeout(60):
            await asyncio.sleep(0)

    gc.disable()
    try:
        task = asyncio.create_task(timed())
        await task
        ended = weakref.ref(task)
        del task
        await asyncio.sleep(0)  # the event loop lets go of it
        assert ended() is None
    finally:
        gc.enable()
