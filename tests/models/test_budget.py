"""Money of a run: its limit is overdrawn by one call at most, and it stops when no call is under way."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._config.auction import ModelSettings
from harbor._core.log.events import NO_REQUESTS, Spent
from harbor._models.budget import MARGIN, RunBudget, cost_of
from harbor._models.replies.replay import RawCall

PRICED = {"mine": ModelSettings(use="openai:gpt", input_price=3.0, output_price=6.0)}
DEAR = {"mine": ModelSettings(use="openai:gpt", input_price=100.0, output_price=100.0)}
CALL = RawCall("Ann", "bid", "mine", "v", 1, "ok", 10, 5, 1.0, False, 0.0, 0.1, ["a" * 30, "b" * 60], "c" * 30, "")


async def spend(allowance, costs):
    """Let bidders think side by side, each making its calls one after another, until all are done or it stops."""
    stopped, under_way = asyncio.Event(), []
    allowance.stop = stopped.set

    async def think(own):
        for cost in own:
            await allowance.admit()
            under_way.append(cost)
            await asyncio.sleep(0)
            under_way.remove(cost)
            allowance.charge(replace(CALL, cost_dollars=cost))

    thinking, waiting = asyncio.gather(*map(think, costs)), asyncio.ensure_future(stopped.wait())
    await asyncio.wait({thinking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    ended = thinking.done(), len(under_way)
    thinking.cancel()
    waiting.cancel()
    await asyncio.gather(thinking, waiting, return_exceptions=True)
    return ended


@given(
    costs=st.lists(st.lists(st.floats(1.0, float(MARGIN)), min_size=1, max_size=8), min_size=1, max_size=6),
    dollars=st.floats(0.1, 60.0),
)
def test_an_allowance_is_overdrawn_by_one_call_at_most_and_is_used_up_before_a_game_stops(costs, dollars):
    allowance = RunBudget(dollars, DEAR)
    done, under_way = asyncio.run(spend(allowance, costs))
    assert allowance.spent < dollars + MARGIN
    assert done or allowance.used_up
    assert done or under_way == 0
    assert done or allowance.spent < sum(map(sum, costs))


async def side_by_side(allowance):
    """Return how many of ten more calls may go side by side."""
    waiting = [asyncio.ensure_future(allowance.admit()) for _ in range(10)]
    await asyncio.sleep(0)
    count = sum(one.done() for one in waiting)
    for one in waiting:
        one.cancel()
    return count


@pytest.mark.parametrize(("dollars", "admitted"), [(1.5, 1), (3.9, 1), (5.0, 2), (9.9, 4), (11.0, 5)])
async def test_as_many_calls_go_side_by_side_as_what_is_left_pays_at_twice_the_dearest(dollars, admitted):
    allowance = RunBudget(dollars, DEAR)
    await allowance.admit()
    allowance.charge(replace(CALL, cost_dollars=1.0))
    assert await side_by_side(allowance) == admitted


def test_a_call_whose_cost_nobody_tells_is_charged_by_its_length():
    assert cost_of(replace(CALL, cost_dollars=0.25), PRICED) == 0.25
    assert cost_of(replace(CALL, cost_dollars=None), PRICED) == pytest.approx((30 * 3.0 + 10 * 6.0) / 1e6)
    assert cost_of(replace(CALL, cost_dollars=None), {"mine": ModelSettings()}) == 0.0


@pytest.mark.parametrize(("lost", "spent"), [(NO_REQUESTS, 1.0), (Spent(1, 0, 0, 40.0), 41.0)])
async def test_a_lost_request_is_paid_at_its_most_and_does_not_make_later_calls_look_dear(lost, spent):
    allowance = RunBudget(100.0, DEAR)
    await allowance.admit()
    allowance.charge(replace(CALL, cost_dollars=1.0, lost=lost))
    await allowance.admit()
    assert (await side_by_side(allowance), allowance.spent) == (10, spent)
