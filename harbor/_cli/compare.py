"""The command that sets experiments, or two runs, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.output import Full, Json, say
from harbor._cli.places import check_ending
from harbor._core.errors import ConfigError, RunFolderError
from harbor._core.layout import DESIGN, check_experiment, check_run, no_experiment

if TYPE_CHECKING:
    from harbor.evaluation._report.side_by_side import Compared


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
    """Set experiments side by side, or two runs: what differs, by how much, and how sure that is."""
    _check(folders, out)
    if not (folders[0] / DESIGN).is_file():
        _runs(folders, metric, out, as_json, full)
        return
    from harbor._cli.doubts import measuring_games
    from harbor.evaluation._report.compared_words import warnings
    from harbor.evaluation._report.side_by_side import compare as compared_with

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
        _print(compared, full)
    if out is not None:
        _write(compared, out)


def _check(folders: list[Path], out: Path | None) -> None:
    """Refuse what can't be compared, before anything is read."""
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


def _print(compared: Compared, full: bool) -> None:
    from harbor._cli.display.compared_tables import compared_tables, short_comparison
    from harbor._cli.display.render import render

    render(compared_tables(compared) if full else short_comparison(compared))


def _write(compared: Compared, out: Path) -> None:
    from harbor._core.private_files import write_whole
    from harbor.evaluation._report.compared_page import render_compared, to_csv

    content = render_compared(compared) if out.suffix == ".html" else to_csv(compared)
    try:
        write_whole(out, content.encode(), private=False)
    except OSError as error:
        raise RunFolderError(f"{str(out)!r} can't be written ({error.strerror}); name another with --out") from error
    say(f"written: {out}")


def _runs(folders: list[Path], metric: list[str] | None, out: Path | None, as_json: bool, full: bool) -> None:
    """Compare two runs."""
    for folder in folders:
        check_run(folder)
    if len(folders) > 2 or metric or out:
        raise ConfigError("runs are compared two by two, without --metric and --out; experiments can be more")
    from harbor._cli.display.compared_tables import run_tables
    from harbor._cli.display.render import render
    from harbor._cli.doubts import warn_of
    from harbor.evaluation._report.compared_runs import compare_runs

    for folder in folders:
        warn_of(folder)
    found = compare_runs(*folders)
    if as_json:
        typer.echo(json.dumps(found.as_json()))
    else:
        render(run_tables(found, full))
