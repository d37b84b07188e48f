"""AutoGen's `Memory` on any LangGraph store, so that agents of both frameworks share one store."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from autogen_core import CancellationToken
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import SystemMessage
from langgraph.store.base import BaseStore, PutOp, SearchItem

from harbor._core.basics.errors import MemoryStoreError

PAGE = 100
"""Memories that are deleted at a time."""


class StoreMemory(Memory):
    """The memory of an AutoGen agent, kept in one namespace of a LangGraph store.

    Each memory is stored under a key of its own, as `{"text": ..., "mime_type": ..., "metadata": ...}`. A memory that
    is JSON is stored as JSON. Before each answer, the agent is told the memories that are nearest in meaning to the
    last message, at most `limit` of them.

    >>> from langgraph.store.memory import InMemoryStore
    >>> StoreMemory(InMemoryStore(), ("Ann",)).limit
    5
    """

    def __init__(self, store: BaseStore, namespace: tuple[str, ...], *, limit: int = 5) -> None:
        self.store, self.namespace, self.limit = store, namespace, limit

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Store a memory: text, Markdown or JSON."""
        kind = MemoryMimeType(content.mime_type)
        if not isinstance(content.content, str | dict):
            raise MemoryStoreError(f"a memory of type {kind.value!r} can't be stored; give text or JSON")
        value = {"text": content.content, "mime_type": kind.value, "metadata": content.metadata or {}}
        await self.store.aput(self.namespace, uuid4().hex, value)

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **_: Any
    ) -> MemoryQueryResult:
        """Return the memories nearest in meaning to `query`, at most `limit` of them.

        If `query` is empty, the first memories in the namespace are returned.
        """
        text = query if isinstance(query, str) else _plain(query.content)
        found = await self.store.asearch(self.namespace, query=text or None, limit=self.limit)
        return MemoryQueryResult(results=[_content(item) for item in found])

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add to the agent's context the memories nearest in meaning to the last message in it, and return them.

        The memories, at most `limit`, become one system message. If the context has no message, the first memories in
        the namespace are added.
        """
        messages = await model_context.get_messages()
        recalled = await self.query(_plain(messages[-1].content) if messages else "")
        if recalled.results:
            lines = [f"{number}. {_plain(memory.content)}" for number, memory in enumerate(recalled.results, 1)]
            await model_context.add_message(SystemMessage(content="\n".join(["What you remember of this:", *lines])))
        return UpdateContextResult(memories=recalled)

    async def clear(self) -> None:
        """Delete all memories in the namespace."""
        while found := await self.store.asearch(self.namespace, limit=PAGE):
            await self.store.abatch([PutOp(item.namespace, item.key, None) for item in found])

    async def close(self) -> None:
        """Do nothing: the caller who opened the store closes it."""


def _content(item: SearchItem) -> MemoryContent:
    kept = item.value
    metadata = {**kept["metadata"], "score": item.score}
    return MemoryContent(content=kept["text"], mime_type=MemoryMimeType(kept["mime_type"]), metadata=metadata)


def _plain(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
