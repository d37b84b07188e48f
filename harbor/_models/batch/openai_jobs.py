"""Jobs at OpenAI: a file of requests of one model and endpoint goes up, and files of outcomes come down."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harbor._core.errors import ModelError
from harbor._models.batch.jobs import Body, Item, JobFailed, Outcome, decoded

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

ENDPOINTS = ("/v1/chat/completions", "/v1/responses")
OUR_NAME = "harbor"
"""Where our own name of a job stands in its metadata."""
ENDED = ("completed", "expired", "cancelled")
TOO_LARGE = "token_limit_exceeded"


class OpenAIJobs:
    """The jobs of an account at OpenAI, or at a server that speaks as it does.

    Source: platform.openai.com/docs/guides/batch (50,000 requests and 200 MB per file; one model per file).
    """

    provider = "openai"
    most_items = 50_000
    most_bytes = 190_000_000

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    def endpoint(self, path: str) -> str:
        """Give the endpoint of requests to a path; a server of one's own may have it below another folder.

        Raises:
            ModelError: there are no jobs for it.
        """
        for endpoint in ENDPOINTS:
            if path.endswith(endpoint.removeprefix("/v1")):
                return endpoint
        raise ModelError(f"calls to {path!r} can't wait for a batch; leave --lane batch out")

    def together(self, body: Body) -> str:
        """Give the model: there is one per file."""
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
        """Look through the jobs, of which nobody says in what order they come, for the token."""
        async for job in self._client.batches.list(limit=100):
            if job.created_at >= since and (job.metadata or {}).get(OUR_NAME) == token:
                return job.id
        return None

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Give the outcomes of a job that has ended.

        Raises:
            JobFailed: its file was refused.
        """
        found = await self._client.batches.retrieve(job)
        if found.status == "failed":
            raise _failed(found)
        if found.status not in ENDED:
            return None
        outcomes: dict[str, Outcome] = {}
        for file in (found.output_file_id, found.error_file_id):
            if file is not None:
                content = await self._client.files.content(file)
                outcomes |= {line["custom_id"]: _outcome(line) for line in decoded(content.content.decode())}
        return outcomes

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


def _failed(job: Batch) -> JobFailed:
    errors = (job.errors.data or []) if job.errors else []
    codes = [error.code for error in errors]
    words = "; ".join(dict.fromkeys(str(error.message) for error in errors)) or "without a reason"
    return JobFailed(f"batch {job.id!r} failed: {words}", TOO_LARGE in codes)


def _outcome(line: dict[str, Any]) -> Outcome:
    """Read a line of a file; a request that expired or was cancelled has no response, only an error."""
    if (response := line.get("response")) is not None:
        return Outcome(response["status_code"], response["body"])
    return Outcome(503, {"error": line.get("error") or {"message": "no answer"}})
