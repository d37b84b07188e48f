"""Money: what is promised never exceeds the limit, and a game overdraws its allowance by one call at most."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._config.auction import AuctionConfig, Bidder, ModelSettings
from harbor._core.errors import LogError
from harbor._models.replay import RawCall
from harbor.evaluation._experiments.trials import Trial
from harbor.evaluation._running.budget import MARGIN, ExperimentBudget, TrialBudget, cost_of, paid_for

PRICED = {"mine": ModelSettings(use="openai:gpt", input_price=3.0, output_price=6.0)}
DEAR = {"mine": ModelSettings(use="openai:gpt", input_price=100.0, output_price=100.0)}
CALL = RawCall("Ann", "bid", "mine", "v", 1, "ok", 10, 5, 1.0, False, 0.0, 0.1, ["a" * 30, "b" * 60], "c" * 30, "")


def game(number):
    return Trial("arm", "all", number, AuctionConfig(bidders=[Bidder("Ann")]))


async def spend(allowance, costs):
    """Let bidders think side by side, each making its calls one after another, until all are done or it stops."""
    stopped = asyncio.Event()
    under_way = 0
    allowance.stop = stopped.set

    async def think(own):
        nonlocal under_way
        for cost in own:
            await allowance.admit()
            under_way += 1
            await asyncio.sleep(0)
            under_way -= 1
            allowance.charge(replace(CALL, cost_dollars=cost))

    thinking = asyncio.gather(*map(think, costs))
    waiting = asyncio.ensure_future(stopped.wait())
    await asyncio.wait({thinking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    was_under_way, done = under_way, thinking.done()
    thinking.cancel()
    waiting.cancel()
    await asyncio.gather(thinking, waiting, return_exceptions=True)
    return done, was_under_way


@given(
    costs=st.lists(st.lists(st.floats(1.0, float(MARGIN)), min_size=1, max_size=8), min_size=1, max_size=6),
    dollars=st.floats(0.1, 60.0),
)
def test_an_allowance_is_overdrawn_by_one_call_at_most_and_is_used_up_before_a_game_stops(costs, dollars):
    allowance = TrialBudget(dollars, DEAR)
    done, under_way = asyncio.run(spend(allowance, costs))
    assert allowance.spent < dollars + MARGIN
    assert done or allowance.used_up
    assert done or under_way == 0
    assert done or allowance.spent < sum(map(sum, costs))


@given(
    limit=st.floats(0.01, 1e6),
    steps=st.lists(st.tuples(st.integers(1, 5), st.floats(0, 1)), max_size=30),
)
def test_what_is_promised_and_spent_never_exceeds_the_limit_while_games_keep_to_it(limit, steps):
    purse, held, paid = ExperimentBudget(limit, {"before": limit / 10}), dict[int, float](), dict[int, float]()
    for number, share in steps:
        if number in held:
            before, until = paid.get(number, 0.0), held.pop(number)
            paid[number] = before + (until - before) * share
            purse.settle(game(number), paid[number])
        elif purse.may_start(game(number), len(held), len(paid)):
            held[number] = purse.reserve(game(number))
        bound = limit / 10 + sum(held.get(number, paid.get(number, 0.0)) for number in {*held, *paid})
        assert bound <= limit * (1 + 1e-9)
        assert purse.left == pytest.approx(limit - bound, abs=1e-6 * limit)


def test_without_a_limit_nothing_is_promised_and_something_is_always_left():
    purse = ExperimentBudget()
    assert purse.reserve(game(1)) is None
    purse.settle(game(1), 1e9)
    assert purse.left > 0
    assert purse.may_start(game(2), running=9, finished=0)


def held_with(limit, places, costs):
    """Hold games side by side that cost so much, each up to its promise; gives who finished, and what was paid."""
    purse, waiting, running, finished = ExperimentBudget(limit), list(range(len(costs))), [], []
    paid = dict.fromkeys(waiting, 0.0)
    while waiting or running:
        while waiting and len(running) < places and purse.may_start(game(waiting[0]), len(running), len(finished)):
            running.append((waiting[0], purse.reserve(game(waiting.pop(0)))))
        if not running:
            break
        number, until = running.pop(0)
        paid[number] = min(costs[number], until)
        purse.settle(game(number), paid[number])
        if paid[number] < costs[number]:
            waiting.insert(0, number)
        else:
            finished.append(number)
    return finished, sum(paid.values())


@given(
    costs=st.lists(st.floats(1.0, 1.4), min_size=1, max_size=15),
    limit=st.floats(0.5, 25.0),
    places=st.integers(1, 12),
)
def test_games_that_cost_about_the_same_are_finished_in_their_order_until_no_other_can_be_paid(costs, limit, places):
    finished, paid = held_with(limit, places, costs)
    assert sorted(finished) == list(range(len(finished)))
    assert paid <= limit * (1 + 1e-9)
    assert len(finished) == len(costs) or limit - paid < max(costs)
    assert len(finished) >= min(len(costs), int(limit / max(costs)))


def test_forty_dollars_finish_three_of_twelve_games_of_eleven_and_a_half():
    assert held_with(40.0, 10, [11.5] * 12) == ([0, 1, 2], 34.5)


@pytest.mark.parametrize("dear", [3.0, 11.5, 30.0])
def test_games_that_are_far_dearer_than_the_first_do_not_use_up_the_money_side_by_side(dear):
    finished, paid = held_with(40.0, 10, [1.0, *[dear] * 20])
    assert len(finished) >= 1 + int(39 / dear) - 1 >= 1
    assert paid <= 40.0


@pytest.mark.slow
@given(costs=st.lists(st.floats(0.0, 5.0), max_size=12), places=st.integers(1, 12))
def test_money_for_all_games_finishes_all_whatever_they_cost(costs, places):
    finished, paid = held_with(3 * sum(costs) + 10.0, places, costs)
    assert sorted(finished) == list(range(len(costs)))
    assert paid == pytest.approx(sum(costs))


def test_games_that_cost_nothing_are_held_side_by_side():
    purse = ExperimentBudget(1.0, {"before": 0.0})
    for running in range(5):
        assert purse.may_start(game(running), running, finished=5)
        assert purse.reserve(game(running)) > 0


def test_a_call_whose_cost_nobody_tells_is_charged_by_its_length():
    assert cost_of(replace(CALL, cost_dollars=0.25), PRICED) == 0.25
    assert cost_of(replace(CALL, cost_dollars=None), PRICED) == pytest.approx((30 * 3.0 + 10 * 6.0) / 1e6)
    assert cost_of(replace(CALL, cost_dollars=None), {"mine": ModelSettings()}) == 0.0


def test_a_line_that_is_cut_short_is_not_paid_for(tmp_path):
    line = json.dumps(asdict(CALL))
    (tmp_path / "calls.jsonl").write_text(f"{line}\n" * 3 + line[:40])
    assert paid_for(tmp_path, PRICED) == 3 * CALL.cost_dollars


WRONG_TYPES = [{"cost_dollars": "x"}, {"prompt": 5}, {"prompt": [1]}, {"model": []}, {"input_tokens": None}]
MISTYPED = [json.dumps(asdict(CALL) | wrong).encode() for wrong in WRONG_TYPES]


@pytest.mark.parametrize("line", [b"garbage", b"{}", b"[1]", b"\xff", b"\0" * 9, *MISTYPED], ids=str)
def test_a_line_that_is_no_call_is_named_with_its_file_and_the_remedy(line, tmp_path):
    call = json.dumps(asdict(CALL)).encode()
    (tmp_path / "0001").mkdir()
    (tmp_path / "0001" / "calls.jsonl").write_bytes(call + b"\n" + line + b"\n" + call + b"\n")
    with pytest.raises(LogError, match=r"0001/calls.jsonl' line 2 is not a model call; restore the file$"):
        paid_for(tmp_path, PRICED)
