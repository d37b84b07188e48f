"""What providers keep of the beginnings of prompts: OpenAI by itself, Anthropic where it is marked."""

from __future__ import annotations

import json

import pytest

from harbor import Auction, Bidder, Item, ModelSettings, houses
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import Usage
from support.cases import crossed
from support.formats import spoken
from support.providers import provider

SEED = 3
ITEMS = houses(2, seed=SEED)
LOTS = [Item(name=f"Lot {one}", start=1_000 * one, true_value=2_000 * one) for one in range(1, 6)]


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


@pytest.mark.parametrize(
    ("cached", "written", "dollars"), [(0, 0, 8.0), (1_000_000, 0, 2.0), (0, 1_000_000, 10.0), (500_000, 500_000, 6.0)]
)
def test_input_costs_less_where_it_was_kept_and_more_where_it_is_from_now_on(cached, written, dollars):
    settings = ModelSettings(use="anthropic:claude", input_price=8.0, cached_price=2.0, output_price=1.0)
    usage = Usage(told=True, input_tokens=1_000_000, cached_tokens=cached, written_tokens=written)
    assert usage.cost(settings) == pytest.approx(dollars)


KEPT = {
    "openai chat": {"tool": (0.87, 0.8), "json": (0.86, 0.76), "text": (0.86, 0.76)},
    "anthropic": {"tool": (0.82, 0.77), "json": (0.82, 0.78), "text": (0.82, 0.78)},
}
"""The least share of tokens from a cache, of bidding by call and by limit; providers count in steps or up to a mark."""


@pytest.mark.parametrize(("form", "reply", "bidding"), crossed([*KEPT], ["tool", "json", "text"], ["call", "limit"]))
def test_providers_keep_most_of_what_a_bidder_sends(form, reply, bidding):
    with provider(seed=SEED) as server:
        bidders = [Bidder(name, model="mine", budget=20_000, bidding=bidding) for name in ("Ann", "Ben", "Cho")]
        models = {"mine": ModelSettings(**spoken(form, server), reply=reply)}
        calls = of_type(Auction(items=LOTS, bidders=bidders, models=models, seed=SEED).run().log, ModelCalled)
    least = KEPT[form][reply][bidding == "limit"]
    assert sum(call.cached_tokens for call in calls) >= least * sum(call.input_tokens for call in calls)


def test_all_shapes_of_replies_are_offered_in_each_call_and_the_wanted_one_is_forced_but_a_papers_bundle_has_one():
    with provider(seed=SEED) as server:
        played(use="openai:gpt-4o", base_url=server.openai_url)
        bodies = [heard.body for heard in server.requests]
        assert len({json.dumps(body["tools"]) for body in bodies}) == 1
        forced = {body["tool_choice"]["function"]["name"] for body in bodies}
        assert forced == {tool["function"]["name"] for tool in bodies[0]["tools"]} > {"LimitReply"}
        assert all(isinstance(body["messages"][0]["content"], str) for body in bodies)  # without a mark of Anthropic's
        models = {"mine": ModelSettings(use="openai:gpt-4o", base_url=server.openai_url)}
        bidders = [Bidder(name, model="mine", protocol="aucarena", reply="tool") for name in ("Ann", "Ben")]
        Auction(items=ITEMS, bidders=bidders, models=models, seed=SEED).run()
        assert {len(heard.body["tools"]) for heard in server.requests[len(bodies) :]} == {1}
