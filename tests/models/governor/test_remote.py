from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from harbor._core.basics.redaction import redact
from harbor._models.governor import remote
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.remote import RemoteGovernor, serving
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request, Stopped, TooLong
from support.quotas import Provider, play_for_real

ONE = Request("account", "model", (0,), 10, Limits(max_concurrent=1))


async def test_two_workers_share_one_quota_no_call_fails_and_every_verdict_reaches_the_driver():
    provider, limits = Provider(cap=4, latency=(0.001, 0.003)), Limits(max_concurrent=4)
    async with serving(LocalGovernor()) as address:
        workers = enumerate([RemoteGovernor(address), RemoteGovernor(address)])
        await asyncio.gather(*(play_for_real(provider, each, limits, 10, 10, n * 100) for n, each in workers))
        assert (provider.requests, provider.busy) == (200, 0)
        worker = RemoteGovernor(address)
        for verdict in (Failed(), Busy(0.01), Busy(), Answered(10), Answered(10)):
            worker.leave(await worker.enter(ONE), verdict)


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


async def test_without_the_token_which_is_shown_to_nobody_else_no_call_starts():
    async with serving(LocalGovernor()) as address:
        with pytest.raises(Stopped):
            await RemoteGovernor(replace(address, token="guessed")).enter(ONE)
        RemoteGovernor(address)
        assert redact(f"I bid $10, {address.token}.") == "I bid $10, [redacted]."
    assert address.token not in repr(address)


ENTER = {"account": "a", "model": "m", "age": [0], "tokens": 10, "limits": {}, "patience": 1}
WRONG = ({"tokens": "many"}, {"limits": {"max_concurrent": "x"}}, {"limits": []}, {"age": {}})
NO_MESSAGES = [
    "{}", "[]", "\xff", "1", '{"number": 1, "verdict": "Gone", "words": {}}', '{"number": 1e999}', "[" * 20_000,
    "[" * 20_000 + "]" * 20_000, *(json.dumps({"number": 1, "enter": ENTER | wrong}) for wrong in WRONG),
]  # fmt: skip


async def test_whoever_says_nothing_or_no_message_is_shut_out_and_others_go_on(monkeypatch):
    monkeypatch.setattr(remote, "MOST_SILENT", 3)
    async with serving(LocalGovernor()) as address:
        silent = [await asyncio.open_connection(address.host, address.port) for _ in range(5)]
        worker = RemoteGovernor(address)
        worker.leave(await worker.enter(ONE), Answered(10))
        for reader, _ in silent[:2]:
            assert await reader.read() == b""
        for words in NO_MESSAGES:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(f"{address.token}\n{words}\n".encode("latin-1"))
            assert await reader.read() == b""
            writer.close()
        worker.leave(await worker.enter(ONE), Answered(10))
        monkeypatch.setattr(remote, "TOKEN_SECONDS", 0.01)
        reader, last = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        for writer in (last, *(writer for _, writer in silent)):
            writer.close()


def test_a_worker_connects_anew_in_every_event_loop():
    async def main() -> None:
        async with serving(LocalGovernor()) as address:
            worker = RemoteGovernor(address)

            async def enter() -> None:
                worker.leave(await worker.enter(ONE), Answered(10))

            for _ in range(2):
                await asyncio.to_thread(asyncio.run, enter())

    asyncio.run(main())
