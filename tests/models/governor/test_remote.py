from __future__ import annotations

import asyncio
import json
import pickle
import signal
import sys
from dataclasses import replace

import pytest

from harbor._core.basics.redaction import redact
from harbor._models.governor import remote
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.remote import GovernorAddress, RemoteGovernor, serving
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request, Stopped, TooLong
from support.quotas import Provider, play_for_real

ONE = Request("account", "model", (0,), 10, Limits(max_concurrent=1))
HOLD = """
import asyncio, pickle, sys
from harbor._models.governor.remote import RemoteGovernor
address, request = pickle.loads(bytes.fromhex(sys.argv[1]))
async def hold():
    governor = RemoteGovernor(address)
    await governor.enter(request)
    print("held", flush=True)
    await asyncio.Event().wait()
asyncio.run(hold())
"""


async def test_two_workers_share_one_quota_and_no_call_fails():
    provider = Provider(cap=4, latency=(0.001, 0.003))
    async with serving(LocalGovernor()) as address:
        workers = [RemoteGovernor(address), RemoteGovernor(address)]
        limits = Limits(max_concurrent=4)
        await asyncio.gather(
            *(play_for_real(provider, each, limits, 10, 10, n * 100) for n, each in enumerate(workers))
        )
    assert (provider.requests, provider.busy) == (200, 0)


async def test_every_verdict_reaches_the_driver():
    async with serving(LocalGovernor()) as address:
        worker = RemoteGovernor(address)
        for verdict in (Failed(), Busy(0.01), Busy(), Answered(10)):
            worker.leave(await worker.enter(ONE), verdict)
        worker.leave(await worker.enter(ONE), Answered(10))


async def test_a_refusal_for_good_stops_the_other_worker_with_its_words():
    async with serving(LocalGovernor()) as address:
        one, other = RemoteGovernor(address), RemoteGovernor(address)
        held = await one.enter(ONE)
        waiting = asyncio.create_task(other.enter(ONE))
        await other.enter(replace(ONE, account="another"))  # its answer says that the driver has read both
        one.leave(held, Refused("no such model"))
        with pytest.raises(Stopped, match="no such model"):
            await waiting


async def test_a_worker_is_told_that_a_pause_is_longer_than_its_call_waits():
    governor = LocalGovernor()
    governor.leave(await governor.enter(ONE), Busy(7200))
    async with serving(governor) as address:
        with pytest.raises(TooLong) as told:
            await RemoteGovernor(address).enter(replace(ONE, patience=600.0))
    assert 6000 < told.value.seconds <= 7200


async def test_a_call_of_a_worker_that_is_given_up_holds_up_no_other():
    async with serving(LocalGovernor()) as address:
        worker = RemoteGovernor(address)
        held = await worker.enter(ONE)
        waiting = asyncio.create_task(worker.enter(ONE))
        await asyncio.sleep(0)
        waiting.cancel()
        worker.leave(held, Answered(10))
        worker.leave(await worker.enter(ONE), Answered(10))


async def test_a_worker_that_is_killed_gives_its_ticket_back():
    async with serving(LocalGovernor()) as address:
        given = pickle.dumps((address, ONE)).hex()
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, given, stdout=asyncio.subprocess.PIPE)
        assert worker.stdout is not None
        assert await worker.stdout.readline() == b"held\n"
        waiting = asyncio.create_task(RemoteGovernor(address).enter(ONE))
        worker.send_signal(signal.SIGKILL)
        await waiting
        await worker.wait()


async def test_without_the_driver_a_call_is_stopped_and_told_so():
    async with serving(LocalGovernor()) as address:
        worker = RemoteGovernor(address)
        held = await worker.enter(ONE)
        waiting = asyncio.create_task(worker.enter(ONE))
        await asyncio.sleep(0)
    with pytest.raises(Stopped, match="resume the run"):
        await waiting
    worker.leave(held, Answered(10))
    with pytest.raises(Stopped, match="resume the run"):
        await worker.enter(ONE)


async def test_without_the_token_no_call_starts():
    async with serving(LocalGovernor()) as address:
        with pytest.raises(Stopped):
            await RemoteGovernor(replace(address, token="guessed")).enter(ONE)


async def test_a_worker_says_its_token_to_nobody_else():
    async with serving(LocalGovernor()) as address:
        RemoteGovernor(address)
        assert redact(f"I bid $10, {address.token}.") == "I bid $10, [redacted]."


ENTER = {"account": "a", "model": "m", "age": [0], "tokens": 10, "limits": {}, "patience": 1}
NO_MESSAGES = [
    *(b"{}\n", b"[]\n", b"\xff\n", b"1\n", b'{"number": 1, "verdict": "Gone", "words": {}}\n', b'{"number": 1e999}\n'),
    b"[" * 20_000 + b"]" * 20_000 + b"\n",
    *(
        json.dumps({"number": 1, "enter": {**ENTER, **wrong}}).encode() + b"\n"
        for wrong in ({"tokens": "many"}, {"limits": {"max_concurrent": "x"}}, {"limits": []}, {"age": {}})
    ),
]


async def test_whoever_says_nothing_is_shut_out_by_those_who_come_after(monkeypatch):
    monkeypatch.setattr(remote, "MOST_SILENT", 3)
    async with serving(LocalGovernor()) as address:
        silent = [await asyncio.open_connection(address.host, address.port) for _ in range(5)]
        worker = RemoteGovernor(address)
        worker.leave(await worker.enter(ONE), Answered(10))
        for reader, writer in silent[:2]:
            assert await reader.read() == b""
            writer.close()
        for _, writer in silent[2:]:
            writer.close()


async def test_whoever_says_nothing_is_shut_out_in_the_end(monkeypatch):
    monkeypatch.setattr(remote, "TOKEN_SECONDS", 0.01)
    async with serving(LocalGovernor()) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        writer.close()


async def test_what_is_no_message_ends_the_connection_alone():
    async with serving(LocalGovernor()) as address:
        for words in NO_MESSAGES:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(address.token.encode() + b"\n" + words)
            assert await reader.read() == b""
            writer.close()
        worker = RemoteGovernor(address)
        worker.leave(await worker.enter(ONE), Answered(10))


def test_a_worker_connects_anew_in_every_event_loop():
    async def drive(address: asyncio.Future[GovernorAddress], end: asyncio.Event) -> None:
        async with serving(LocalGovernor()) as served:
            address.set_result(served)
            await end.wait()

    async def enter(worker: RemoteGovernor) -> None:
        worker.leave(await worker.enter(ONE), Answered(10))

    async def main() -> None:
        address, end = asyncio.get_running_loop().create_future(), asyncio.Event()
        driving = asyncio.create_task(drive(address, end))
        worker = RemoteGovernor(await address)
        for _ in range(2):
            await asyncio.to_thread(asyncio.run, enter(worker))
        end.set()
        await driving

    asyncio.run(main())


def test_the_address_travels_and_shows_no_token():
    address = GovernorAddress("127.0.0.1", 1, "secret")
    assert pickle.loads(pickle.dumps(address)) == address
    assert "secret" not in repr(address)
