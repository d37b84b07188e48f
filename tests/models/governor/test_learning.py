"""Games against a provider with quotas, in simulated time: how many requests they need, and how much they use."""

from __future__ import annotations

import pytest

from harbor._models.governor.terms import Limits
from support.quotas import Provider, least, play

LATENCIES = [(0.005, 0.005), (0.05, 0.05), (0.02, 0.2), (0.5, 2.0)]
CAP, PACE, NONE = Limits(max_concurrent=4), Limits(requests_per_minute=3600), Limits()
HIGH = Limits(max_concurrent=64, requests_per_minute=6000)
PROVIDERS = [
    *((CAP, {"cap": 4, "latency": each}, 1, 0.95) for each in LATENCIES),
    *((PACE, {"most": 60, "latency": each}, 1.02, 0.95) for each in LATENCIES[:3]),
    *((NONE, {"cap": 4, "latency": each}, 1.1, 0.95) for each in LATENCIES),
    *((NONE, {"cap": 4, "latency": each, "retry_after": 1.0}, 1.1, 0.95) for each in LATENCIES),
    *((NONE, {"most": 60, "latency": each}, 1.1, 0.95) for each in LATENCIES[:3]),
    (NONE, {"most": 60, "latency": (0.02, 0.2), "counts_refused": True}, 1.1, 0.95),
    # each time that it finds the pace again costs the second that the provider asks for
    *((NONE, {"cap": 16, "most": 60, "retry_after": 1.0, "latency": each}, 1.1, 0.9) for each in LATENCIES[:3]),
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
