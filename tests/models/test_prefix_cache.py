"""What providers keep of the beginnings of prompts: OpenAI by itself, Anthropic where it is marked."""

from __future__ import annotations

import pytest

from harbor import Auction, Bidder, ModelSettings, houses
from harbor._core.events import ModelCalled
from harbor._core.log import of_type
from harbor._models.calls.usage import Usage
from support.providers import provider

SEED = 3
ITEMS = houses(2, seed=SEED)


def played(**settings):
    bidders = [Bidder(name, model="mine", theory_of_mind="true", persona="downsizing") for name in ("Ann", "Ben")]
    return Auction(items=ITEMS, bidders=bidders, models={"mine": ModelSettings(**settings)}, seed=SEED).run()


def test_the_end_of_the_system_prompt_is_marked_for_anthropic_and_read_again_at_a_lower_price():
    with provider(seed=SEED) as server:
        prices = {"input_price": 10.0, "cached_price": 1.0, "output_price": 0.0}
        run = played(use="anthropic:claude", base_url=server.anthropic_url, **prices)
        calls = of_type(run.log, ModelCalled)
        assert run.standings == played().standings
        assert all(heard.body["system"][-1]["cache_control"] == {"type": "ephemeral"} for heard in server.requests)
        read, kept = sum(call.input_tokens for call in calls), sum(call.cached_tokens for call in calls)
        assert kept > read / 4
        assert sum(call.cost_dollars for call in calls) < (10 * 1.25 * (read - kept) + kept) / 1e6


def test_no_mark_goes_to_other_providers():
    with provider(seed=SEED) as server:
        played(use="openai:gpt-4o", base_url=server.openai_url)
        assert all(isinstance(heard.body["messages"][0]["content"], str) for heard in server.requests)


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(told=True, input_tokens=1_000_000), 8.0),
        (Usage(told=True, input_tokens=1_000_000, cached_tokens=1_000_000), 2.0),
        (Usage(told=True, input_tokens=1_000_000, written_tokens=1_000_000), 10.0),
        (Usage(told=True, input_tokens=1_000_000, cached_tokens=500_000, written_tokens=500_000), 6.0),
    ],
)
def test_input_costs_less_where_it_was_kept_and_more_where_it_is_from_now_on(usage, dollars):
    settings = ModelSettings(use="anthropic:claude", input_price=8.0, cached_price=2.0, output_price=1.0)
    assert usage.cost(settings) == pytest.approx(dollars)
