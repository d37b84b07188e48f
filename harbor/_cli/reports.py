"""The command that writes what an experiment found: a page, or tables for other programs."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harbor._cli.output import say
from harbor._core.errors import RunFolderError
from harbor._core.finding import command
from harbor._core.layout import check_experiment
from harbor._core.version import __version__

Format = StrEnum("Format", ["html", "csv", "parquet", "latex"])


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an experiment, finished or not.")],
    out: Annotated[
        Path | None, typer.Option(help="A file for the page, or a folder for tables; default: in DIR.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.html,
) -> None:
    """Write what an experiment found as an HTML page, or as tables."""
    check_experiment(folder)
    from harbor.evaluation._report.loading import load

    loaded = load(folder)
    if loaded.origin.harbor != __version__:
        say(f"it was begun with harbor {loaded.origin.harbor}; harbor {__version__} measures its games anew")
    unfinished = len(loaded.results.of("unfinished"))
    if unfinished:
        again = f"{command()} experiment resume {shlex.quote(str(folder))}"
        say(f"{unfinished} of {len(loaded.results.records)} games are not finished; resume with: {again}")
    place = out or folder / ("report.html" if format_ is Format.html else format_.value)
    try:
        if format_ is Format.html:
            from harbor.evaluation._report.page import render
            from harbor.evaluation._running.trial_folder import write_whole

            write_whole(place, render(loaded).encode())
        else:
            from harbor.evaluation._report.exports import EXPORTS

            place.mkdir(parents=True, exist_ok=True)
            EXPORTS[format_.value](loaded, place)
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); name another with --out") from error
    typer.echo(place)
