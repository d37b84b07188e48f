"""A provider takes jobs of many requests: here are the lane's protocol, and the jobs of OpenAI and Anthropic.

OpenAI takes a file of requests for one model and endpoint, and returns files of outcomes. Anthropic takes the requests
in one message, and returns their outcomes as lines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from harbor._core.basics.errors import HarborError, ModelError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch
    from openai import AsyncOpenAI
    from openai.types import Batch

Body = Mapping[str, Any]


class JobFailed(HarborError):
    """A provider has taken a job and then refused it as a whole; no request was answered or is paid.

    `too_large` says that the account has too much waiting there; a smaller or later job may succeed.
    """

    def __init__(self, words: str, too_large: bool = False) -> None:
        super().__init__(words)
        self.too_large = too_large


@dataclass(frozen=True, slots=True)
class Item:
    """A request of a job: its name in the job, and its body as JSON."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a request: the HTTP status and the body that it would have got outside a job."""

    status: int
    body: Any

    @property
    def name(self) -> str:
        """The provider's name of the answer; empty if there is none."""
        return str(self.body.get("id", "")) if isinstance(self.body, dict) else ""


class Jobs(Protocol):
    """The jobs of one account."""

    provider: str
    most_items: int
    most_bytes: int

    def endpoint(self, path: str) -> str:
        """Return the endpoint of requests to a path.

        Raises:
            ModelError: the provider takes no jobs for the path.
        """
        ...

    def together(self, body: Body) -> str:
        """Return a key that the requests of one job must have in common."""
        ...

    async def submit(self, token: str, endpoint: str, items: Sequence[Item]) -> str:
        """Submit a job under our token; return the provider's name of the job."""
        ...

    async def find(self, token: str, size: int, since: float, known: Collection[str]) -> str | None:
        """Find a job of `size` requests since `since` whose submission was not confirmed; skip the `known` ones.

        Return None if there is none.
        """
        ...

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Return the outcomes of a job's requests by their names; None if the job has not ended.

        Raises:
            JobFailed: the job was refused as a whole.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""


def decoded(lines: str) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in lines.split("\n") if line.strip()]


ENDPOINTS = ("/v1/chat/completions", "/v1/responses")  # OpenAI's endpoints that take jobs
OUR_NAME = "harbor"
"""Key of our own name of a job in its metadata."""
ENDED = ("completed", "expired", "cancelled")  # OpenAI's statuses of a job with outcomes
TOO_LARGE = "token_limit_exceeded"  # OpenAI's code for more tokens than the account may have waiting


class OpenAIJobs:
    """The jobs of an account at OpenAI, or at a server with OpenAI's API.

    Source: platform.openai.com/docs/guides/batch (50,000 requests and 200 MB per file; one model per file).
    """

    provider = "openai"
    most_items = 50_000
    most_bytes = 190_000_000  # some room below 200 MB

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    def endpoint(self, path: str) -> str:
        """Return the endpoint of requests to a path; the user's own server may have the path below another folder.

        Raises:
            ModelError: no jobs exist for the path.
        """
        for endpoint in ENDPOINTS:
            if path.endswith(endpoint.removeprefix("/v1")):
                return endpoint
        raise ModelError(f"calls to {path!r} can't wait for a batch; leave --lane batch out")

    def together(self, body: Body) -> str:
        """Return the model, because a file has only one."""
        return str(body.get("model", ""))

    async def submit(self, token: str, endpoint: str, items: Sequence[Item]) -> str:
        """Upload the requests and begin a job."""
        lines = b"".join(
            b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
            % (item.name.encode(), endpoint.encode(), item.body)
            for item in items
        )
        file = await self._client.files.create(file=(f"{token}.jsonl", lines), purpose="batch")
        kind: Any = endpoint
        begun = await self._client.batches.create(
            input_file_id=file.id, endpoint=kind, completion_window="24h", metadata={OUR_NAME: token}
        )
        return begun.id

    async def find(self, token: str, size: int, since: float, known: Collection[str]) -> str | None:
        """Return the id of the job with this token; look through all jobs, because their order is not documented."""
        async for job in self._client.batches.list(limit=100):
            if job.created_at >= since and (job.metadata or {}).get(OUR_NAME) == token:
                return job.id
        return None

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Return the outcomes of a job; None if it has not ended.

        Raises:
            JobFailed: its file was refused.
        """
        found = await self._client.batches.retrieve(job)
        if found.status == "failed":
            raise _openai_failure(found)
        if found.status not in ENDED:
            return None
        outcomes: dict[str, Outcome] = {}
        for file in (found.output_file_id, found.error_file_id):
            if file is not None:
                content = await self._client.files.content(file)
                outcomes |= {line["custom_id"]: _openai_outcome(line) for line in decoded(content.content.decode())}
        return outcomes

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


def _openai_failure(job: Batch) -> JobFailed:
    errors = (job.errors.data or []) if job.errors else []
    codes = [error.code for error in errors]
    words = "; ".join(dict.fromkeys(str(error.message) for error in errors)) or "without a reason"
    return JobFailed(f"batch {job.id!r} failed: {words}", TOO_LARGE in codes)


def _openai_outcome(line: dict[str, Any]) -> Outcome:
    """Read a line of a file. A request that expired or was cancelled has an error instead of a response."""
    if (response := line.get("response")) is not None:
        return Outcome(response["status_code"], response["body"])
    return Outcome(503, {"error": line.get("error") or {"message": "no answer"}})


ENDPOINT = "/v1/messages"  # Anthropic's endpoint that takes jobs
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
"""HTTP status of each type of error. Source: docs.claude.com/en/api/errors."""


class AnthropicJobs:
    """The jobs of an account at Anthropic.

    Source: docs.claude.com/en/docs/build-with-claude/batch-processing (100,000 requests and 256 MB per job).
    """

    provider = "anthropic"
    most_items = 100_000
    most_bytes = 240_000_000  # some room below 256 MB

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def endpoint(self, path: str) -> str:
        """Return the endpoint of messages.

        Raises:
            ModelError: the path is another one.
        """
        if path.endswith(ENDPOINT):
            return ENDPOINT
        raise ModelError(f"calls to {path!r} can't wait for a batch; leave --lane batch out")

    def together(self, body: Body) -> str:
        """Return "", because a job may have many models."""
        return ""

    async def submit(self, token: str, endpoint: str, items: Sequence[Item]) -> str:
        """Start a job and return its id; the name of each request begins with the token."""
        requests: Any = [{"custom_id": item.name, "params": json.loads(item.body)} for item in items]
        return (await self._client.messages.batches.create(requests=requests)).id

    async def find(self, token: str, size: int, since: float, known: Collection[str]) -> str | None:
        """Look for a job of `size` requests with the token in the names of its outcomes; it may not have ended yet."""
        async for job in self._client.messages.batches.list(limit=100):
            if job.created_at.timestamp() < since:
                break
            if _size(job) == size and job.id not in known and await self._is_ours(job, token):
                return job.id
        return None

    async def _is_ours(self, job: MessageBatch, token: str) -> bool:
        """Say whether a job's requests have the token. Their names show only after its end; until then say True."""
        if job.processing_status == "ended" and job.id not in self._names:
            async for one in await self._client.messages.batches.results(job.id):
                self._names[job.id] = one.custom_id
                break
        return self._names.get(job.id, token).startswith(token)

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Return the outcomes of a job; None if it has not ended."""
        found = await self._client.messages.batches.retrieve(job)
        if found.processing_status != "ended":
            return None
        lines = await self._client.messages.batches.results(job)
        return {line.custom_id: _anthropic_outcome(line.result.to_dict(mode="json")) async for line in lines}

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


def _size(job: MessageBatch) -> int:
    return sum(job.request_counts.to_dict().values())  # type: ignore[arg-type]


def _anthropic_outcome(result: Mapping[str, Any]) -> Outcome:
    if result["type"] == "succeeded":
        return Outcome(200, result["message"])
    if result["type"] == "errored":
        return Outcome(STATUS.get(result["error"]["error"]["type"], 500), result["error"])
    return Outcome(503, {"type": "error", "error": {"type": "api_error", "message": f"the request {result['type']}"}})
