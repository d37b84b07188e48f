"""Harbor's memory as the long-term store of your own LangGraph graph, and of an AutoGen agent."""

from __future__ import annotations

import asyncio
from typing import TypedDict

from autogen_core.memory import MemoryContent, MemoryMimeType
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from harbor.memory import ChromaStore, StoreMemory

LEARNINGS = ("Ann", "learnings")


class Question(TypedDict, total=False):
    """The graph's question and answer."""

    asked: str
    answer: str


async def recall(state: Question, runtime: Runtime) -> Question:
    """Answer with the nearest learning. The graph's runtime has the store."""
    assert runtime.store is not None  # noqa: S101
    found = await runtime.store.asearch(LEARNINGS, query=state["asked"], limit=1)
    return {"answer": found[0].value["text"]}


async def remember() -> None:
    """Remember twice, through each framework, and recall."""
    async with ChromaStore("memory-of-ann", embedding="hashing", fields=["text"]) as store:
        await store.aput(LEARNINGS, "budget", {"text": "Keep a fifth of the budget for the last items."})
        autogen = StoreMemory(store, LEARNINGS)
        await autogen.add(MemoryContent(content="Ben stops bidding at 200,000.", mime_type=MemoryMimeType.TEXT))
        graph = StateGraph(Question).add_node(recall).add_edge(START, "recall").add_edge("recall", END)
        app = graph.compile(store=store)
        print((await app.ainvoke({"asked": "When does Ben stop?"}))["answer"])


if __name__ == "__main__":
    asyncio.run(remember())
