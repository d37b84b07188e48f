"""Games against a provider with quotas, in simulated time: how many requests they need, and how much they use."""

from __future__ import annotations

import pytest

from harbor._models.governor.terms import Limits
from support.quotas import Provider, least, play

LATENCIES = [(0.005, 0.005), (0.05, 0.05), (0.02, 0.2), (0.5, 2.0)]


def reached(limits: Limits, **provider) -> tuple[float, float]:
    """Play 100 games of 20 calls; give the requests per call and the share of the quota that was used."""
    played = play(Provider(**provider), limits)
    return played.requests_per_call, least(Provider(**provider)) / played.seconds


@pytest.mark.parametrize("latency", LATENCIES)
def test_a_cap_that_is_given_is_used_without_a_wasted_request(latency):
    requests, used = reached(Limits(max_concurrent=4), cap=4, latency=latency)
    assert requests == 1
    assert used >= 0.95


@pytest.mark.parametrize("latency", LATENCIES[:3])
def test_a_pace_that_is_given_is_used_with_hardly_a_wasted_request(latency):
    requests, used = reached(Limits(requests_per_minute=3600), most=60, latency=latency)
    assert requests <= 1.02
    assert used >= 0.95


@pytest.mark.parametrize("retry_after", [None, 1.0])
@pytest.mark.parametrize("latency", LATENCIES)
def test_a_cap_is_learned_whether_or_not_the_provider_says_when_to_come_again(latency, retry_after):
    requests, used = reached(Limits(), cap=4, latency=latency, retry_after=retry_after)
    assert requests <= 1.1
    assert used >= 0.95


@pytest.mark.parametrize("latency", LATENCIES[:3])
def test_a_pace_is_learned(latency):
    requests, used = reached(Limits(), most=60, latency=latency)
    assert requests <= 1.1
    assert used >= 0.95


def test_a_pace_is_learned_from_a_provider_that_counts_what_it_refuses():
    requests, used = reached(Limits(), most=60, latency=(0.02, 0.2), counts_refused=True)
    assert requests <= 1.1
    assert used >= 0.95


@pytest.mark.parametrize("latency", LATENCIES[:3])
def test_a_cap_and_a_pace_are_learned_together(latency):
    requests, used = reached(Limits(), cap=16, most=60, retry_after=1.0, latency=latency)
    assert requests <= 1.1
    assert used >= 0.9  # each time that it finds the pace again costs the second that the provider asks for


def test_a_provider_that_counts_over_a_minute_is_not_flooded():
    requests, used = reached(Limits(), most=600, window=60.0, latency=(0.02, 0.2))
    assert requests <= 1.1
    assert used >= 0.75


def test_limits_that_are_too_high_are_lowered():
    requests, used = reached(Limits(max_concurrent=64, requests_per_minute=6000), cap=8, latency=(0.5, 2.0))
    assert requests <= 1.1
    assert used >= 0.9


def test_the_oldest_game_goes_first_so_games_finish_one_after_another():
    played = play(Provider(cap=4), Limits(max_concurrent=4), games=20, calls=5)
    half = played.order[: len(played.order) // 2]
    assert max(half) <= (13,)


@pytest.mark.parametrize("games", [2, 20, 100])
@pytest.mark.parametrize("retry_after", [None, 0.05])
def test_refusals_at_random_do_not_slow_an_account_down_for_good(games, retry_after):
    provider = Provider(share=0.2, retry_after=retry_after)
    assert play(provider, Limits(), games, calls=40).seconds < 120
    assert provider.requests < 1.3 * games * 40
