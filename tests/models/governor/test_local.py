from __future__ import annotations

import asyncio
from dataclasses import replace
from threading import Thread

import pytest

from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.terms import Answered, Limits, Refused, Request, Stopped
from support.quotas import Provider, TimelessLoop, least, play_for_real

ONE = Request("account", "model", (0,), 10, Limits(max_concurrent=1))


@pytest.fixture
def governor() -> LocalGovernor:
    return LocalGovernor()


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


async def test_a_first_call_that_is_refused_stops_all_that_wait_for_it_and_no_other_account(governor):
    held = await governor.enter(ONE)
    waiting = [asyncio.create_task(governor.enter(ONE)) for _ in range(3)]
    await soon()
    other = await governor.enter(replace(ONE, account="another account"))
    governor.leave(held, Refused("the key is wrong"))
    for task in waiting:
        with pytest.raises(Stopped, match="the key is wrong"):
            await task
    governor.leave(await governor.enter(ONE), Answered(10))
    governor.leave(other, Answered(10))


def test_what_an_event_loop_held_when_it_was_closed_is_free_again(governor):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(governor.enter(ONE))
    loop.close()

    async def enter() -> None:
        governor.leave(await governor.enter(ONE), Answered(10))

    asyncio.run(enter())
