"""What comes out of a run, who hears of it meanwhile, and how to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harbor._core.errors import ConfigError, Unanswered
from harbor._core.events import ModelCalled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.players import AGENT
from harbor.evaluation._metrics.summary import Summary, summarise

T = TypeVar("T")
Listener = Callable[[Entry], None]


@dataclass(frozen=True)
class Result:
    """A finished auction: its log, and where that is on disk (None: in memory only)."""

    log: tuple[Entry, ...]
    folder: Path | None

    @property
    def standings(self) -> Sequence[Any]:
        """The bidders, ranked by what counts in the game: rows of `results.Standing`, `water` or `sessions`."""
        return self.metrics().standings

    def metrics(self) -> Summary:
        """Measure the log."""
        return summarise(self.log)


def answered(result: Result) -> Result:
    """Give the result of a run, if it is one.

    Raises:
        Unanswered: there were calls of models, and all have failed.
    """
    outcomes = [call.outcome for call in of_type(result.log, ModelCalled) if call.purpose != AGENT]
    if outcomes and set(outcomes) == {"failed"}:
        raise Unanswered(f"no model has answered any of {len(outcomes)} calls; calls.jsonl of the run says why")
    return result


def finish(work: Coroutine[Any, Any, T], refusal: str, remedy: str) -> T:
    """Run to the end where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise ConfigError(f"{refusal} in a running event loop, as in a notebook; use: {remedy}")
