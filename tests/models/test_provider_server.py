"""The providers on loopback that other tests rely on: their faults and their limits."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import httpx
import pytest
from langchain_core.messages import AIMessage

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


def test_every_kind_of_fault_ends_without_an_error_of_the_server(talker, caplog):
    address = f"{talker.openai_url}/chat/completions"
    with httpx.Client(verify=False, timeout=0.2) as client:
        for kind in KINDS:
            talker.faults = Faults(kind)
            with suppress(httpx.TransportError), client.stream("POST", address, json=PLAIN) as reply:
                next(reply.iter_bytes())
    assert talker.is_left()
    assert not caplog.records
