"""The governor of a process and of its workers: who may start, and what is under way."""

from __future__ import annotations

import asyncio
import json
import pickle
import signal
import sys
import warnings
from dataclasses import replace
from threading import Thread

import pytest

from harbor._core.basics.redaction import redact
from harbor._models.governor import remote, terms
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.remote import GovernorAddress, RemoteGovernor, serving
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request, Stopped, Wait
from support.quotas import Provider, TimelessLoop, least, play_for_real

ONE, ANSWERED = Request("account", "model", (0,), 10, Limits(max_concurrent=1)), Answered(10)


@pytest.fixture
def governor() -> LocalGovernor:
    return LocalGovernor()


async def once(governor: terms.Governor, request: Request = ONE, verdict: terms.Verdict = ANSWERED) -> None:
    """Let a call start and end."""
    governor.leave(await governor.enter(request), verdict)


async def soon() -> None:
    """Let everything that is ready go on."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_hundred_games_use_the_quota_of_a_provider_and_waste_hardly_a_request():
    provider, loop = Provider(most=60, latency=(0.02, 0.2)), TimelessLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(play_for_real(provider, LocalGovernor(loop.time), Limits(requests_per_minute=3600)))
    assert provider.requests <= 1.02 * 2000
    assert least(Provider(most=60, latency=(0.02, 0.2))) / loop.now >= 0.95


def test_games_in_two_threads_share_one_quota():
    governor, provider = LocalGovernor(), Provider(cap=2, latency=(0.001, 0.002))

    def play(first: int) -> None:
        asyncio.run(play_for_real(provider, governor, Limits(max_concurrent=2), games=5, calls=10, first=first))

    threads = [Thread(target=play, args=(first,)) for first in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (provider.requests, provider.busy) == (100, 0)


@pytest.mark.parametrize("just_as_it_may_start", [False, True])
async def test_a_call_that_is_given_up_leaves_the_queue_and_gives_its_ticket_back(just_as_it_may_start, governor):
    held = await governor.enter(ONE)
    given_up = asyncio.create_task(governor.enter(ONE))
    next_one = asyncio.create_task(governor.enter(ONE))
    await soon()
    if not just_as_it_may_start:
        given_up.cancel()
        await soon()
    governor.leave(held, Answered(10))
    given_up.cancel()
    await soon()
    assert given_up.cancelled()
    governor.leave(await next_one, Answered(10))


def test_what_an_event_loop_held_when_it_was_closed_is_free_again(governor):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(governor.enter(ONE))
    loop.close()

    asyncio.run(once(governor))


# ---------------------------------------------------------------- in workers


async def test_two_workers_share_one_quota_no_call_fails_and_every_verdict_reaches_the_driver():
    provider, limits = Provider(cap=4, latency=(0.001, 0.003)), Limits(max_concurrent=4)
    async with serving(LocalGovernor()) as address:
        workers = enumerate([RemoteGovernor(address), RemoteGovernor(address)])
        await asyncio.gather(*(play_for_real(provider, each, limits, 10, 10, n * 100) for n, each in workers))
        assert (provider.requests, provider.busy) == (200, 0)
        worker = RemoteGovernor(address)
        for verdict in (Failed(), Busy(0.01), Busy(), Answered(10), Answered(10)):
            await once(worker, ONE, verdict)


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
    await once(governor, ONE, Busy(7200))
    async with serving(governor) as address:
        with pytest.raises(terms.TooLong) as told:
            await RemoteGovernor(address).enter(replace(ONE, patience=600.0))
    assert 6000 < told.value.seconds <= 7200


async def one_held_and_one_waiting(address):
    """Let a worker make one call, and begin another that has to wait for it."""
    worker = RemoteGovernor(address)
    held = await worker.enter(ONE)
    waiting = asyncio.create_task(worker.enter(ONE))
    await asyncio.sleep(0)
    return worker, held, waiting


async def test_a_call_of_a_worker_that_is_given_up_holds_up_no_other():
    async with serving(LocalGovernor()) as address:
        worker, held, waiting = await one_held_and_one_waiting(address)
        waiting.cancel()
        worker.leave(held, Answered(10))
        await once(worker)


async def test_without_the_driver_a_call_is_stopped_and_told_so():
    async with serving(LocalGovernor()) as address:
        worker, held, waiting = await one_held_and_one_waiting(address)
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


async def shut_out(address: GovernorAddress, words: str) -> None:
    """Say these words with the token, and be left."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(f"{address.token}\n{words}\n".encode("latin-1"))
    assert await reader.read() == b""
    writer.close()


async def test_whoever_says_nothing_or_no_message_is_shut_out_and_others_go_on(monkeypatch):
    monkeypatch.setattr(remote, "MOST_SILENT", 3)
    async with serving(LocalGovernor()) as address:
        silent = [await asyncio.open_connection(address.host, address.port) for _ in range(5)]
        worker = RemoteGovernor(address)
        await once(worker)
        for reader, _ in silent[:2]:
            assert await reader.read() == b""
        for words in NO_MESSAGES:
            await shut_out(address, words)
        await once(worker)
        monkeypatch.setattr(remote, "TOKEN_SECONDS", 0.01)
        reader, last = await asyncio.open_connection(address.host, address.port)
        assert await reader.read() == b""
        for writer in (last, *(writer for _, writer in silent)):
            writer.close()


def test_a_worker_connects_anew_in_every_event_loop():
    async def main() -> None:
        async with serving(LocalGovernor()) as address:
            worker = RemoteGovernor(address)
            for _ in range(2):
                await asyncio.to_thread(lambda: asyncio.run(once(worker)))

    asyncio.run(main())


# ---------------------------------------------------------------- what is under way


THERE = Request("account", "model", (0,), 10, host="there", shown="mine")
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
    first = await governor.enter(THERE)
    waiting = asyncio.create_task(governor.enter(THERE))  # the first call of a model goes alone
    await asyncio.sleep(0)
    now[0] += 7.0
    state = governor.under_way()
    assert (state.calls, state.queued, state.longest) == (1, 1, terms.Asked("there", "mine", 7.0))
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
    there = replace(THERE, account="elsewhere", host="elsewhere")
    await once(governor, there, Answered(10))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        governor.note(0, replace(LOST, host="elsewhere"))  # which has an outage
        governor.note(1, LOST)
        governor.note(2, LOST)
        async with serving(governor) as address:
            worker = RemoteGovernor(address)
            await once(worker, THERE, Failed())
            worker.note(1, LOST)
            await once(worker, THERE, Failed())  # its start says that the driver has read the note
            assert len(governor.under_way().waits) == 4
    [told] = [str(one.message) for one in heard]
    assert told.startswith("no connection to there (unknown host) for model 'mine'; it is tried again until ")


async def test_a_worker_that_is_killed_leaves_no_wait_behind_but_what_it_has_spent(governor):
    await once(governor, THERE, Answered(10))  # then calls go side by side
    async with serving(governor) as address:
        given = pickle.dumps((address, THERE, DOWN)).hex()
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
            await shut_out(address, f'{{"number": 1, {wrong}}}')
    assert (governor.under_way().waits, governor.under_way().dollars) == ((), 0.0)
