"""What a call took, read out of the messages that the providers' own packages make of their servers' answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from anthropic.types import Message
from google.genai.types import GenerateContentResponse
from hypothesis import given
from hypothesis import strategies as st
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from langchain_google_genai.chat_models import _response_to_result
from langchain_ollama.chat_models import _get_usage_metadata_from_generation_info
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import _construct_lc_result_from_responses_api
from openai.types.responses import Response

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import Usage, usage_of
from support.providers import provider

PRICED = ModelSettings(use="openai:gpt", input_price=2, cached_price=0.5, output_price=10)


class Told(BaseChatModel):
    """Gives what a package has read out of an answer, as LangChain passes it on."""

    result: ChatResult

    @property
    def _llm_type(self):
        return "told"

    def _generate(self, *_, **__):
        return self.result


def passed_on(result):
    return Told(result=result).invoke("?")


def of_openai(finish="tool_calls"):
    used = {"prompt_tokens": 1_500, "completion_tokens": 70, "total_tokens": 1_570}
    used |= {"prompt_tokens_details": {"cached_tokens": 1_024}, "completion_tokens_details": {"reasoning_tokens": 64}}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": "Hm."}}
    answer = {"model": "gpt-4o-2024-08-06", "choices": [choice], "usage": used}
    return passed_on(ChatOpenAI(model="gpt-4o", api_key="x")._create_chat_result(answer))


def of_openai_responses(status="incomplete", reason="max_output_tokens"):
    used = {"input_tokens": 1_500, "output_tokens": 70, "total_tokens": 1_570}
    used |= {"input_tokens_details": {"cached_tokens": 1_024, "cache_write_tokens": 0}}
    used |= {"output_tokens_details": {"reasoning_tokens": 64}}
    answer = {"id": "r", "object": "response", "created_at": 0, "model": "gpt-5-2025-08-07", "output": [], "tools": []}
    answer |= {"parallel_tool_calls": False, "tool_choice": "auto", "status": status, "usage": used}
    answer |= {"incomplete_details": {"reason": reason} if reason else None}
    return passed_on(_construct_lc_result_from_responses_api(Response.model_validate(answer)))


def of_anthropic():
    used = {"input_tokens": 376, "cache_read_input_tokens": 1_024, "cache_creation_input_tokens": 100}
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929"}
    answer |= {"content": [{"type": "text", "text": "Hm."}], "stop_reason": "max_tokens"}
    answer |= {"usage": used | {"output_tokens": 70}}
    chat = ChatAnthropic(model="claude-sonnet-4-5", api_key="x", max_tokens=70)
    return passed_on(chat._format_output(Message.model_validate(answer)))


def of_google():
    used = {"prompt_token_count": 1_500, "cached_content_token_count": 1_024, "candidates_token_count": 6}
    used |= {"thoughts_token_count": 64, "total_token_count": 1_570}
    said = {"content": {"role": "model", "parts": [{"text": "Hm."}]}, "finish_reason": "STOP"}
    answer = {"model_version": "gemini-2.5-flash-001", "candidates": [said], "usage_metadata": used}
    return passed_on(_response_to_result(GenerateContentResponse.model_validate(answer)))


def of_ollama():
    said = {"model": "llama3", "model_name": "llama3", "done_reason": "stop"}
    said |= {"prompt_eval_count": 1_500, "eval_count": 70}
    return AIMessage("Hm.", response_metadata=said, usage_metadata=_get_usage_metadata_from_generation_info(said))


@pytest.mark.parametrize(
    ("message", "cached", "thought", "finish", "answered_by"),
    [
        (of_openai(), 1_024, 64, "tool_calls", "gpt-4o-2024-08-06"),
        (of_openai_responses(), 1_024, 64, "max_output_tokens", "gpt-5-2025-08-07"),
        (of_openai_responses("completed", None), 1_024, 64, "completed", "gpt-5-2025-08-07"),
        (of_anthropic(), 1_024, 0, "max_tokens", "claude-sonnet-4-5-20250929"),
        (of_google(), 1_024, 64, "STOP", "gemini-2.5-flash-001"),
        (of_ollama(), 0, 0, "stop", "llama3"),
    ],
    ids=["openai", "responses, cut off", "responses", "anthropic", "google", "ollama"],
)
def test_every_package_tells_the_same_in_its_own_way(message, cached, thought, finish, answered_by):
    read = {"input_tokens": 1_500, "cached_tokens": cached, "written_tokens": 100 if "claude" in answered_by else 0}
    made = {"output_tokens": 70, "reasoning_tokens": thought, "finish": finish, "answered_by": answered_by}
    assert usage_of(message) == Usage(told=True, **read, **made)


def test_a_service_tier_hides_no_cached_tokens():
    details = {"flex": 476, "flex_cache_read": 1_024}
    used = {"input_tokens": 1_500, "output_tokens": 70, "total_tokens": 1_570, "input_token_details": details}
    assert usage_of(AIMessage("", usage_metadata=used)).cached_tokens == 1_024


def test_a_message_that_tells_nothing_has_no_cost():
    assert usage_of(AIMessage("Hm.")) == Usage()
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


def test_over_the_wire_a_call_is_in_the_log_as_the_server_counted_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")
    with provider(seed=5, name="mine", thought=3) as server:
        mine = PRICED.model_copy(update={"use": "openai:gpt-4o-mini", "base_url": server.openai_url})
        bidders = [Bidder("Ann", model="mine"), Bidder("Ben", model="mine")]
        items = [Item(name=f"Lot {letter}", start=1_000, true_value=2_000, listing="Sun. " * 200) for letter in "AB"]
        found = Auction(items=items, bidders=bidders, models={"mine": mine}, seed=5).run()
    called = of_type(found.log, ModelCalled)
    total = found.metrics().calls.total
    assert {call.answered_by for call in called} == {"gpt-4o-mini-2024-07-18"}
    assert {call.finish for call in called} == {"tool_calls"}
    assert 0 < total.cached_tokens < total.input_tokens
    assert total.reasoning_tokens == 3 * total.count < total.output_tokens
    plain = total.input_tokens - total.cached_tokens
    assert total.cost_dollars == pytest.approx((plain * 2 + total.cached_tokens * 0.5 + total.output_tokens * 10) / 1e6)
