"""What is under way in a process and its workers: noted by each call that has failed, and gone with it."""

from __future__ import annotations

import asyncio
import pickle
import signal
import sys
import warnings
from dataclasses import replace

import pytest

from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.remote import RemoteGovernor, serving
from harbor._models.governor.terms import Answered, Asked, Failed, Request, Wait

ONE = Request("account", "model", (0,), 10, host="there", shown="mine")
DOWN = Wait("there", "mine", "503", seconds=3.0, left=600.0, tries=2, pause=5.0)
LOST = replace(DOWN, status="no connection (unknown host)", unconnected=True)
HOLD = """
import asyncio, pickle, sys
from harbor._models.governor.remote import RemoteGovernor
address, request, wait = pickle.loads(bytes.fromhex(sys.argv[1]))
async def hold():
    governor = RemoteGovernor(address)
    await governor.enter(request)
    governor.note(1, wait)
    governor.spend(0.5)
    await governor.enter(request)
    print("held", flush=True)
    await asyncio.Event().wait()
asyncio.run(hold())
"""


@pytest.fixture
def governor() -> LocalGovernor:
    return LocalGovernor()


def test_times_go_on_while_a_call_waits_and_it_is_gone_when_it_ends():
    now = [100.0]
    governor = LocalGovernor(lambda: now[0])
    governor.note(1, DOWN)
    now[0] += 10.0
    assert governor.under_way().waits == (replace(DOWN, seconds=13.0, left=590.0, pause=0.0),)
    governor.note(1, None)
    assert governor.under_way().waits == ()


async def test_calls_at_the_provider_and_those_that_wait_for_their_start_are_counted_apart():
    now = [100.0]
    governor = LocalGovernor(lambda: now[0])
    first = await governor.enter(ONE)
    waiting = asyncio.create_task(governor.enter(ONE))  # the first call of a model goes alone
    await asyncio.sleep(0)
    now[0] += 7.0
    state = governor.under_way()
    assert (state.calls, state.queued, state.longest) == (1, 1, Asked("there", "mine", 7.0))
    governor.leave(first, Answered(10))
    governor.leave(await waiting, Answered(10))
    state = governor.under_way()
    assert (state.calls, state.queued, state.longest) == (0, 0, None)


def test_the_longest_trouble_comes_first_and_batches_last_and_dollars_add_up_until_a_price_is_unknown(governor):
    batch, longer = Wait("openai", "", "a batch of 2 calls", seconds=9_000.0), replace(DOWN, seconds=60.0)
    for number, wait in enumerate((batch, DOWN, longer)):
        governor.note(number, wait)
    assert [wait.tries and round(wait.seconds) for wait in governor.under_way().waits] == [60, 3, 0]
    totals = [governor.under_way().dollars]
    for dollars in (0.25, 0.5, None, 0.5):
        governor.spend(dollars)
        totals.append(governor.under_way().dollars)
    assert totals == [0.0, 0.25, 0.75, None, None]


async def test_a_host_that_never_answered_is_told_of_once_for_all_calls_and_workers_and_no_other(governor):
    there = replace(ONE, account="elsewhere", host="elsewhere")
    governor.leave(await governor.enter(there), Answered(10))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        governor.note(0, replace(LOST, host="elsewhere"))  # which has an outage
        governor.note(1, LOST)
        governor.note(2, LOST)
        async with serving(governor) as address:
            worker = RemoteGovernor(address)
            worker.leave(await worker.enter(ONE), Failed())
            worker.note(1, LOST)
            worker.leave(await worker.enter(ONE), Failed())  # its start says that the driver has read the note
            assert len(governor.under_way().waits) == 4
    [told] = [str(one.message) for one in heard]
    assert told.startswith("no connection to there (unknown host) for model 'mine'; it is tried again until ")


async def test_a_worker_that_is_killed_leaves_no_wait_behind_but_what_it_has_spent(governor):
    governor.leave(await governor.enter(ONE), Answered(10))  # then calls go side by side
    async with serving(governor) as address:
        given = pickle.dumps((address, ONE, DOWN)).hex()
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, given, stdout=asyncio.subprocess.PIPE)
        assert worker.stdout is not None
        assert await worker.stdout.readline() == b"held\n"
        state = governor.under_way()
        assert (state.calls, state.dollars, [wait.status for wait in state.waits]) == (2, 0.5, ["503"])
        worker.send_signal(signal.SIGKILL)
        await worker.wait()
        async with asyncio.timeout(60):
            while governor.under_way().waits:
                await asyncio.sleep(0)
        state = governor.under_way()
        assert (state.calls, state.queued, state.dollars) == (0, 0, 0.5)


async def test_a_message_without_a_sound_wait_ends_the_connection_and_changes_nothing(governor):
    async with serving(governor) as address:
        for wrong in ('"wait": 7', '"wait": {"host": 1}', '"spent": "many"', '"spent": []'):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(f'{address.token}\n{{"number": 1, {wrong}}}\n'.encode())
            assert await reader.read() == b""
            writer.close()
    assert (governor.under_way().waits, governor.under_way().dollars) == ((), 0.0)
