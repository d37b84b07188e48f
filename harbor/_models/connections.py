"""The connections of hosted models: each run has its own, and closes them when it ends.

LangChain shares one HTTP client among all OpenAI models of a process, and one among all Anthropic models. A connection
that one event loop leaves open is dead in the next: a call over it fails, or is retried and paid for twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langchain_core.language_models import BaseChatModel


@asynccontextmanager
async def connected(chats: Iterable[BaseChatModel]) -> AsyncIterator[None]:
    """Give hosted models their own connections, and close them; other models are left alone."""
    async with AsyncExitStack() as stack:
        for chat in chats:
            if shares_connections(chat):
                stack.push_async_callback(_OWN[_package(chat)](chat).close)
        yield


def shares_connections(chat: BaseChatModel) -> bool:
    """Say whether LangChain gives a model the connections that all models of its provider share in a process."""
    return _package(chat) in _OWN and getattr(chat, "http_async_client", None) is None


def _package(chat: BaseChatModel) -> str:
    return type(chat).__module__.partition(".")[0]


def _own_openai(chat: Any) -> Any:
    from openai import DefaultAsyncHttpxClient

    http = DefaultAsyncHttpxClient(proxy=chat.openai_proxy)
    chat.root_async_client = chat.root_async_client.copy(http_client=http)
    chat.async_client = chat.root_async_client.chat.completions
    return chat.root_async_client


def _own_anthropic(chat: Any) -> Any:
    from anthropic import DefaultAsyncHttpxClient

    http = DefaultAsyncHttpxClient(proxy=chat.anthropic_proxy)
    chat._async_client = chat._async_client.copy(http_client=http)  # ChatAnthropic takes no HTTP client
    return chat._async_client


_OWN: dict[str, Callable[[Any], Any]] = {"langchain_openai": _own_openai, "langchain_anthropic": _own_anthropic}
"""By package. An Ollama model has its own client from the beginning."""
