"""Of which make an agent is, told without importing the framework that it may be of."""

from __future__ import annotations

import sys

from harbor._config.agents import AgentCommand, AgentServer
from harbor._doors.door import Door


def is_chat_agent(value: object) -> bool:
    """Tell an AutoGen chat agent, which sits in the room itself."""
    return _is(value, "autogen_agentchat.base", "ChatAgent")


def is_runnable(value: object) -> bool:
    """Tell a Runnable of LangChain, as a compiled graph of LangGraph is."""
    return _is(value, "langchain_core.runnables.base", "Runnable")


def complaint(value: object) -> str:
    """Say why a value can't sit in a seat; empty if it can."""
    if isinstance(value, AgentCommand | AgentServer | Door) or is_chat_agent(value) or is_runnable(value):
        return ""
    if isinstance(value, type):
        return f"is the class {value.__name__}; give what it makes"
    if callable(value):
        return ""
    if callable(getattr(value, "compile", None)):
        return f"is a {type(value).__name__}; give what its compile() makes"
    remedy = "give a function of one turn, a LangChain Runnable, an AutoGen ChatAgent, or an Agent that makes one"
    return f"is a {type(value).__name__}; {remedy}"


def _is(value: object, module: str, name: str) -> bool:
    """Tell whether a value is of a class, which nothing can be of before its module is imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
