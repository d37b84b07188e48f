"""AutoGen model clients without a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelFamily, ModelInfo, RequestUsage


class OfflineChat(ChatCompletionClient):
    """Has all that a client has but what it says, and counts nothing."""

    component_type = "model"
    component_config_schema = None  # it is made by tests alone

    async def create_stream(self, messages: Sequence[LLMMessage], **named: Any) -> AsyncGenerator[Any, None]:
        """Say it at once."""
        yield await self.create(messages, **named)

    async def close(self) -> None:
        """Do nothing."""

    def actual_usage(self) -> RequestUsage:
        """Count nothing."""
        return RequestUsage(0, 0)

    def total_usage(self) -> RequestUsage:
        """Count nothing."""
        return RequestUsage(0, 0)

    def count_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        """Count nothing."""
        return 0

    def remaining_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        """Count nothing."""
        return 10_000

    @property
    def capabilities(self) -> Any:
        """The same as `model_info`."""
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        """Tools, and nothing else."""
        return ModelInfo(
            vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
        )


class ReplayedChat(OfflineChat):
    """Says its lines one after the other: words, or the name of a tool with its arguments as JSON."""

    def __init__(self, lines: Sequence[str | tuple[str, str]]) -> None:
        self._lines = list(lines)
        self.heard: list[list[LLMMessage]] = []

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        """Say the next line."""
        self.heard.append(list(messages))
        line = self._lines.pop(0)
        usage = RequestUsage(10, 5)
        if isinstance(line, str):
            return CreateResult(finish_reason="stop", content=line, usage=usage, cached=False)
        call = FunctionCall(id=f"call-{len(self.heard)}", name=line[0], arguments=line[1])
        return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)


def words_in(messages: Sequence[LLMMessage], source: str) -> list[str]:
    """List what a speaker said among the messages that a model was shown."""
    return [str(one.content) for one in messages if getattr(one, "source", "") == source]
