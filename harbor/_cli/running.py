"""Holding an auction before whoever watches: a board, plain lines, nobody, or a person who plays."""

from __future__ import annotations

import asyncio
import gc
import shlex
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from harbor._cli.output import say, show
from harbor._core.errors import RunFolderError

if TYPE_CHECKING:
    from harbor._config.auction import Bidder
    from harbor._house.people import Person
    from harbor._runs.result import Listener, Result
    from harbor._runs.series import SeriesResult

    Hold = Callable[[Listener | None, Mapping[str, Person]], Coroutine[Any, Any, Result | SeriesResult]]


def run_and_show(
    hold: Hold, folder: Path, as_json: bool = False, quiet: bool = False, player: Bidder | None = None
) -> None:
    """Hold an auction; print its results, and where its log is."""
    from harbor._runs.folder import EVENTS

    gc.freeze()  # the frameworks' objects are here to stay: a collection of them held up a turn by 50 ms
    with _interruptible(folder):
        result = _held(hold, as_json or quiet, player)
    show(result.metrics(), as_json, with_items=not quiet)
    if not as_json:
        typer.echo(f"log: {folder / EVENTS}")


def _held(hold: Hold, unseen: bool, player: Bidder | None) -> Result | SeriesResult:
    from harbor._display.screen import Screen, watching
    from harbor._display.terminal import at_the_terminal

    if player is not None:
        return asyncio.run(at_the_terminal(player, hold))
    if unseen:
        return asyncio.run(hold(None, {}))
    with watching(Screen(highlight=False)) as listen:
        return asyncio.run(hold(listen, {}))


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Say how a run goes on that was stopped: by Ctrl-C, by the end of a person's input, or by a full disk."""
    from harbor._runs.folder import EVENTS

    remedy = f"resume with: harbor resume {shlex.quote(str(folder))}"
    try:
        yield
    except (KeyboardInterrupt, EOFError):
        log = folder / EVENTS
        say(f"stopped; what happened up to here is in {log}; {remedy}" if log.exists() else "stopped before it began")
        raise typer.Exit(130) from None
    except OSError as error:
        raise RunFolderError(
            f"output folder {str(folder)!r} can't be written ({error.strerror}); make room, then {remedy}"
        ) from error
