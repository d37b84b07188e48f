"""The measures of the beauty contest: those of sessions, and the target of each contest."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.beauty.rules import BeautyOpened, target
from harbor._games.sessions.measures import Played, RunResult, winners_of
from harbor._games.sessions.results import Result


def contests(entries: Sequence[Entry]) -> list[RunResult]:
    """List the contests that are over, whether or not players were told their results."""
    return [
        RunResult(item, winners_of(events), None, _target(opened, events))
        for opened in of_type(entries, BeautyOpened)
        for item, events in Played.of(entries).by_run().items()
    ]


def _target(opened: BeautyOpened, settled: Sequence[Result]) -> float | None:
    numbers = [event.action for event in settled if event.action is not None]
    return float(target(numbers, opened.fraction)) if numbers else None
