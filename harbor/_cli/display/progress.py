"""How far an experiment has come, on stderr: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from harbor._cli.display.live_line import LiveLine, told_each_minute
from harbor._core.parsing import printable

if TYPE_CHECKING:
    from harbor.evaluation._experiments.trial_records import TrialRecord
    from harbor.evaluation._running.runner import OnProgress
    from harbor.evaluation._running.tally import Tally

EACH_GAME = 20
"""Up to so many games each has a line of its own; of more, there is one line per tenth."""

WIDTH = 12
"""Of the bar: narrow, so that what stands beside it fits in 80 columns."""


@contextmanager
def watching(as_json: bool, quiet: bool) -> Iterator[OnProgress]:
    """Give what hears how far an experiment has come, and shows it; with JSON only what is waited for."""
    console = Console(stderr=True, highlight=False)
    if as_json or quiet:
        with told_each_minute(unseen=quiet):
            yield lambda *_: None
    elif not console.is_terminal:
        with told_each_minute():
            yield _Lines(console)
    else:
        counted, state = (
            (MofNCompleteColumn(), BarColumn(WIDTH), TimeRemainingColumn()),
            TextColumn("{task.fields[state]}"),
        )
        with _Progress(*counted, state, console=console) as progress:
            yield _Bar(progress)


class _Progress(Progress):
    def get_renderables(self) -> Iterator[RenderableType]:
        """Draw what is waited for below the bar."""
        yield from super().get_renderables()
        yield LiveLine()


class _Pace:
    """Games per minute, since it began to listen."""

    def __init__(self, tally: Tally) -> None:
        self._began, self._before = time.monotonic(), _done(tally)

    def state(self, tally: Tally) -> str:
        """Say how things stand in words."""
        minutes = (time.monotonic() - self._began) / 60
        rate = f"{(_done(tally) - self._before) / minutes:.1f} per minute" if minutes else ""
        cost = "cost unknown" if tally.cost_dollars is None else f"${tally.cost_dollars:,.2f}"
        cached = f" ({tally.cached_tokens:,} cached)" if tally.cached_tokens else ""
        tokens = f"{tally.input_tokens + tally.output_tokens:,} tokens{cached}"
        return ", ".join(filter(None, (f"{tally.failed} failed", rate, tokens, cost)))


class _Bar:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._pace: _Pace | None = None

    def __call__(self, tally: Tally, record: TrialRecord | None) -> None:
        if self._task is None or self._pace is None:
            self._pace = _Pace(tally)
            self._task = self._progress.add_task("", total=tally.games, completed=_done(tally), state="")
            return
        self._progress.update(self._task, completed=_done(tally), state=self._pace.state(tally))


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._pace: _Pace | None = None

    def __call__(self, tally: Tally, record: TrialRecord | None) -> None:
        if self._pace is None or record is None:
            self._pace = _Pace(tally)
            return
        done = _done(tally)
        tenth = done * 10 // tally.games > (done - 1) * 10 // tally.games
        if tally.games <= EACH_GAME or tenth or record.status == "failed":
            place = f"{record.arm} {record.condition} {record.repeat} {record.status}"
            line = f"{done} of {tally.games} games: {place}; {self._pace.state(tally)}"
            self._console.print(printable(line), markup=False, soft_wrap=True)


def _done(tally: Tally) -> int:
    return tally.finished + tally.failed
