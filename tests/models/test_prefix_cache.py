"""What providers keep of the beginnings of prompts: OpenAI by itself, Anthropic where it is marked."""

from __future__ import annotations

import json
from bisect import bisect_left

import pytest

from harbor import Auction, Bidder, Item, ModelSettings, houses
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import Usage
from support.cases import crossed
from support.formats import spoken
from support.providers import openai_chat, provider
from support.providers.speech import CHARACTERS_PER_TOKEN

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


ALIKE = 0.8
"""The least share of tokens that all calls of a bidder begin with as earlier ones did, once these are long enough."""
LONG = 1_024
"""Tokens from which on providers keep the beginning of a prompt."""


def heard_parts(body):
    """List what a provider reads, in the order in which it is kept: tools, then messages."""
    return openai_chat.hear("", body).parts


def common(one, other):
    """Count the characters that two texts begin with alike."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda size: one[:size] != other[:size])


def begun_alike(bodies):
    """Return the share of characters that an earlier call had at its beginning, from the first call that is long."""
    read = begun = 0
    earlier: list[str] = []
    for body in bodies:
        text = "".join(part for part, _ in heard_parts(body))
        if len(text) >= LONG * CHARACTERS_PER_TOKEN:
            read, begun = read + len(text), begun + max((common(text, one) for one in earlier), default=0)
        earlier.append(text)
    return begun / read


@pytest.mark.parametrize("mind", [{}, {"bidding": "limit"}, {"theory_of_mind": "second", "strategy": "on"}], ids=str)
def test_calls_of_a_bidder_begin_as_earlier_ones_did(mind):
    with provider(seed=SEED) as server:
        bidders = [Bidder(name, model="mine", budget=20_000, **mind) for name in ("Ann", "Ben", "Cho")]
        models = {"mine": ModelSettings(use="openai:gpt-5", base_url=server.openai_url)}
        Auction(items=LOTS, bidders=bidders, models=models, seed=SEED).run()
        assert begun_alike([heard.body for heard in server.requests]) >= ALIKE


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


def test_all_shapes_of_replies_are_offered_in_each_call_and_the_wanted_one_is_forced():
    with provider(seed=SEED) as server:
        played(use="openai:gpt-4o", base_url=server.openai_url)
        bodies = [heard.body for heard in server.requests]
        assert len({json.dumps(body["tools"]) for body in bodies}) == 1
        forced = {body["tool_choice"]["function"]["name"] for body in bodies}
        assert forced == {tool["function"]["name"] for tool in bodies[0]["tools"]} > {"LimitReply"}


def test_the_bundle_of_a_paper_offers_the_wanted_shape_alone():
    with provider(seed=SEED) as server:
        models = {"mine": ModelSettings(use="openai:gpt-4o", base_url=server.openai_url)}
        bidders = [Bidder(name, model="mine", protocol="aucarena", reply="tool") for name in ("Ann", "Ben")]
        Auction(items=ITEMS, bidders=bidders, models=models, seed=SEED).run()
        assert {len(heard.body["tools"]) for heard in server.requests} == {1}
