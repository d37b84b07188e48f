"""Jobs of many requests, in OpenAI's way (files and batches) and in Anthropic's, answered once they are complete."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import HTTP
from math import inf
from typing import Any

from support.providers.speech import Trouble
from support.providers.wire import Question, Reply, encoded

Line = dict[str, Any]
STARTED, DONE = 1_760_000_000, 1_760_000_600
DATED = "2026-01-01T00:00:00Z"
TOO_LARGE = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for gpt-4o-mini."}
MULTIPART = b"MIME-Version: 1.0\r\nContent-Type: %b\r\n\r\n%b"


@dataclass(slots=True)
class Job:
    """A batch: its requests by their own IDs, in order, and its number of polls.

    `lines` are the replies of a complete batch: the ID, the status and the body.
    """

    name: str
    asked: Mapping[str, tuple[str, Mapping[str, Any]]]
    file: str = ""
    path: str = ""
    metadata: Any = None
    looks: int = 0
    lines: list[tuple[str, int, Any]] | None = None


@dataclass
class Batches:
    """The jobs and files of a provider, in order of arrival.

    `answered` returns the status and the body of a reply. A job is complete after `polls` polls. A job of more than
    `most_queued` requests fails.
    """

    answered: Callable[[str, Mapping[str, Any]], tuple[int, Any]]
    polls: float = 0
    most_queued: float = inf
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def reply(self, question: Question) -> Reply:
        """Reply to a request about jobs and files.

        Raises:
            Trouble: there is no such job or file, or the request is malformed.
        """
        match question.method, *question.path.strip("/").split("/")[1:]:
            case "POST", "files":
                return _json(self._upload(question))
            case "GET", "files", name, "content" if name in self.files:
                return Reply(200, self.files[name], "application/octet-stream")
            case "POST", "batches":
                return _json(self._openai(self._begin_openai(json.loads(question.body))))
            case "GET", "batches":
                jobs = [self._openai(job) for job in self.jobs.values()]
                return _json({"object": "list", "data": jobs, "has_more": False})
            case "GET", "batches", name if name in self.jobs:
                return _json(self._openai(self._looked(name)))
            case "POST", "messages", "batches":
                return _json(self._anthropic(self._begin_anthropic(json.loads(question.body))))
            case "GET", "messages", "batches":
                jobs = [self._anthropic(job) for job in self.jobs.values()]
                return _json({"data": jobs, "has_more": False, "first_id": None, "last_id": None})
            case "GET", "messages", "batches", name, "results" if name in self.jobs and self.jobs[name].lines:
                lines = [encoded(_anthropic_line(*line)) for line in self.jobs[name].lines or ()]
                return Reply(200, b"".join(line + b"\n" for line in lines), "application/x-jsonl")
            case "GET", "messages", "batches", name if name in self.jobs:
                return _json(self._anthropic(self._looked(name), question))
        raise Trouble(404, "path", f"Invalid URL ({question.method} {question.path})")

    def _upload(self, question: Question) -> dict[str, Any]:
        form = message_from_bytes(MULTIPART % (question.headers["content-type"].encode(), question.body), policy=HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content = parts["file"].get_payload(decode=True)
        about = {"id": name, "object": "file", "bytes": len(content), "created_at": STARTED, "filename": "batch.jsonl"}
        return about | {"purpose": "batch", "status": "processed"}

    def _begin_openai(self, given: Mapping[str, Any]) -> Job:
        file = given["input_file_id"]
        lines = map(json.loads, self.files[file].splitlines())
        asked = {line["custom_id"]: (line["url"], line["body"]) for line in lines}
        job = Job(f"batch_{len(self.jobs) + 1}", asked, file, given["endpoint"], given.get("metadata"))
        self.jobs[job.name] = job
        return job

    def _begin_anthropic(self, given: Mapping[str, Any]) -> Job:
        asked = {one["custom_id"]: ("/v1/messages", one["params"]) for one in given["requests"]}
        job = Job(f"msgbatch_{len(self.jobs) + 1}", asked)
        self.jobs[job.name] = job
        return job

    def _looked(self, name: str) -> Job:
        """Poll a job. The poll after the last required one answers it."""
        job = self.jobs[name]
        if job.lines is None:
            job.looks += 1
            if job.looks > self.polls:
                job.lines = [(name, *self.answered(*asked)) for name, asked in job.asked.items()]
        return job

    def _openai(self, job: Job) -> dict[str, Any]:
        good, bad = _sorted(job)
        status = self._status(job)
        return {
            "id": job.name,
            "object": "batch",
            "endpoint": job.path,
            "errors": {"object": "list", "data": [TOO_LARGE]} if status == "failed" else None,
            "input_file_id": job.file,
            "completion_window": "24h",
            "status": status,
            "output_file_id": self._written(job, "output", good),
            "error_file_id": self._written(job, "error", bad),
            "created_at": int(time.time()),
            "in_progress_at": STARTED,
            "expires_at": STARTED + 86_400,
            "completed_at": DONE if status == "completed" else None,
            "request_counts": {"total": len(job.asked), "completed": len(good), "failed": len(bad)},
            "metadata": job.metadata,
        }

    def _status(self, job: Job) -> str:
        if len(job.asked) > self.most_queued:
            return "failed"
        if job.lines is not None:
            return "completed"
        return "in_progress" if job.looks else "validating"

    def _written(self, job: Job, kind: str, lines: list[tuple[str, int, Any]]) -> str | None:
        """Return the name of the file with these lines, or None if there are none."""
        if not lines:
            return None
        name = f"file-{job.name}-{kind}"
        self.files[name] = b"".join(encoded(_openai_line(*line)) + b"\n" for line in lines)
        return name

    def _anthropic(self, job: Job, question: Question | None = None) -> dict[str, Any]:
        done = job.lines is not None
        good, bad = _sorted(job)
        host = question.headers.get("host", "") if question else ""
        counts = {"processing": len(job.asked) - len(good) - len(bad), "succeeded": len(good), "errored": len(bad)}
        return {
            "id": job.name,
            "type": "message_batch",
            "processing_status": "ended" if done else "in_progress",
            "request_counts": counts | {"expired": 0, "canceled": 0},
            "ended_at": DATED if done else None,
            "created_at": datetime.now(UTC).isoformat(),
            "expires_at": DATED,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"http://{host}/v1/messages/batches/{job.name}/results" if done else None,
        }


def _sorted(job: Job) -> tuple[list[Any], list[Any]]:
    lines = job.lines or []
    return [line for line in lines if line[1] == 200], [line for line in lines if line[1] != 200]


def _openai_line(name: str, status: int, body: Any) -> Line:
    response = {"status_code": status, "request_id": f"req_{name}", "body": body}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": None}


def _anthropic_line(name: str, status: int, body: Any) -> Line:
    result = {"type": "succeeded", "message": body} if status == 200 else {"type": "errored", "error": body}
    return {"custom_id": name, "result": result}


def _json(payload: dict[str, Any]) -> Reply:
    return Reply(200, encoded(payload))
