"""Stopping what a command runs: by Ctrl-C or a signal to end, so that it can be resumed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer

from harbor._cli.output import say
from harbor._core.errors import LimitReached, ModelError, RunFolderError, RunPaused, Unanswered
from harbor._core.handles import remedy_of

T = TypeVar("T")
PAUSED = 75
"""The exit code of a run that stopped where it can be resumed: "try again later", as sendmail has it."""


def run_until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM has stopped it. A job in the background may be deaf to Ctrl-C, but not to
            SIGTERM.
    """
    import asyncio  # here, as `harbor --help` has no use for it

    try:
        return asyncio.run(_until_told_to_end(work))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _until_told_to_end(work: Coroutine[Any, Any, T]) -> T:
    import asyncio

    running, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    # Cancelled by the loop: KeyboardInterrupt, raised wherever the signal comes, would tear what is being done.
    before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(running.cancel))
    try:
        return await running
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interruptible(what: str, begun: Path, resume: str, so_far: str = "") -> Iterator[None]:
    """Say how to go on with what was stopped: by Ctrl-C, SIGTERM, the end of a person's input, a provider, a full disk.

    Args:
        what: is written.
        begun: is on disk as soon as there is something to resume.
        resume: the command that goes on with it; the options are those that it has.
        so_far: where to find what happened.
    """
    try:
        yield
    except (KeyboardInterrupt, EOFError):
        if sys.stderr.isatty():
            typer.echo(err=True)  # what was being typed, and ^C, have a line of their own
        say(f"stopped; {so_far}resume with: {resume}" if begun.exists() else "stopped before it began")
        raise typer.Exit(130) from None
    except RunPaused as error:
        more = " --max-cost DOLLARS" if isinstance(error, LimitReached) else ""
        say(f"paused: {error}; resume with: {resume}{more}")
        raise typer.Exit(PAUSED) from None
    except Unanswered:  # the run is over: it can't be mended by resuming it
        raise
    except ModelError as error:
        remedy = f"; mend it, then resume with: {resume} (a run keeps its settings: to change one, begin a new run)"
        raise ModelError(f"{error}{remedy if begun.exists() else ''}") from error
    except OSError as error:
        raise RunFolderError(
            f"{what} can't be written ({error.strerror}); {remedy_of(error, 'make room')}, then resume with: {resume}"
        ) from error
