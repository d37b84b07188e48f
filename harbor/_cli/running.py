"""Running an auction before whoever watches: a board, plain lines, nobody, or a person who plays."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from harbor._cli.display.extent import Extent
from harbor._cli.output import show
from harbor._cli.stopping import interruptible, run_until_stopped
from harbor._core.finding import command

if TYPE_CHECKING:
    from harbor._config.auction import Bidder
    from harbor._house.people import Person
    from harbor._runs.result import Listener, Result
    from harbor._runs.series import SeriesResult

    Begin = Callable[[Listener | None, Mapping[str, Person]], Coroutine[Any, Any, Result | SeriesResult]]


def run_and_show(
    begin: Begin,
    folder: Path,
    as_json: bool = False,
    extent: Extent = "usual",
    player: Bidder | None = None,
) -> None:
    """Run an auction; print its results, and where its log is."""
    from harbor._core.layout import EVENTS

    gc.freeze()  # the frameworks' objects are here to stay: collecting them delayed a turn by 50 ms
    log = folder / EVENTS
    resume = f"{command()} resume {shlex.quote(str(folder))}"
    so_far = f"what happened up to here is in {log}; "
    with interruptible(f"output folder {str(folder)!r}", log, resume, so_far):
        result = _run(begin, as_json, extent == "short", player)
    show(result.metrics(), as_json, extent)
    if not as_json:
        typer.echo(f"log: {log}")
        typer.echo(f"look at it: {command()} view {shlex.quote(str(folder))}")


def _run(begin: Begin, as_json: bool, quiet: bool, player: Bidder | None) -> Result | SeriesResult:
    from harbor._cli.display.live_line import told_each_minute
    from harbor._cli.display.render import Screen
    from harbor._cli.display.screen import watching
    from harbor._cli.display.terminal import at_the_terminal

    if player is not None:
        return run_until_stopped(at_the_terminal(player, begin))
    if as_json or quiet:
        with redirect_stdout(sys.stderr), told_each_minute(quiet):  # what agents print is no output of ours
            return run_until_stopped(begin(None, {}))
    with watching(Screen(highlight=False)) as listen:
        return run_until_stopped(begin(listen, {}))
