from __future__ import annotations

import asyncio
from dataclasses import replace
from threading import Thread

import pytest

from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.local import governor as of_this_process
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request, Stopped, TooLong
from support.quotas import Provider, TimelessLoop, least, play_for_real

ONE = Request("account", "model", (0,), 10, Limits(max_concurrent=1))


@pytest.fixture
def governor() -> LocalGovernor:
    return LocalGovernor()


async def soon() -> None:
    """Let everything that is ready go on."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("limits", "quota", "most"),
    [
        (Limits(max_concurrent=4), {"cap": 4}, 1.02),
        (Limits(requests_per_minute=3600), {"most": 60}, 1.02),
        (Limits(), {"cap": 4}, 1.1),
        (Limits(), {"most": 60}, 1.1),
    ],
)
def test_a_hundred_games_use_the_quota_of_a_provider_and_waste_hardly_a_request(limits, quota, most):
    provider = Provider(**quota, latency=(0.02, 0.2))
    loop = TimelessLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(play_for_real(provider, LocalGovernor(loop.time), limits))
    assert provider.requests <= most * 2000
    assert least(Provider(**quota, latency=(0.02, 0.2))) / loop.now >= 0.95


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


async def test_a_call_that_is_given_up_while_it_waits_leaves_the_queue(governor):
    held = await governor.enter(ONE)
    given_up = asyncio.create_task(governor.enter(ONE))
    next_one = asyncio.create_task(governor.enter(ONE))
    await soon()
    given_up.cancel()
    await soon()
    governor.leave(held, Answered(10))
    governor.leave(await next_one, Answered(10))


async def test_a_call_that_is_given_up_just_as_it_may_start_gives_its_ticket_back(governor):
    held = await governor.enter(ONE)
    given_up = asyncio.create_task(governor.enter(ONE))
    await soon()
    governor.leave(held, Answered(10))
    given_up.cancel()
    await soon()
    assert given_up.cancelled()
    governor.leave(await governor.enter(ONE), Failed())


async def test_a_first_call_that_is_refused_stops_all_that_wait_for_it_with_its_words(governor):
    held = await governor.enter(ONE)
    waiting = [asyncio.create_task(governor.enter(ONE)) for _ in range(3)]
    await soon()
    governor.leave(held, Refused("the key is wrong"))
    for task in waiting:
        with pytest.raises(Stopped, match="the key is wrong"):
            await task
    governor.leave(await governor.enter(ONE), Answered(10))


async def test_an_account_that_has_to_wait_holds_up_no_other(governor):
    governor.leave(await governor.enter(ONE), Busy(1000))
    waiting = asyncio.create_task(governor.enter(ONE))
    other = Request("another account", "model", (9,), 10, Limits(max_concurrent=1))
    governor.leave(await governor.enter(other), Answered(10))
    assert not waiting.done()
    waiting.cancel()


def test_a_long_pause_is_told_at_once_to_those_who_wait_and_those_who_come_and_later_all_goes_on():
    loop = TimelessLoop()
    governor, hasty = LocalGovernor(loop.time), replace(ONE, patience=600.0)

    async def play() -> None:
        held = await governor.enter(hasty)
        waiting = asyncio.create_task(governor.enter(hasty))
        await soon()
        governor.leave(held, Busy(7200))
        for call in (waiting, governor.enter(hasty)):
            with pytest.raises(TooLong) as told:
                await call
            assert told.value.seconds == 7200
        await asyncio.sleep(7000)
        governor.leave(await governor.enter(hasty), Answered(10))

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(play())
    assert loop.now == 7200


def test_what_an_event_loop_held_when_it_was_closed_is_free_again(governor):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(governor.enter(ONE))
    loop.close()

    async def enter() -> None:
        governor.leave(await governor.enter(ONE), Answered(10))

    asyncio.run(enter())


def test_a_process_has_one_governor():
    assert of_this_process() is of_this_process()
