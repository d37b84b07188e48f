"""The command that takes the figures of an experiment out of its page, as files for a paper."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.doubts import warn_of_games
from harbor._cli.output import say
from harbor._cli.places import default_place
from harbor._cli.reports import Picture, Width, opened, writing
from harbor._core.errors import ConfigError, RunFolderError, unknown
from harbor._core.finding import command
from harbor._core.layout import DESIGN, EVENTS

if TYPE_CHECKING:
    from harbor.evaluation._report.canvas import Drawing
    from harbor.evaluation._report.loading import Loaded


def figure(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR|RUN", help="The folder of an experiment or of a run, finished or not.")
    ],
    name: Annotated[str, typer.Argument(help="The figure; without one, all are listed.")] = "",
    format_: Annotated[
        Picture | None, typer.Option("--format", help="The format; default: as FILE ends, or pdf.")
    ] = None,
    width: Annotated[Width, typer.Option(help="As wide as a column (3.4 inches) or a page (7).")] = Width.column,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: in DIR/figures, if DIR is yours.")] = None,
) -> None:
    """Write a figure of an experiment or of a run as a file for a paper, with its caption; or list the figures."""
    form = _form(out, format_)
    if folder.exists() and not any((folder / file).is_file() for file in (DESIGN, EVENTS)):
        neither = f"contains neither an experiment ({DESIGN}) nor a run ({EVENTS})"
        raise RunFolderError(f"{str(folder)!r} {neither}; give the folder of one")
    loaded = None if (folder / EVENTS).is_file() else opened(folder, checked=False)  # a list of names has no numbers
    of_run = {} if loaded else _of_run(folder)
    known = _names(loaded, folder) if loaded else {name: one.title for name, one in of_run.items()}
    if not name:
        _list(known, folder)
        return
    if name not in known:
        raise ConfigError(unknown("figure", name, known))
    if loaded:
        warn_of_games(folder)
    drawing = _drawing(loaded, name) if loaded else of_run[name]
    _write(loaded, drawing, out or default_place(folder, "figures") / f"{name}.{form}", form, width)


def write_all(loaded: Loaded, folder: Path, form: Picture, width: Width) -> None:
    """Write every figure into a folder; one that can't be drawn is a warning."""
    from harbor.evaluation._report.figure_files import drawings

    for name, drawing in drawings(loaded).items():
        try:
            _write(loaded, drawing, folder / f"{name}.{form}", form, width, "name another with --figures")
        except ConfigError as error:
            say(f"warning: {error}")


def _form(out: Path | None, wanted: Picture | None) -> Picture:
    """Tell the format by the option, or by how the file ends.

    Raises:
        ConfigError: they contradict each other, or the file's ending is no format.
    """
    ending = out.suffix.removeprefix(".").lower() if out else ""
    if out and ending not in list(Picture):
        raise ConfigError(f"--out {str(out)!r} ends in no format of a figure; choose one of: {', '.join(Picture)}")
    if wanted and ending and wanted != ending:
        raise ConfigError(f"--format {wanted.value} contradicts --out {str(out)!r}; leave one of them out")
    return wanted or (Picture(ending) if ending else Picture.pdf)


def _names(loaded: Loaded, folder: Path) -> Mapping[str, str]:
    """Name the figures and what they answer or show, with none drawn.

    Raises:
        ConfigError: there are none.
    """
    from harbor.evaluation._report.figure_files import names

    if not loaded.results.of("finished"):
        again = f"{command()} experiment resume {shlex.quote(str(folder))}"
        raise ConfigError(f"no game of {str(folder)!r} is finished, so there is nothing to draw; go on with: {again}")
    if not (found := names(loaded)):
        raise ConfigError(f"{str(folder)!r} has no figure: nothing that it measures is drawn; see: {command()} report")
    return found


def _of_run(folder: Path) -> Mapping[str, Drawing]:
    """Give the pictures of the page of a run, by name."""
    from harbor._cli.doubts import warn_of
    from harbor._view.run_figures import run_drawings

    warn_of(folder)
    return run_drawings(folder)


def _drawing(loaded: Loaded, name: str) -> Drawing:
    from harbor.evaluation._report.figure_files import drawings

    if not (found := drawings(loaded, name)):
        raise ConfigError(f"figure {name!r} has nothing to show: no game that is finished measured it; draw another")
    return found[name]


def _list(known: Mapping[str, str], folder: Path) -> None:
    for name, says in known.items():
        typer.echo(name)
        typer.echo(fill(says, 80, initial_indent="  ", subsequent_indent="  "))
    say(f"write one with: {command()} figure {shlex.quote(str(folder))} {next(iter(known))}")


def _write(
    loaded: Loaded | None,
    drawing: Drawing,
    file: Path,
    form: Picture,
    width: Width,
    remedy: str = "name another with --out",
) -> None:
    from harbor.evaluation._report.figure_files import write_figure

    with writing(file, remedy):
        written = write_figure(loaded, drawing, file, form.value, width.value)
    for one in written:
        typer.echo(one)
