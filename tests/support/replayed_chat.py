"""AutoGen model clients without a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelFamily, ModelInfo, RequestUsage


class OfflineChat(ChatCompletionClient):
    """Has all methods of a client except `create`, and counts nothing."""

    component_type = "model"
    component_config_schema = None  # only tests make this client

    async def create_stream(self, messages: Sequence[LLMMessage], **named: Any) -> AsyncGenerator[Any, None]:
        """Yield the whole answer at once."""
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
        """The model supports tools, and nothing else."""
        return ModelInfo(
            vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
        )


class ReplayedChat(OfflineChat):
    """Returns its lines in turn: words, or the name of a tool with its arguments as JSON."""

    def __init__(self, lines: Sequence[str | tuple[str, str]]) -> None:
        self._lines = list(lines)
        self.heard: list[list[LLMMessage]] = []

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        """Return the next line."""
        self.heard.append(list(messages))
        line = self._lines.pop(0)
        usage = RequestUsage(10, 5)
        if isinstance(line, str):
            return CreateResult(finish_reason="stop", content=line, usage=usage, cached=False)
        call = FunctionCall(id=f"call-{len(self.heard)}", name=line[0], arguments=line[1])
        return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)
