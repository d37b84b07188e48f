"""Commands that write the findings of experiments: a page, tables, figures for a paper, and comparisons."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.shared.files import check_ending, default_place
from harbor._cli.shared.shell import Full, Json, say
from harbor._cli.shared.trust import measuring_games, warn_of, warn_of_games
from harbor._core.basics.errors import ConfigError, RunFolderError, unknown
from harbor._core.faces import __version__
from harbor._core.files.layout import DESIGN, EVENTS, check_experiment, check_run, no_experiment
from harbor._core.plugins.finding import command

if TYPE_CHECKING:
    from harbor.evaluation._report.comparing.side_by_side import Compared
    from harbor.evaluation._report.drawing.canvas import Drawing
    from harbor.evaluation._report.tabular.loading import Loaded

Format = StrEnum("Format", ["html", "csv", "parquet", "latex"])
Picture = StrEnum("Picture", ["pdf", "svg", "png"])
Width = StrEnum("Width", ["column", "page"])


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an experiment, finished or not.")],
    out: Annotated[
        Path | None, typer.Option(help="A file for the page, or a folder for tables; default: in DIR, if it is yours.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="The format of the output.")] = Format.html,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every figure into this folder too, for a paper.")
    ] = None,
    figure_format: Annotated[Picture, typer.Option(help="The format of these figures.")] = Picture.pdf,
) -> None:
    """Write the findings of an experiment as a page or as tables, and its figures as files."""
    if format_ is Format.html:
        check_ending(out, ".html")
    loaded = opened(folder)
    if figures is not None:
        with writing(figures, "name another with --figures"):
            figures.mkdir(parents=True, exist_ok=True)
    place = out or default_place(folder, "report.html" if format_ is Format.html else format_.value)
    with writing(place):
        if format_ is Format.html:
            from harbor._core.files.safe_files import write_whole
            from harbor.evaluation._report.page.page import render

            write_whole(place, render(loaded).encode(), private=False)
        else:
            from harbor.evaluation._report.paper.exports import EXPORTS

            place.mkdir(parents=True, exist_ok=True)
            EXPORTS[format_.value](loaded, place)
    typer.echo(place)
    if figures is not None:
        write_all(loaded, figures, figure_format)


def opened(folder: Path, checked: bool = True) -> Loaded:
    """Load an experiment, and warn of facts that affect its numbers; check its logs only if `checked`.

    Raises:
        RunFolderError: it is no experiment.
        LogError: a log can't be measured.
    """
    check_experiment(folder)
    from harbor.evaluation._report.page.notebook_view import load

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
    """Report a write error in one line.

    Raises:
        RunFolderError: the place can't be written.
    """
    try:
        yield
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); {remedy}") from error


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
    loaded = None if (folder / EVENTS).is_file() else opened(folder, checked=False)  # a list of names needs no check
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


def write_all(loaded: Loaded, folder: Path, form: Picture) -> None:
    """Write every figure into a folder, as wide as a column; warn of one that can't be drawn."""
    from harbor.evaluation._report.paper.figure_files import drawings

    for name, drawing in drawings(loaded).items():
        try:
            _write(loaded, drawing, folder / f"{name}.{form}", form, Width.column, "name another with --figures")
        except ConfigError as error:
            say(f"warning: {error}")


def _form(out: Path | None, wanted: Picture | None) -> Picture:
    """Return the format from the option, or from the ending of the file.

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
    """Return the figures by name with their questions or titles; draw none.

    Raises:
        ConfigError: there are none.
    """
    from harbor.evaluation._report.paper.figure_files import names

    if not loaded.results.of("finished"):
        again = f"{command()} experiment resume {shlex.quote(str(folder))}"
        raise ConfigError(f"no game of {str(folder)!r} is finished, so there is nothing to draw; go on with: {again}")
    if not (found := names(loaded)):
        raise ConfigError(f"{str(folder)!r} has no figure: nothing that it measures is drawn; see: {command()} report")
    return found


def _of_run(folder: Path) -> Mapping[str, Drawing]:
    """Return the pictures of the page of a run, by name."""
    from harbor._view.run_figures import run_drawings

    warn_of(folder)
    return run_drawings(folder)


def _drawing(loaded: Loaded, name: str) -> Drawing:
    from harbor.evaluation._report.paper.figure_files import drawings

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
    from harbor.evaluation._report.paper.figure_files import write_figure

    with writing(file, remedy):
        written = write_figure(loaded, drawing, file, form.value, width.value)
    for one in written:
        typer.echo(one)


def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="A B ...", help="Folders of experiments, or of two runs; all compared with A."),
    ],
    metric: Annotated[
        list[str] | None, typer.Option(help="Compare this metric alone; give it again for more. Default: all of both.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for everything: a page (.html) or the differences (.csv).")
    ] = None,
    as_json: Json = False,
    full: Full = False,
) -> None:
    """Compare experiments, or two runs: show each difference, its size and its certainty."""
    _check_folders(folders, out)
    if not (folders[0] / DESIGN).is_file():
        _compare_runs(folders, metric, out, as_json, full)
        return
    from harbor.evaluation._report.comparing.side_by_side import compare as compared_with
    from harbor.evaluation._report.comparing.side_by_side import warnings

    for folder in folders:
        check_experiment(folder)
        with measuring_games(folder):
            pass
    compared = compared_with(*folders, metrics=metric or ())
    for warning in warnings(compared):
        say(f"warning: {warning}")
    if as_json:
        typer.echo(json.dumps(compared.as_json()))
    else:
        _print_comparison(compared, full)
    if out is not None:
        _write_comparison(compared, out)


def _check_folders(folders: list[Path], out: Path | None) -> None:
    """Refuse folders that can't be compared, before anything is read."""
    if len(folders) < 2:
        raise ConfigError(f"{str(folders[0])!r} alone is nothing to compare; give two folders or more")
    for number, folder in enumerate(folders):
        if folder.resolve() in [one.resolve() for one in folders[:number]]:
            raise ConfigError(f"{str(folder)!r} is given twice; compare it with another folder")
        if not folder.exists():
            raise no_experiment(folder)
    experiments = [folder for folder in folders if (folder / DESIGN).is_file()]
    if experiments and len(experiments) < len(folders):
        run = next(folder for folder in folders if folder not in experiments)
        raise ConfigError(
            f"{str(run)!r} is no experiment, but {str(experiments[0])!r} is one; compare experiments, or two runs"
        )
    check_ending(out, ".html", ".csv")


def _print_comparison(compared: Compared, full: bool) -> None:
    from harbor._cli.display.finding_tables import compared_tables, short_comparison
    from harbor._cli.display.render import render

    render(compared_tables(compared) if full else short_comparison(compared))


def _write_comparison(compared: Compared, out: Path) -> None:
    from harbor._core.files.safe_files import write_whole
    from harbor.evaluation._report.comparing.compared_page import render_compared, to_csv

    content = render_compared(compared) if out.suffix == ".html" else to_csv(compared)
    try:
        write_whole(out, content.encode(), private=False)
    except OSError as error:
        raise RunFolderError(f"{str(out)!r} can't be written ({error.strerror}); name another with --out") from error
    say(f"written: {out}")


def _compare_runs(folders: list[Path], metric: list[str] | None, out: Path | None, as_json: bool, full: bool) -> None:
    """Compare two runs."""
    for folder in folders:
        check_run(folder)
    if len(folders) > 2 or metric or out:
        raise ConfigError("runs are compared two by two, without --metric and --out; experiments can be more")
    from harbor._cli.display.finding_tables import run_tables
    from harbor._cli.display.render import render
    from harbor.evaluation._report.comparing.compared_runs import compare_runs

    for folder in folders:
        warn_of(folder)
    found = compare_runs(*folders)
    if as_json:
        typer.echo(json.dumps(found.as_json()))
    else:
        render(run_tables(found, full))
