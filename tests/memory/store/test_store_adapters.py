"""The store works where LangGraph puts it, and as the memory of an AutoGen agent."""

from __future__ import annotations

from typing import Annotated, TypedDict

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import CreateResult, RequestUsage, SystemMessage, UserMessage
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from harbor._core.basics.errors import MemoryStoreError
from harbor._room.team_memory import StoreMemory
from harbor.memory._store.chroma import ChromaStore
from support.replayed_chat import OfflineChat

HERE = ("ann", "learnings")


class State(TypedDict, total=False):
    messages: list
    told: str


@tool
def recall(question: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Recall the nearest learning."""
    return store.search(HERE, query=question, limit=1)[0].value["text"]


@pytest.mark.parametrize("where", ["ephemeral", "folder"])
async def test_store_serves_a_compiled_graph_its_runtime_get_store_and_tools(where, tmp_path):
    async def remember(state: State, runtime: Runtime) -> State:
        await runtime.store.aput(HERE, "a", {"text": "the harbour is cheap at night"})
        await runtime.store.aput(HERE, "b", {"text": "gardens sell above their estimate"})
        call = {"name": "recall", "args": {"question": "what do gardens sell for"}, "id": "1"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    async def tell(state: State) -> State:
        found = await get_store().asearch(HERE, query="the harbour at night", limit=1)
        return {"told": f"{found[0].key} {state['messages'][-1].content}"}

    graph = StateGraph(State).add_node(remember).add_node("tools", ToolNode([recall])).add_node(tell)
    graph.add_edge(START, "remember").add_edge("remember", "tools").add_edge("tools", "tell").add_edge("tell", END)
    async with ChromaStore(tmp_path / "memory" if where == "folder" else None, fields=["text"]) as store:
        answer = await graph.compile(store=store).ainvoke({})
    assert answer["told"] == "a gardens sell above their estimate"


class Parrot(OfflineChat):
    """Says what it was told, and keeps it."""

    def __init__(self):
        self.heard = []

    async def create(self, messages, **_):
        self.heard.append(list(messages))
        usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
        return CreateResult(finish_reason="stop", content="heard", usage=usage, cached=False)


@pytest.fixture(params=[lambda: ChromaStore(fields=["text"]), InMemoryStore], ids=["chroma", "langgraph's own"])
def store(request):
    made = request.param()
    yield made
    getattr(made, "close", lambda: None)()


async def test_assistant_agent_is_told_what_it_remembers():
    with ChromaStore(fields=["text"]) as store:
        memory = StoreMemory(store, HERE, limit=1)
        await memory.add(MemoryContent(content="Ben stops at 200,000", mime_type=MemoryMimeType.TEXT))
        await memory.add(MemoryContent(content="Gardens sell well", mime_type=MemoryMimeType.TEXT))
        model = Parrot()
        await AssistantAgent("ann", model_client=model, memory=[memory]).run(task="When does Ben stop?")
    told = [message.content for message in model.heard[0] if isinstance(message, SystemMessage)]
    assert told[-1] == "What you remember of this:\n1. Ben stops at 200,000"


async def test_memory_gives_back_what_was_added(store):
    memory = StoreMemory(store, HERE)
    fact = {"rival": "Ben", "limits": [200_000, None]}
    await memory.add(MemoryContent(content=fact, mime_type=MemoryMimeType.JSON, metadata={"item": 3}))
    await memory.add(MemoryContent(content="*Gardens* sell well", mime_type=MemoryMimeType.MARKDOWN))
    found = {str(content.mime_type): content for content in (await memory.query("")).results}
    kinds = {content.mime_type: content.content for content in found.values()}
    assert kinds == {MemoryMimeType.JSON: fact, MemoryMimeType.MARKDOWN: "*Gardens* sell well"}
    assert any(content.metadata.get("item") == 3 for content in found.values())


async def test_memory_adds_nothing_to_a_context_it_has_nothing_for(store):
    context = UnboundedChatCompletionContext(initial_messages=[UserMessage(content="Hello", source="user")])
    assert (await StoreMemory(store, HERE).update_context(context)).memories.results == []
    assert len(await context.get_messages()) == 1


async def test_clear_forgets_the_namespace_and_no_other(store):
    memory, other = StoreMemory(store, HERE, limit=500), StoreMemory(store, ("ben",))
    for number in range(120):
        await memory.add(MemoryContent(content=f"text {number}", mime_type=MemoryMimeType.TEXT))
    await other.add(MemoryContent(content="kept", mime_type=MemoryMimeType.TEXT))
    await memory.clear()
    assert (await memory.query("")).results == []
    assert len((await other.query("")).results) == 1


async def test_closing_a_memory_leaves_the_store_open(store):
    memory = StoreMemory(store, HERE)
    await memory.close()
    await store.aput(HERE, "a", {"text": "still here"})
    assert await store.aget(HERE, "a")


async def test_binary_memory_is_refused(store):
    with pytest.raises(MemoryStoreError, match="give text or JSON"):
        await StoreMemory(store, HERE).add(MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY))
