"""What a model's message says of the call: tokens, why the model stopped, and which model it really was.

LangChain's packages agree on the tokens: cached ones are among the input tokens (Anthropic's own count, which leaves
them out, is put right by its package), and reasoning tokens among the output tokens. Why a model stopped each says by
the name that its provider has for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from harbor._config.models import ModelSettings
from harbor._models.passports.passport import Answer

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""OpenAI chat and Google, Anthropic, Bedrock, Ollama, OpenAI responses; the last is "completed" or "incomplete"."""
_NAMES = ("model_name", "model")
_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})
_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_MILLION = 1_000_000
WRITING = 1.25
"""What Anthropic charges for input that it puts in its cache for five minutes, in terms of the price of input."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one call, as its message tells it.

    `told` says whether tokens were told at all. Of the input, `cached_tokens` were in the provider's cache, and
    `written_tokens` are from now on. `from_cache`: LangChain's own cache gave the message. `finish` is in
    the provider's words; it and `answered_by` are empty where nothing is said.
    """

    told: bool = False
    from_cache: bool = False
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    finish: str = ""
    answered_by: str = ""

    def cost(self, settings: ModelSettings) -> float | None:
        """Give the dollars of the call by the prices of a model; None where prices or tokens are unknown.

        Cached input has its own price; without one, that of other input. From a cache of LangChain it is free.
        """
        if self.from_cache:
            return 0.0
        if not self.told or settings.input_price is None or settings.output_price is None:
            return None
        cached_price = settings.input_price if settings.cached_price is None else settings.cached_price
        cached = min(self.cached_tokens, self.input_tokens)
        written = min(self.written_tokens, self.input_tokens - cached)
        plain = self.input_tokens - cached + (WRITING - 1) * written
        inward = plain * settings.input_price + cached * cached_price
        return (inward + self.output_tokens * settings.output_price) / _MILLION


def usage_of(message: AIMessage) -> Usage:
    """Read the usage out of a message."""
    said, told = message.response_metadata, message.usage_metadata
    ending = said.get("incomplete_details") or {}
    finish = (isinstance(ending, Mapping) and ending.get("reason")) or _first(said, _REASONS)
    if told is None:
        return Usage(finish=str(finish), answered_by=_first(said, _NAMES))
    return Usage(
        told=True,
        from_cache=dict(told).get("total_cost") == 0,  # LangChain's mark of a cache hit
        input_tokens=told["input_tokens"],
        cached_tokens=_detail(told.get("input_token_details"), "cache_read"),
        written_tokens=_detail(told.get("input_token_details"), "cache_creation"),
        output_tokens=told["output_tokens"],
        reasoning_tokens=_detail(told.get("output_token_details"), "reasoning"),
        finish=str(finish),
        answered_by=_first(said, _NAMES),
    )


def _first(said: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(said[name]) for name in names if said.get(name)), "")


def _detail(details: Any, name: str) -> int:
    """Add up a kind of tokens; OpenAI's service tiers put their name before it, as in "flex_cache_read"."""
    return sum(tokens or 0 for kind, tokens in dict(details or {}).items() if kind.endswith(name))


def answer_of(message: AIMessage, seconds: float | None) -> Answer:
    """Give what an answer shows of its model."""
    usage = usage_of(message)
    return Answer(seconds, usage.output_tokens, usage.reasoning_tokens, _thinks(message, usage), usage.answered_by)


def _thinks(message: AIMessage, usage: Usage) -> tuple[str, ...]:
    """Say where thoughts are seen: in tags of the text, in blocks of the content, in a field, or by tokens alone."""
    blocks = message.content if isinstance(message.content, list) else []
    places = (
        ("tags", bool(_TAG.search(str(message.text)))),
        ("blocks", any(isinstance(block, dict) and block.get("type") in _THOUGHTS for block in blocks)),
        ("field", any(message.additional_kwargs.get(name) for name in _FIELDS)),
    )
    return tuple(name for name, seen in places if seen) or (("tokens",) if usage.reasoning_tokens else ())
