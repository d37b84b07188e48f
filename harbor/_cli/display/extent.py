"""How much is shown: of a result, and of the steps of a long command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from harbor._core.basics.feedback import heard_by

Extent = Literal["short", "usual", "full"]
"""Standings alone, also each item, or also what each model was asked."""


@contextmanager
def step_bars() -> Iterator[None]:
    """Show how far the work inside has come; the bar of each kind of step goes when the last is done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (MofNCompleteColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    task = progress.add_task("")

    def listen(done: int, of: int, what: str) -> None:
        progress.update(task, completed=done, total=of, description=what)
        if done < of:
            progress.start()
        else:
            progress.stop()  # what is printed next has the line to itself

    try:
        with heard_by(listen):
            yield
    finally:
        progress.stop()
