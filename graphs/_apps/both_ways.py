"""Nodes of a graph that can be run by `invoke` and by `ainvoke`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from langchain_core.runnables import RunnableLambda

from harbor._core.loops import run_in_background


def both_ways(step: Callable[[Any], Coroutine[Any, Any, Any]], name: str) -> RunnableLambda[Any, Any]:
    """Make a node of an async function; by `invoke` it runs in a loop of Harbor's own.

    All such runs share that loop, which never ends: the connections of a hosted model belong to the loop that opened
    them.
    """
    return RunnableLambda(lambda state: run_in_background(step(state)), afunc=step, name=name)


def route_both_ways(choose: Callable[[Any], list[str]]) -> RunnableLambda[Any, list[str]]:
    """Make a route of a function, so that `ainvoke` need not send it to a thread."""

    async def chosen(state: Any) -> list[str]:
        return choose(state)

    found: Callable[[Any], Awaitable[list[str]]] = chosen
    return RunnableLambda(choose, afunc=found, name="route")
