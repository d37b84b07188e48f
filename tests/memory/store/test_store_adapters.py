"""The store works as the memory of an AutoGen agent, as LangGraph's own does."""

from __future__ import annotations

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import CreateResult, RequestUsage, SystemMessage, UserMessage
from langgraph.store.memory import InMemoryStore

from harbor._core.basics.errors import MemoryStoreError
from harbor._room.team_memory import StoreMemory
from harbor.memory._store.chroma import ChromaStore
from support.replayed_chat import OfflineChat

HERE = ("ann", "learnings")


class Parrot(OfflineChat):
    """Says what it was told, and keeps it."""

    def __init__(self):
        self.heard = []

    async def create(self, messages, **_):
        self.heard.append(list(messages))
        return CreateResult(finish_reason="stop", content="heard", usage=RequestUsage(0, 0), cached=False)


async def test_assistant_agent_is_told_what_it_remembers():
    with ChromaStore(fields=["text"]) as store:
        memory = StoreMemory(store, HERE, limit=1)
        for text in ("Ben stops at 200,000", "Gardens sell well"):
            await memory.add(MemoryContent(content=text, mime_type=MemoryMimeType.TEXT))
        model = Parrot()
        await AssistantAgent("ann", model_client=model, memory=[memory]).run(task="When does Ben stop?")
    told = [message.content for message in model.heard[0] if isinstance(message, SystemMessage)]
    assert told[-1] == "What you remember of this:\n1. Ben stops at 200,000"


@pytest.mark.parametrize(
    "make", [lambda: ChromaStore(fields=["text"]), InMemoryStore], ids=["chroma", "langgraph's own"]
)
async def test_memory_gives_back_what_was_added_clears_its_namespace_alone_and_leaves_the_store_open(make):
    store, hello = make(), UserMessage(content="Hello", source="user")
    context = UnboundedChatCompletionContext(initial_messages=[hello])
    memory, other = StoreMemory(store, HERE, limit=500), StoreMemory(store, ("ben",))
    assert (await memory.update_context(context)).memories.results == []
    assert len(await context.get_messages()) == 1
    fact, text = {"rival": "Ben", "limits": [200_000, None]}, "*Gardens* sell well"
    await memory.add(MemoryContent(content=fact, mime_type=MemoryMimeType.JSON, metadata={"item": 3}))
    await memory.add(MemoryContent(content=text, mime_type=MemoryMimeType.MARKDOWN))
    found = (await memory.query("")).results
    assert {one.mime_type: one.content for one in found} == {MemoryMimeType.JSON: fact, MemoryMimeType.MARKDOWN: text}
    assert any(one.metadata.get("item") == 3 for one in found)
    with pytest.raises(MemoryStoreError, match="give text or JSON"):
        await memory.add(MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY))
    for one, count in ((memory, 120), (other, 1)):
        for number in range(count):
            await one.add(MemoryContent(content=f"text {number}", mime_type=MemoryMimeType.TEXT))
    await memory.clear()
    await memory.close()
    assert [len((await one.query("")).results) for one in (memory, other)] == [0, 1]
    getattr(store, "close", lambda: None)()
