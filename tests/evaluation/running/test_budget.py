"""Money of an experiment: what is promised never exceeds the limit, and it finishes games in their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._config.auction import AuctionConfig, Bidder
from harbor.evaluation._experiments.trials import Trial
from harbor.evaluation._running.runner import ExperimentBudget


def game(number):
    return Trial("arm", "all", number, AuctionConfig(bidders=[Bidder("Ann")]))


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


def test_games_that_cost_nothing_are_held_side_by_side():
    purse = ExperimentBudget(1.0, {"before": 0.0})
    for running in range(5):
        assert purse.may_start(game(running), running, finished=5)
        assert purse.reserve(game(running)) > 0


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
