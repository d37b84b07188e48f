"""Jobs at Anthropic: the requests go up in one message, and their outcomes come down as lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harbor._core.errors import ModelError
from harbor._models.batch.jobs import Body, Item, Outcome

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch

ENDPOINT = "/v1/messages"
STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that comes with each type of error. Source: docs.claude.com/en/api/errors."""


class AnthropicJobs:
    """The jobs of an account at Anthropic.

    Source: docs.claude.com/en/docs/build-with-claude/batch-processing (100,000 requests and 256 MB per job).
    """

    provider = "anthropic"
    most_items = 100_000
    most_bytes = 240_000_000

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def endpoint(self, path: str) -> str:
        """Give the endpoint of messages.

        Raises:
            ModelError: the path is another.
        """
        if path.endswith(ENDPOINT):
            return ENDPOINT
        raise ModelError(f"calls to {path!r} can't wait for a batch; leave --lane batch out")

    def together(self, body: Body) -> str:
        """Give nothing: a job may have many models."""
        return ""

    async def submit(self, token: str, endpoint: str, items: Sequence[Item]) -> str:
        """Begin a job; the token is the beginning of the requests' names."""
        requests: Any = [{"custom_id": item.name, "params": json.loads(item.body)} for item in items]
        return (await self._client.messages.batches.create(requests=requests)).id

    async def find(self, token: str, size: int, since: float, known: Collection[str]) -> str | None:
        """Look for a job of so many requests whose outcomes have the token in their names; it may be out yet."""
        async for job in self._client.messages.batches.list(limit=100):
            if job.created_at.timestamp() < since:
                break
            if _size(job) == size and job.id not in known and await self._is_ours(job, token):
                return job.id
        return None

    async def _is_ours(self, job: MessageBatch, token: str) -> bool:
        """Look at the names of requests, which show when a job has ended; until then, it is the likely one."""
        if job.processing_status == "ended" and job.id not in self._names:
            async for one in await self._client.messages.batches.results(job.id):
                self._names[job.id] = one.custom_id
                break
        return self._names.get(job.id, token).startswith(token)

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Give the outcomes of a job that has ended."""
        found = await self._client.messages.batches.retrieve(job)
        if found.processing_status != "ended":
            return None
        lines = await self._client.messages.batches.results(job)
        return {line.custom_id: _outcome(line.result.to_dict(mode="json")) async for line in lines}

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


def _size(job: MessageBatch) -> int:
    return sum(job.request_counts.to_dict().values())  # type: ignore[arg-type]


def _outcome(result: Mapping[str, Any]) -> Outcome:
    if result["type"] == "succeeded":
        return Outcome(200, result["message"])
    if result["type"] == "errored":
        return Outcome(STATUS.get(result["error"]["error"]["type"], 500), result["error"])
    return Outcome(503, {"type": "error", "error": {"type": "api_error", "message": f"the request {result['type']}"}})
