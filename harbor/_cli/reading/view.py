"""The command that shows a run, a series or an experiment in the browser."""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from contextlib import suppress
from html import escape
from pathlib import Path
from shutil import get_terminal_size
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from harbor._cli.shared.files import check_ending, default_place
from harbor._cli.shared.shell import say
from harbor._core.basics.actions import printable
from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._core.files.layout import (
    CALLS,
    CONFIG,
    DESIGN,
    EVENTS,
    MANIFEST,
    MEMORY,
    auction_logs,
    log_of,
    public_auctions,
)
from harbor._core.files.marks import MARK
from harbor._core.files.safe_files import write_whole

POLL_SECONDS = 0.1  # time between two checks for a run that has not begun

BEGUN = {CONFIG, MANIFEST, MARK, CALLS, MEMORY}
"""Files and folders that a run may have before it has a log."""


def view(
    path: Annotated[
        Path, typer.Argument(metavar="RUN|DIR", help="The folder of a run, a series or an experiment, or events.jsonl.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="A file for the page; default: view.html in the folder, if it is yours.")
    ] = None,
    seat: Annotated[str | None, typer.Option(metavar="NAME", help="Show only the events that this bidder saw.")] = None,
    open_: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open it in the browser; default: where there is a screen.")
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Show a run while it goes on, and after it; wait for one that has not begun."
            " Nothing is written; Ctrl-C ends it.",
        ),
    ] = False,
) -> None:
    """Write a page that shows any moment of a run, and open it."""
    check_ending(out, ".html")
    if follow:
        _wait_for(path)
    is_experiment = (path / DESIGN).is_file()
    if not is_experiment and not public_auctions(path):
        log_of(path)  # refuse a folder without a log before more is imported
    _check_choices(path, seat, is_experiment)
    if follow:
        _follow(path, out, seat or "", is_experiment, open_)
        return
    from harbor._cli.shared.trust import warn_of

    warn_of(path)
    place = out or default_place(path if path.is_dir() else path.parent, _page_name(seat))
    try:
        if is_experiment:
            from harbor._view.experiment_page import write_experiment

            written = write_experiment(path, place)
        else:
            from harbor._view.pages import write_run

            written = write_run(path, place, seat or "")
    except OSError as error:
        raise RunFolderError(f"{str(place)!r} can't be written ({error.strerror}); name another with --out") from error
    typer.echo(written)
    shown = written.resolve().as_uri()
    _open(shown, open_, shown)


def _check_choices(path: Path, seat: str | None, is_experiment: bool) -> None:
    """Refuse a seat if the folder holds more than one run."""
    if seat is None:
        return
    if not seat:
        raise ConfigError("--seat '': no bidder has an empty name; give a name, or leave --seat out")
    auctions = auction_logs(path)
    if is_experiment or auctions:
        inside = f"such as {str(auctions[0].parent)!r}" if auctions else "which are in games/"
        what = (
            "an experiment; give the folder of one of its games"
            if is_experiment
            else "a series; give the folder of one of its auctions"
        )
        raise ConfigError(f"--seat {seat!r} is of one run, and {str(path)!r} is {what}, {inside}")


def _page_name(seat: str | None) -> str:
    """Return the name of a page; no two seats have the same."""
    letters = (one if one.isalnum() or one == "-" else f"_{ord(one):x}_" for one in seat or "")
    return f"view-{''.join(letters)}.html" if seat else "view.html"


def _wait_for(path: Path) -> None:
    """Wait until a run, a series or an experiment has begun in a folder, or Ctrl-C is pressed."""
    if _has_begun(path):
        return
    if path.suffix in (".jsonl", ".html") or (path.is_dir() and {one.name for one in path.iterdir()} - BEGUN):
        log_of(path)  # no run will begin in a missing file or in a folder of something else
    say(f"waiting for a run in {str(path)!r}; Ctrl-C ends it")
    try:
        while not _has_begun(path):
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        raise typer.Exit from None


def _has_begun(path: Path) -> bool:
    return path.is_file() or any((path / name).is_file() for name in (EVENTS, DESIGN)) or bool(public_auctions(path))


def _stands(where: str, is_last: bool) -> None:
    """Rewrite one line of a terminal; without a terminal, print only the last one."""
    if sys.stderr.isatty():
        wide = get_terminal_size().columns - 1
        line = printable(where) if is_last else printable(where)[:wide]
        sys.stderr.write(f"\r{line}\x1b[K" + "\n" * is_last)
        sys.stderr.flush()
    elif is_last:
        say(where)


def _follow(path: Path, out: Path | None, seat: str, is_experiment: bool, wanted: bool | None) -> None:
    """Serve the page of a run that is going on, to this machine alone."""
    if out is not None:
        raise ConfigError(f"--out {str(out)!r} with --follow: it writes nothing; leave one of them out")
    auctions = auction_logs(path)
    if is_experiment or auctions:
        newest = f", such as {str(auctions[-1].parent)!r}" if auctions else ""
        raise ConfigError(f"{str(path)!r} is more than one run; follow the folder of one{newest}")
    try:
        from harbor._view.live_server import serve
    except ImportError as error:
        raise ConfigError("--follow needs FastAPI and uvicorn; run: pip install 'harbor-auctions[server]'") from error
    from harbor._view.pages import page_of

    with TemporaryDirectory(prefix="harbor-") as private:

        def opened(address: str) -> None:
            typer.echo(address)
            say("followed, and shown when it is over, until Ctrl-C")
            _open(_leading_to(address, Path(private)), wanted, address)

        with suppress(KeyboardInterrupt):
            serve(path, page_of("a run", follows=True).encode(), seat, opened, _stands)


def _leading_to(address: str, private: Path) -> str:
    """Write a page that leads to an address with a token, because every user sees the arguments of a browser."""
    page = private / "follow.html"
    write_whole(page, f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">'.encode())
    return page.as_uri()


def _open(address: str, wanted: bool | None, told: str) -> None:
    """Open an address in the browser, if wanted or likely wanted; `told` is the address for people."""
    if (_has_screen() if wanted is None else wanted) and not webbrowser.open(address):
        say(f"no browser could be opened; open it yourself: {told}")


def _has_screen() -> bool:
    """Return whether a person watches this program on a machine with a screen of its own."""
    drawn = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return drawn and sys.stdout.isatty()
