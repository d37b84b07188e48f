"""A transport of HTTP for providers' packages that sends nothing: a request waits in the lane for its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from typing import Any

from harbor._models.batch.anthropic_jobs import AnthropicJobs
from harbor._models.batch.jobs import Jobs
from harbor._models.batch.lane import BatchGame
from harbor._models.batch.openai_jobs import OpenAIJobs
from harbor._models.connections import no_page

JOB_SECONDS = 120.0
"""How long a request about a job may take; none waits for a model."""


class BatchTransport:
    """The transport of one game's requests to one account; any package with the classes of httpx can use it."""

    def __init__(self, game: BatchGame, jobs: Jobs) -> None:
        self._game, self._jobs = game, jobs

    async def handle_async_request(self, request: Any) -> Any:
        """Wait for the answer to a request.

        Raises:
            ModelError: the provider refuses the job.
            RunPaused: the provider can't be reached.
        """
        package: Any = import_module(type(request).__module__.partition(".")[0])
        outcome = await self._game.lane.ask(self._game, self._jobs, request.url.path, json.loads(await request.aread()))
        return package.Response(outcome.status, json=outcome.body, request=request)

    async def __aenter__(self) -> BatchTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Do nothing: the lane closes what it has opened."""


def transport_of(game: BatchGame, chat: Any) -> BatchTransport:
    """Make the transport for a model of OpenAI's or Anthropic's package."""
    client, make = _ACCOUNTS[type(chat).__module__.partition(".")[0]](chat)
    headers = sorted((name, value) for name, value in client.default_headers.items() if isinstance(value, str))
    told = json.dumps([type(chat).__name__, str(client.base_url), headers])
    return BatchTransport(game, game.lane.account(sha256(told.encode()).hexdigest(), make))


def _openai(chat: Any) -> tuple[Any, Callable[[], Jobs]]:
    from openai import DefaultAsyncHttpxClient

    client = chat.root_async_client
    return client, lambda: OpenAIJobs(client.copy(**_live(DefaultAsyncHttpxClient(proxy=chat.openai_proxy))))


def _anthropic(chat: Any) -> tuple[Any, Callable[[], Jobs]]:
    from anthropic import DefaultAsyncHttpxClient

    client = chat._async_client
    return client, lambda: AnthropicJobs(client.copy(**_live(DefaultAsyncHttpxClient(proxy=chat.anthropic_proxy))))


def _live(http: Any) -> dict[str, Any]:
    """Say how jobs are carried: over connections of the lane, and without the package's own retries."""
    http.event_hooks = {**http.event_hooks, "response": [*http.event_hooks["response"], no_page]}
    return {"http_client": http, "max_retries": 0, "timeout": JOB_SECONDS}


_ACCOUNTS: dict[str, Callable[[Any], tuple[Any, Callable[[], Jobs]]]] = {
    "langchain_openai": _openai,
    "langchain_anthropic": _anthropic,
}
