"""What the lane needs of a provider that takes jobs of many requests."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harbor._core.errors import HarborError

Body = Mapping[str, Any]


class JobFailed(HarborError):
    """A provider has taken a job and then refused it as a whole; nothing of it was answered or is paid.

    `too_large`: because more is waiting there than the account may have; less, or later, may go through.
    """

    def __init__(self, words: str, too_large: bool = False) -> None:
        super().__init__(words)
        self.too_large = too_large


@dataclass(frozen=True, slots=True)
class Item:
    """A request of a job: its name there, and its body as JSON."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request: the status and the body that it would have got by itself."""

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
        """Give the endpoint of requests to a path.

        Raises:
            ModelError: the provider takes no jobs for it.
        """
        ...

    def together(self, body: Body) -> str:
        """Give what the requests of one job must have in common."""
        ...

    async def submit(self, token: str, endpoint: str, items: Sequence[Item]) -> str:
        """Submit a job under a token of ours; give the provider's name of it."""
        ...

    async def find(self, token: str, size: int, since: float, known: Collection[str]) -> str | None:
        """Find a job of so many requests, begun since then, that was submitted unheard; it is none of the `known`.

        None: there is none.
        """
        ...

    async def outcomes(self, job: str) -> Mapping[str, Outcome] | None:
        """Give what became of the requests of a job, by their names; None: it has not ended.

        Raises:
            JobFailed: it was refused as a whole.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""


def decoded(lines: str) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in lines.split("\n") if line.strip()]
