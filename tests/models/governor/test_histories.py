"""The governor keeps to the limits that it is given whatever happens, and finds those that it is not given."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from harbor._models.governor.terms import Limits, Request
from support.histories import GIVEN, Driven
from support.quotas import Provider, least, play

SECONDS = some.floats(0, 2) | some.sampled_from((0.999, 1.0, 7.0, 70.0))
ACTS = some.lists(some.tuples(some.integers(0, 9), some.integers(0, 30), SECONDS), max_size=80)


@example(120, None, [(0, 0, 0), (0, 0, 0.5), (0, 1, 0), (6, 2, 0)])
@example(1.5, None, [(0, 0, 0)] * 3)
@settings(max_examples=200)
@given(some.sampled_from(GIVEN), some.sampled_from((None, 1, 3)), ACTS)
def test_no_second_and_no_minute_has_more_starts_than_given_nor_any_moment_more_calls_and_every_call_starts_in_the_end(
    given, most, acts
):
    driven = Driven(Limits(requests_per_minute=given, max_concurrent=most))
    for act in acts:
        driven.act(*act)
        assert len(driven.inside) <= (most or 1_000)
    driven.finish()
    assert not driven.excess()


@given(ACTS)
def test_without_limits_the_oldest_call_of_a_model_starts_first_and_every_call_in_the_end(acts):
    driven = Driven(Limits())
    for act in acts:
        driven.act(*act)
    driven.finish()
    driven.account.enter(999, Request("account", "m", (0,), 10, Limits(max_concurrent=1)))
    assert driven.account.step(driven.now + 100).started == (999,), "a ticket has leaked"


# ---------------------------------------------------------------- against a provider with quotas, in simulated time


LATENCIES = [(0.005, 0.005), (0.02, 0.2), (0.5, 2.0)]
CAP, PACE, NONE = Limits(max_concurrent=4), Limits(requests_per_minute=3600), Limits()
HIGH = Limits(max_concurrent=64, requests_per_minute=6000)
PROVIDERS = [
    *((CAP, {"cap": 4, "latency": each}, 1, 0.95) for each in LATENCIES),
    *((PACE, {"most": 60, "latency": each}, 1.02, 0.95) for each in LATENCIES[:2]),
    *((NONE, {"cap": 4, "latency": each}, 1.1, 0.95) for each in LATENCIES),
    *((NONE, {"cap": 4, "latency": each, "retry_after": 1.0}, 1.1, 0.95) for each in LATENCIES),
    *((NONE, {"most": 60, "latency": each}, 1.1, 0.95) for each in LATENCIES[:2]),
    (NONE, {"most": 60, "latency": (0.02, 0.2), "counts_refused": True}, 1.1, 0.95),
    # each time that it finds the pace again costs the second that the provider asks for
    *((NONE, {"cap": 16, "most": 60, "retry_after": 1.0, "latency": each}, 1.1, 0.9) for each in LATENCIES[:2]),
    (NONE, {"most": 600, "window": 60.0, "latency": (0.02, 0.2)}, 1.1, 0.75),
    (HIGH, {"cap": 8, "latency": (0.5, 2.0)}, 1.1, 0.9),
]


@pytest.mark.parametrize(("limits", "provider", "most", "least_used"), PROVIDERS)
def test_a_quota_that_is_given_or_learned_is_used_with_hardly_a_wasted_request(limits, provider, most, least_used):
    played = play(Provider(**provider), limits)  # 100 games of 20 calls
    assert played.requests_per_call <= most
    assert least(Provider(**provider)) / played.seconds >= least_used


def test_the_oldest_game_goes_first_so_games_finish_one_after_another():
    played = play(Provider(cap=4), CAP, games=20, calls=5)
    assert max(played.order[: len(played.order) // 2]) <= (13,)


@pytest.mark.parametrize("games", [2, 20, 100])
@pytest.mark.parametrize("retry_after", [None, 0.05])
def test_refusals_at_random_do_not_slow_an_account_down_for_good(games, retry_after):
    provider = Provider(share=0.2, retry_after=retry_after)
    assert play(provider, NONE, games, calls=40).seconds < 120
    assert provider.requests < 1.3 * games * 40
