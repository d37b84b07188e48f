"""The command line. Frameworks are imported inside commands, so that `harbor --help` is quick."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from typing import Annotated, Any

import typer

from harbor._cli.auctions import auction, play, replay, resume
from harbor._cli.audit import audit
from harbor._cli.cache import cache
from harbor._cli.compare import compare
from harbor._cli.display.step_bars import step_bars
from harbor._cli.estimate import estimate
from harbor._cli.experiments import experiment
from harbor._cli.export import export
from harbor._cli.groups import Commands, help_alone, instead
from harbor._cli.imports import read_nothing_here
from harbor._cli.inventory import list_
from harbor._cli.mcp import mcp
from harbor._cli.memory import memory
from harbor._cli.new import new
from harbor._cli.output import say
from harbor._cli.pack import pack, unpack
from harbor._cli.passports import models
from harbor._cli.pictures import figure
from harbor._cli.rate import rate
from harbor._cli.reference import graph, houses, personas
from harbor._cli.reports import report
from harbor._cli.score import score
from harbor._cli.stopping import PAUSED
from harbor._cli.verify import verify
from harbor._cli.view import view
from harbor._core.errors import HarborError, RunPaused
from harbor._core.finding import use
from harbor._core.version import __version__

app = typer.Typer(
    name="harbor",
    help="Run auctions between language-model agents with personas, and study them.",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; every mistake is one line on stderr and exit code 2."""
    read_nothing_here()
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal can't show is no reason to stop
    try:
        code = typer.main.get_command(app).main(standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone; what is still in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except RunPaused as error:
        say(f"paused: {error}; run the same command again later")
        sys.exit(PAUSED)
    except HarborError as error:
        _fail(str(error))
    except (MemoryError, RecursionError) as error:
        _fail(f"what was given is too large, or nested too deep, for this machine ({type(error).__name__}); give less")
    except OSError as error:
        _fail(f"can't write the output ({error.strerror}); send it elsewhere")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click's usage errors have it, wherever typer keeps its click
            raise
        _fail(_usage(error))
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any) -> str:
    """Say in plain words what is wrong with a command, where click and pydantic speak to programmers."""
    message: str = " ".join(error.format_message().split()).rstrip(".")
    if wrong := re.match(r"No such command '(.*?)'", message):
        return f"{wrong[0]}; {instead(wrong[1], error.ctx)}"
    for theirs, ours in _PLAIN.items():
        message = re.sub(theirs, ours, message)
    return f"{message}; see harbor --help"


_PLAIN = {
    "Value error, ": "",
    "Input should be a valid integer.*": "give a whole number, such as 5",
    "Input should be a valid number.*": "give a number, such as 0.5",
    "Input should be ": "give a number ",
}


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
        typer.Option(
            metavar="MODULE:NAME", help="Use this extension: files that may have been sent can then name it too."
        ),
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
for command in (*COMMANDS, unpack):
    app.command()(step_bars()(command) if command in SLOW else command)
app.command("list")(list_)
app.add_typer(memory)
app.add_typer(rate)
app.add_typer(experiment)
app.add_typer(cache)
