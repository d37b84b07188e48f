"""The command that writes what an experiment found: a page, or tables for other programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.doubts import measuring_games
from harbor._cli.output import say
from harbor._cli.places import check_ending, default_place
from harbor._core.errors import RunFolderError
from harbor._core.finding import command
from harbor._core.layout import check_experiment
from harbor._core.version import __version__

if TYPE_CHECKING:
    from harbor.evaluation._report.loading import Loaded

Format = StrEnum("Format", ["html", "csv", "parquet", "latex"])
Picture = StrEnum("Picture", ["pdf", "svg", "png"])
Width = StrEnum("Width", ["column", "page"])


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an experiment, finished or not.")],
    out: Annotated[
        Path | None, typer.Option(help="A file for the page, or a folder for tables; default: in DIR, if it is yours.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.html,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every figure into this folder too, for a paper.")
    ] = None,
    figure_format: Annotated[Picture, typer.Option(help="The format of these figures.")] = Picture.pdf,
    figure_width: Annotated[Width, typer.Option(help="Their width: 3.4 or 7 inches.")] = Width.column,
) -> None:
    """Write what an experiment found as an HTML page, or as tables; its figures as files too."""
    if format_ is Format.html:
        check_ending(out, ".html")
    loaded = opened(folder)
    if figures is not None:
        with writing(figures, "name another with --figures"):
            figures.mkdir(parents=True, exist_ok=True)
    place = out or default_place(folder, "report.html" if format_ is Format.html else format_.value)
    with writing(place):
        if format_ is Format.html:
            from harbor._core.private_files import write_whole
            from harbor.evaluation._report.page import render

            write_whole(place, render(loaded).encode(), private=False)
        else:
            from harbor.evaluation._report.exports import EXPORTS

            place.mkdir(parents=True, exist_ok=True)
            EXPORTS[format_.value](loaded, place)
    typer.echo(place)
    if figures is not None:
        from harbor._cli.pictures import write_all

        write_all(loaded, figures, figure_format, figure_width)


def opened(folder: Path, checked: bool = True) -> Loaded:
    """Load an experiment, and say what a reader of its numbers has to know; unchecked, whether logs follow is not.

    Raises:
        RunFolderError: it is no experiment.
        LogError: a log can't be measured.
    """
    check_experiment(folder)
    from harbor.evaluation._report.loading import load

    with measuring_games(folder, checked):
        loaded = load(folder)
    if loaded.origin.harbor != __version__:
        say(f"it was begun with harbor {loaded.origin.harbor}; harbor {__version__} measures its games anew")
    unfinished = len(loaded.results.of("unfinished"))
    if unfinished:
        again = f"{command()} experiment resume {shlex.quote(str(folder))}"
        say(f"{unfinished} of {len(loaded.results.records)} games are not finished; resume with: {again}")
    return loaded


@contextmanager
def writing(place: Path, remedy: str = "name another with --out") -> Iterator[None]:
    """Put what goes wrong in writing in one line.

    Raises:
        RunFolderError: it can't be written.
    """
    try:
        yield
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); {remedy}") from error
