"""What is limited in time is limited in time in which its process runs: each program here is stopped in the middle."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from subprocess import Popen
from textwrap import indent

import pytest

from harbor._core.basics.loops import running_timeout
from support.processes import stopped_and_continued

LIMIT, PAUSE = 0.6, 1.0
BEGINNING = """
import asyncio, os, signal
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
try:
    async with running_timeout(0.1):
        await asyncio.Event().wait()
except TimeoutError:
    pass
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
@pytest.mark.parametrize(("body", "stops"), [
    (TIMEOUT, 2), (READINGS, 2), (CALL, 1), (CLIENTS, 1),
], ids=["limit", "between two readings", "call of a model", "clients waited for"])  # fmt: skip
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
