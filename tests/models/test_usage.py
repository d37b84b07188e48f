"""What a call took, read out of the messages that the providers' own packages make of their servers' answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import Usage, usage_of
from support.formats import SEED, spoken
from support.providers import provider

PRICED = ModelSettings(use="openai:gpt", input_price=2, cached_price=0.5, output_price=10)


def test_a_service_tier_hides_no_cached_tokens_and_a_message_that_tells_nothing_has_no_cost():
    details = {"flex": 476, "flex_cache_read": 1_024}
    used = {"input_tokens": 1_500, "output_tokens": 70, "total_tokens": 1_570, "input_token_details": details}
    assert usage_of(AIMessage("", usage_metadata=used)).cached_tokens == 1_024
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert usage_of(AIMessage("Hm.", response_metadata=cut)) == Usage(finish="max_output_tokens")
    assert Usage().cost(PRICED) is None


counts = st.integers(0, 10**7)


@given(read=counts, cached=counts, written=counts)
def test_cached_input_costs_its_own_price_and_the_rest_the_usual_one(read, cached, written):
    used = Usage(told=True, input_tokens=read, cached_tokens=cached, output_tokens=written)
    cost, known = used.cost(PRICED), min(read, cached)
    assert cost == pytest.approx(((read - known) * 2 + known * 0.5 + written * 10) / 1e6)
    dear = PRICED.model_copy(update={"cached_price": None})
    assert cost <= used.cost(dear)
    assert replace(used, cached_tokens=0).cost(dear) == pytest.approx((read * 2 + written * 10) / 1e6)


@pytest.mark.parametrize(
    ("form", "answered_by", "finish", "keeps", "thoughts"),
    [
        ("openai chat", "gpt-4o-mini-2024-07-18", "tool_calls", True, 3),
        ("openai responses", "gpt-4o-mini-2024-07-18", "completed", True, 3),
        ("anthropic", "claude-haiku-4-5", "tool_use", True, 0),
        ("google", "gemini-2.5-flash", "STOP", True, 3),
        ("ollama", "llama3.1", "stop", False, 0),
    ],
)
def test_over_each_wire_a_call_is_in_the_log_as_the_server_counted_it(form, answered_by, finish, keeps, thoughts):
    items = [Item(name=f"Lot {letter}", start=1_000, true_value=2_000, listing="Sun. " * 200) for letter in "AB"]
    with provider(seed=SEED, thought=3) as server:
        mine = ModelSettings(**spoken(form, server), input_price=2, cached_price=0.5, output_price=10)
        bidders = [Bidder("Ann", model="mine"), Bidder("Ben", model="mine")]
        found = Auction(items=items, bidders=bidders, models={"mine": mine}, seed=SEED).run()
        read, written = (sum(getattr(heard, name) for heard in server.requests) for name in ("read", "written"))
    total = found.metrics().calls.total
    assert {(call.answered_by, call.finish) for call in of_type(found.log, ModelCalled)} == {(answered_by, finish)}
    assert (total.input_tokens, total.output_tokens) == (read, written)
    assert 0 <= total.cached_tokens < total.input_tokens
    assert (total.cached_tokens > 0, total.reasoning_tokens) == (keeps, thoughts * total.count)
    plain = total.input_tokens - total.cached_tokens
    assert total.cost_dollars == pytest.approx((plain * 2 + total.cached_tokens * 0.5 + total.output_tokens * 10) / 1e6)
