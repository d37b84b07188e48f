"""The providers on loopback that other tests rely on: their faults, their limits and what they count."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

import httpx
import pytest
from langchain_core.messages import AIMessage

from harbor import Bidder
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from support.formats import FORMATS, auction, spoken
from support.processes import LONG
from support.providers import KINDS, Faults, Limits, provider

PLAIN = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def talker():
    used = {"input_tokens": 10_000, "output_tokens": 4, "total_tokens": 10_004}
    with provider(answer=lambda _: AIMessage('{"number": 7}', usage_metadata=used)) as serving:
        yield serving


def post(server, **more):
    return httpx.post(f"{server.openai_url}/chat/completions", json=PLAIN | more, timeout=LONG, verify=False)


def test_a_hanging_request_is_never_answered_and_ends_with_its_client(talker):
    talker.faults, hasty = Faults("hang"), httpx.Timeout(LONG, read=0.1)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{talker.openai_url}/chat/completions", json=PLAIN, timeout=hasty, verify=False)
    assert talker.is_left()
    assert talker.gate.inside == 0


def test_faults_hit_their_share_of_requests_in_any_order_and_spare_the_next_try(talker):
    def statuses(server, seeds):
        with httpx.Client(verify=False) as client:
            address = f"{server.openai_url}/chat/completions"
            return {seed: client.post(address, json=PLAIN | {"seed": seed}).status_code for seed in seeds}

    talker.faults = faults = Faults(("500", "429"), share=0.2, seed=3)
    with provider(answer=lambda _: AIMessage("7"), faults=faults) as other:
        first, again = statuses(talker, range(100)), statuses(talker, range(100))
        assert statuses(other, reversed(range(100))) == first != again
    assert {*first.values()} == {200, 500, 429}
    assert 10 <= sum(status != 200 for status in first.values()) <= 30
    talker.faults = Faults("503", only=range(201, 204))
    assert [post(talker).status_code for _ in range(5)] == [503, 503, 503, 200, 200]


async def test_only_so_many_calls_are_let_in_at_once_or_in_any_window(talker):
    talker.latency, talker.limits = 1.5, Limits(at_once=4, retry_after=2)
    async with httpx.AsyncClient(verify=False, timeout=LONG) as client:
        address = f"{talker.openai_url}/chat/completions"
        replies = await asyncio.gather(*(client.post(address, json=PLAIN) for _ in range(10)))
        assert sorted(reply.status_code for reply in replies) == [200] * 4 + [429] * 6
        assert (talker.gate.peak, talker.gate.accepted, talker.gate.rejected, talker.connections) == (4, 4, 6, 10)
        talker.latency, talker.limits = 0, Limits(per_window=7, window=60)
        assert [(await client.post(address, json=PLAIN)).status_code for _ in range(5)] == [200] * 3 + [429] * 2


def test_what_providers_keep_of_prompts_is_counted_in_steps_of_128_tokens_or_up_to_a_mark(talker):
    def openai(text):
        used = post(talker, messages=[{"role": "user", "content": text}]).json()["usage"]
        return used["prompt_tokens_details"]["cached_tokens"]

    def anthropic(text, **mark):
        body = PLAIN | {"max_tokens": 9, "system": [{"type": "text", "text": text, **mark}]}
        used = httpx.post(f"{talker.url}/v1/messages", json=body, verify=False).json()["usage"]
        return used["cache_creation_input_tokens"], used["cache_read_input_tokens"], used["input_tokens"]

    marked, words = partial(anthropic, cache_control={"type": "ephemeral"}), "word " * 2_000
    for asked, text, told in (
        (openai, words, 0), (openai, words, 2_432), (openai, words[:5_000] + "other" * 1_000, 1_152),
        (openai, "x" * 4_000, 0), (openai, "x" * 4_000, 0), (anthropic, "y" * 8_000, (0, 0, 10_000)),
        (marked, "y" * 8_000, (2_000, 0, 8_000)), (marked, "y" * 8_000, (0, 2_000, 8_000)),
        (marked, "z" * 4_000, (0, 0, 10_000)),
    ):  # fmt: skip
        assert asked(text) == told


@pytest.mark.parametrize("form", FORMATS)
def test_tokens_are_counted_as_the_built_in_model_counts_them_and_thought_apart(form, server):
    server.mind.thought = 50
    # A call of this protocol offers one tool, whether a server can be made to use it or not.
    bidders = [Bidder(name, model="mine", protocol="aucarena", reply="tool") for name in ("Ann", "Ben")]
    sales = [auction(settings).model_copy(update={"bidders": bidders}) for settings in (spoken(form, server), {})]
    for call, same in zip(*(of_type(sale.run().log, ModelCalled) for sale in sales), strict=True):
        assert call.output_tokens == same.output_tokens + 50
        assert call.reasoning_tokens == (0 if form in ("anthropic", "ollama") else 50)  # which do not tell
        assert call.input_tokens == pytest.approx(same.input_tokens, rel=0.1)


def test_every_kind_of_fault_ends_without_an_error_of_the_server(talker, caplog):
    address = f"{talker.openai_url}/chat/completions"
    with httpx.Client(verify=False, timeout=0.2) as client:
        for kind in KINDS:
            talker.faults = Faults(kind)
            with suppress(httpx.TransportError), client.stream("POST", address, json=PLAIN) as reply:
                next(reply.iter_bytes())
    assert talker.is_left()
    assert not caplog.records
