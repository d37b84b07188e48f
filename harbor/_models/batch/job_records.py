"""Each job is recorded on disk before the program waits for it, so that no job is lost or paid twice."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from harbor._core.basics.errors import RunFolderError
from harbor._core.files.safe_files import MOST_RECORDS, open_private, read_sent

Step = Literal["sending", "sent", "collected", "failed"]


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A step of a job; `token` is our name of the job, and `name` the provider's.

    Only the first step has `items`, the requests in order as (game, digest), and `when`, in seconds since 1970.
    """

    token: str
    step: Step
    name: str = ""
    when: float = 0.0
    items: tuple[tuple[str, str], ...] = ()

    def item(self, number: int) -> str:
        """Return the name of request `number` (from 0), in at most 64 letters, digits and hyphens."""
        return f"{self.token}-{number}"


_LINE = TypeAdapter(JobRecord)


class JobRecords:
    """Holds the jobs of an experiment by token, each with its last step.

    Raises:
        RunFolderError: a line is no step of a job.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.jobs: dict[str, JobRecord] = {}
        try:
            lines = read_sent(path, MOST_RECORDS).splitlines(keepends=True)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise RunFolderError(f"{str(path)!r} can't be read ({error.strerror}); restore it") from error
        whole = [line for line in lines if line.endswith(b"\n")]
        if len(whole) < len(lines):  # cut short when the program was killed
            os.truncate(path, sum(map(len, whole)))
        for number, line in enumerate(whole, start=1):
            try:
                self._apply(_LINE.validate_json(line))
            except ValidationError as error:
                raise RunFolderError(
                    f"{str(path)!r} line {number} is no step of a batch; restore it, or remove the file to pay again"
                    " for what was submitted"
                ) from error

    @property
    def out(self) -> int:
        """The number of jobs that may be at a provider with uncollected results."""
        return sum(job.step in ("sending", "sent") for job in self.jobs.values())

    def add(self, record: JobRecord) -> None:
        """Write a step to disk before returning.

        Raises:
            RunFolderError: the step can't be written.
        """
        try:
            with open_private(self._path, "ab") as file:
                file.write(_LINE.dump_json(record, exclude_defaults=True) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunFolderError(f"{str(self._path)!r} can't be written ({error.strerror}); make room") from error
        self._apply(record)

    def _apply(self, record: JobRecord) -> None:
        before = self.jobs.get(record.token, record)
        self.jobs[record.token] = replace(record, items=before.items, when=before.when, name=record.name or before.name)
