"""The command line. Frameworks are imported inside commands, so that `harbor --help` is quick."""

from __future__ import annotations

import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Annotated, Any

import typer

from harbor._cli.keeping.cache import cache, models
from harbor._cli.keeping.inventory import graph, houses, list_, new, personas
from harbor._cli.keeping.memory import memory
from harbor._cli.keeping.packs import export, pack, unpack
from harbor._cli.reading.rating import rate, score
from harbor._cli.reading.reports import compare, figure, report
from harbor._cli.reading.view import view
from harbor._cli.running.auctions import auction, play, replay, resume
from harbor._cli.running.checks import audit, verify
from harbor._cli.running.estimate import estimate
from harbor._cli.running.experiments import experiment
from harbor._cli.running.mcp import mcp
from harbor._cli.shared.shell import PAUSED, Commands, help_alone, instead, say, step_bars
from harbor._core.basics.errors import HarborError, RunPaused
from harbor._core.faces import __version__
from harbor._core.plugins.finding import use

_FILE = "matplotlibrc"
"""Settings file of matplotlib, which the package would read from the current folder."""


class _Apart(MetaPathFinder):
    """Finds matplotlib, and hides its settings file in the current folder during the import."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find matplotlib and nothing else."""
        spec = PathFinder.find_spec(name, path, target) if name == "matplotlib" else None
        loader: Any = spec and spec.loader
        if loader:
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with _unfound():
                    run(module)

            loader.exec_module = exec_module
        return spec


@contextmanager
def _unfound() -> Iterator[None]:
    usual = os.path.exists
    os.path.exists = lambda path: path != _FILE and usual(path)
    try:
        yield
    finally:
        os.path.exists = usual


def read_nothing_here() -> None:
    """Keep packages from reading settings in the current folder when they are imported."""
    if not any(isinstance(one, _Apart) for one in sys.meta_path):
        sys.meta_path.insert(0, _Apart())


app = typer.Typer(
    name="harbor",
    help="Run auctions between language-model agents with personas, and study them.",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@functools.cache
def all_commands() -> Any:
    """Return the command line as a Click command. It is cached, because Typer reads the signature of each command."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; every mistake is one line on stderr and exit code 2."""
    read_nothing_here()
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an unprintable name must not stop a command
    try:
        code = all_commands().main(standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has gone, so the rest of the buffer is dropped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except RunPaused as error:
        say(f"paused: {error}; run the same command again later")
        sys.exit(PAUSED)
    except HarborError as error:
        _fail(str(error))
    except (MemoryError, RecursionError) as error:
        _fail(f"the input is too large, or nested too deep, for this machine ({type(error).__name__}); give less")
    except OSError as error:
        _fail(f"can't write the output ({error.strerror}); send it elsewhere")
    except Exception as error:
        if not hasattr(error, "format_message"):  # all usage errors of click have it; typer may bundle click
            raise
        _fail(_usage(error))
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any) -> str:
    """Return a usage error in plain words; those of click and pydantic are for programmers."""
    message: str = " ".join(error.format_message().split()).rstrip(".")
    if wrong := re.match(r"No such command '(.*?)'", message):
        return f"{wrong[0]}; {instead(wrong[1], error.ctx)}"
    for theirs, ours in _PLAIN.items():
        message = re.sub(theirs, ours, message)
    return f"{message}; see {error.ctx.command_path if error.ctx else 'harbor'} --help"


_PLAIN = {
    "Value error, ": "",
    "Input should be a valid integer.*": "give a whole number, such as 5",
    "Input should be a valid number.*": "give a number, such as 0.5",
    "Input should be ": "give a number ",
}
"""Patterns in messages of click and pydantic, with plain words for them."""


def _fail(message: str) -> None:
    say(f"error: {message}")
    sys.exit(2)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, UserWarning):
        say(f"warning: {message}")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"harbor {__version__}")
        raise typer.Exit


@app.callback()
def _harbor(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:NAME", help="Use this extension: files from other people may then name it too."),
    ] = None,
) -> None:
    for reference in plugin or ():
        use(reference)
    help_alone(context)


COMMANDS = (
    auction,
    play,
    mcp,
    resume,
    replay,
    view,
    verify,
    audit,
    score,
    estimate,
    report,
    figure,
    compare,
    export,
    graph,
    personas,
    houses,
    models,
    new,
    pack,
)
SLOW = {view, report, figure, export, pack}
"""Commands that show a progress bar."""
for command in (*COMMANDS, unpack):
    app.command()(step_bars()(command) if command in SLOW else command)
app.command("list")(list_)
app.add_typer(memory)
app.add_typer(rate)
app.add_typer(experiment)
app.add_typer(cache)
