"""Holding an auction before whoever watches: a board, plain lines, nobody, or a person who plays."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from harbor._cli.output import show
from harbor._cli.stopping import interruptible, run_until_stopped

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
    log = folder / EVENTS
    resume = f"harbor resume {shlex.quote(str(folder))}"
    with interruptible(f"output folder {str(folder)!r}", log, resume, f"what happened up to here is in {log}; "):
        result = _held(hold, as_json or quiet, player)
    show(result.metrics(), as_json, with_items=not quiet)
    if not as_json:
        typer.echo(f"log: {log}")


def _held(hold: Hold, unseen: bool, player: Bidder | None) -> Result | SeriesResult:
    from harbor._cli.display.screen import Screen, watching
    from harbor._cli.display.terminal import at_the_terminal

    if player is not None:
        return run_until_stopped(at_the_terminal(player, hold))
    if unseen:
        return run_until_stopped(hold(None, {}))
    with watching(Screen(highlight=False)) as listen:
        return run_until_stopped(hold(listen, {}))
