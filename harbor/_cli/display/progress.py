"""Progress on stderr: the games of an experiment, and a line on all calls under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from harbor._core.basics.actions import printable
from harbor._core.basics.numbers import cost_in_words, counted
from harbor._models.governor.local import governor
from harbor._models.governor.terms import UnderWay, Wait

if TYPE_CHECKING:
    from harbor.evaluation._experiments.trial_records import Tally, TrialRecord
    from harbor.evaluation._running.runner import OnProgress

MINUTE = 60.0
"""Seconds from one line to the next without a terminal."""
WIDE = 1_000
"""Columns of a line in a file: nothing is left out."""


class LiveLine:
    """The current line at a terminal, never wider than the screen."""

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the line."""
        told = in_words(governor().under_way(), options.max_width, datetime.now())
        yield Text(printable(told), no_wrap=True, overflow="ellipsis")


@contextmanager
def told_each_minute(unseen: bool = False) -> Iterator[None]:
    """Print the line on stderr in each minute with a call under way, for outputs without a terminal."""
    over = threading.Event()
    teller = threading.Thread(target=_tell, args=(over,), daemon=True)
    if not unseen:
        teller.start()
    try:
        yield
    finally:
        over.set()
        if not unseen:
            teller.join()


def _tell(over: threading.Event) -> None:
    while not over.wait(MINUTE):
        state = governor().under_way()
        if state.waits or state.calls or state.queued:
            with suppress(OSError, ValueError):  # the run goes on without a reader of stderr
                told = printable(in_words(state, WIDE, datetime.now()))
                Console(stderr=True, highlight=False).print(told, markup=False, soft_wrap=True)


def in_words(state: UnderWay, width: int, now: datetime) -> str:
    """Return the state in the longest form that fits in `width` columns; empty if no model was called."""
    if not (state.waits or state.calls or state.queued or state.dollars != 0.0):
        return ""
    forms = (_long(state, now), _short(state, now, True), _short(state, now, False))
    return next((form for form in forms if len(form) <= width), forms[-1])


def _long(state: UnderWay, now: datetime) -> str:
    calls = [f"{counted(state.calls, 'call')} under way"] if state.calls else []
    if calls and not state.waits and (longest := state.longest) is not None:
        calls = [f"{calls[0]}, the longest for {_duration(longest.seconds)} ({longest.host}, {longest.model})"]
    queued = [f"{counted(state.queued, 'call')} to start"] if state.queued else []
    cost = "cost unknown" if state.dollars is None else f"{cost_in_words(state.dollars)} this session"
    return " · ".join([*_waits(state, now, _told), *calls, *queued, cost])


def _short(state: UnderWay, now: datetime, model: bool) -> str:
    calls = [counted(state.calls, "call")] if state.calls else []
    if calls and not state.waits and state.longest is not None:
        calls = [f"{calls[0]}, the longest {_duration(state.longest.seconds)}"]
    cost = "cost unknown" if state.dollars is None else cost_in_words(state.dollars)
    return " · ".join([*_waits(state, now, partial(_told_shortly, model=model)), *calls, cost])


def _waits(state: UnderWay, now: datetime, told: Callable[[Wait, datetime], str]) -> list[str]:
    """Return the host and model with the longest wait, and the number of others."""
    places = {(wait.host, wait.model): wait for wait in reversed(state.waits)}  # the longest wait of each place
    if not places:
        return []
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return [told(state.waits[0], now) + more]


def _told(wait: Wait, now: datetime) -> str:
    asked = f", asked to wait until {_at(now, wait.pause)}" if wait.pause else ""
    until = f", tries again until {_at(now, wait.left)}" if wait.left is not None else ""
    tries = f" (try {wait.tries + 1})" if wait.tries else ""
    return f"waiting for {_of(wait)}: {wait.status}{asked} for {_duration(wait.seconds)}{until}{tries}"


def _told_shortly(wait: Wait, now: datetime, model: bool) -> str:
    end = wait.pause or wait.left
    until = f", until {_at(now, end)}" if end is not None else ""
    tries = f", try {wait.tries + 1}" if wait.tries else ""
    return f"{_of(wait) if model else wait.host}: {wait.status}, {_duration(wait.seconds)}{until}{tries}"


def _of(wait: Wait) -> str:
    return f"{wait.host} ({wait.model})" if wait.model else wait.host


def _duration(seconds: float) -> str:
    """Return a duration as "0:42" or "1:02:03"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _at(now: datetime, seconds: float) -> str:
    """Return the time of day in `seconds` from now, with the day if it is another."""
    end = now + timedelta(seconds=seconds)
    return f"{end:%H:%M}" if end.date() == now.date() else f"{end:%d %b %H:%M}"


EACH_GAME = 20
"""The greatest number of games that get a line each; with more games, there is one line per tenth."""

WIDTH = 12
"""Columns of the bar: narrow, so that the texts beside it fit in 80 columns."""


@contextmanager
def watching(as_json: bool, quiet: bool) -> Iterator[OnProgress]:
    """Yield a listener that shows the progress of an experiment; with JSON, show only the calls under way."""
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
        """Draw the calls under way below the bar."""
        yield from super().get_renderables()
        yield LiveLine()


class _Pace:
    """Games per minute since the start."""

    def __init__(self, tally: Tally) -> None:
        self._began, self._before = time.monotonic(), _done(tally)

    def state(self, tally: Tally) -> str:
        """Return the state in words."""
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
