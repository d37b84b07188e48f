"""The command that tells what an experiment found: a page, or tables for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harbor.commands.output import say
from harbor.errors import RunFolderError

Format = StrEnum("Format", ["html", "csv", "parquet", "latex"])


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an experiment, finished or not.")],
    out: Annotated[
        Path | None, typer.Option(help="A file for the page, or a folder for tables; default: in DIR.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.html,
) -> None:
    """Write what an experiment found as one HTML page, or as tables; print where."""
    from harbor.evaluation.report.loading import load

    _refuse_single_run(folder)
    loaded = load(folder)
    unfinished = len(loaded.results.of("unfinished"))
    if unfinished:
        say(f"{unfinished} of {len(loaded.results.games)} games are not finished; go on with: harbor experiment resume")
    place = out or folder / ("report.html" if format_ is Format.html else format_.value)
    try:
        if format_ is Format.html:
            from harbor.evaluation.report.page import render

            place.write_text(render(loaded), encoding="utf-8")
        else:
            from harbor.evaluation.report.exports import EXPORTS

            place.mkdir(parents=True, exist_ok=True)
            EXPORTS[format_.value](loaded, place)
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); name another with --out") from error
    typer.echo(place)


def _refuse_single_run(folder: Path) -> None:
    from harbor.evaluation.running.folder import DESIGN
    from harbor.folder import EVENTS

    if (folder / EVENTS).is_file() and not (folder / DESIGN).is_file():
        raise RunFolderError(f"{str(folder)!r} is a single run, not an experiment; see it with: harbor replay {folder}")
