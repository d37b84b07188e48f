"""What a provider said, word for word, where the text of a reply does not say it all."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; its arguments could be read."""

    name: str
    args: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A call of a tool whose arguments, the raw text, could not be read; `error` says why."""

    name: str | None = None
    args: str | None = None
    id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """The content, as text or in the blocks of the provider, with all tool calls."""

    content: str | list[str | dict[str, Any]]
    tool_calls: list[ToolCall]
    invalid_tool_calls: list[MalformedCall]


MESSAGE: TypeAdapter[Message | None] = TypeAdapter(Message | None)
"""Reads and writes a message as JSON."""
