"""Code that every command shares with the shell: help, completion, output, and reactions to interruption."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from functools import wraps
from importlib.resources import files
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from harbor._core.basics.errors import ConfigError, LimitReached, ModelError, RunFolderError, RunPaused, Unanswered
from harbor._core.basics.feedback import heard_by
from harbor._core.basics.numbers import counted
from harbor._core.files.safe_files import remedy_of

if TYPE_CHECKING:
    from harbor._cli.display.result_tables import Extent
    from harbor.evaluation._metrics.summary import SeriesSummary, Summary

ELSEWHERE = {
    "version": "--version",
    "help": "--help",
    "presets": "list presets",
    "models": "list models",
    "metrics": "list metrics",
    "games": "list games",
    "run": "auction, or harbor experiment run",
    "show": "experiment show, or harbor list",
    "init": "new",
    "power": "experiment power",
    "sheets": "rate sheets",
    "judge": "rate judge",
    "merge": "rate merge",
}
"""Other names that users may look for, and the words after `harbor` that do the same."""


class Commands(TyperGroup):
    """A group that lists its commands with whole sentences."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name of each command beside the first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(10_000)) for name, one in self.commands.items()])


def group(name: str, summary: str) -> typer.Typer:
    """Return a group of commands; called without a command, it prints its help."""
    made = typer.Typer(name=name, help=summary, cls=Commands, invoke_without_command=True, rich_markup_mode=None)
    made.callback()(help_alone)
    return made


def help_alone(context: typer.Context) -> None:
    """Print the help of a group where no command of it is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def instead(wrong: str, context: Any) -> str:
    """Return advice on the right command in place of an unknown one."""
    known, root = context.command.list_commands(context), context.find_root()
    if wrong in root.command.list_commands(root):
        return f"did you mean 'harbor {wrong}'?"
    if nearest := get_close_matches(wrong, known, n=1, cutoff=0.75):
        return f"did you mean {nearest[0]!r}?"
    if found := ELSEWHERE.get(wrong):
        return f"use: harbor {found}"
    if nearest := get_close_matches(wrong, [*known, *ELSEWHERE], n=1, cutoff=0.75):
        return f"use: harbor {ELSEWHERE[nearest[0]]}"
    return f"choose one of: {', '.join(known)}"


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose dataclass parameters become one option per field."""
    own = signature(command, eval_str=True).parameters
    kinds: dict[str, Any] = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}
    fields = {name: signature(kind, eval_str=True).parameters for name, kind in kinds.items()}

    @wraps(command)
    def called(**given: Any) -> None:
        values = {name: kind(**{one: given.pop(one) for one in fields[name]}) for name, kind in kinds.items()}
        command(**given, **values)

    options = [one for name in own for one in fields.get(name, {name: own[name]}).values()]
    whole = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in options])
    called.__signature__ = whole  # type: ignore[attr-defined]
    return called


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Full = Annotated[bool, typer.Option("--full", help="Print all there is, however long.")]


@dataclass(frozen=True)
class Shown:
    """The options that choose how much output an auction prints.

    Raises:
        ConfigError: the options contradict each other.
    """

    as_json: Json = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the standings only.")] = False
    full: Full = False

    def __post_init__(self) -> None:
        if self.quiet and self.full:
            raise ConfigError("--quiet prints less and --full prints more; drop one")

    @property
    def extent(self) -> Extent:
        """The amount of output that the options ask for."""
        return "short" if self.quiet else "full" if self.full else "usual"


def say(message: str) -> None:
    """Print a line on stderr, without keys."""
    from harbor._core.basics.actions import printable
    from harbor._core.basics.redaction import redact

    print(f"harbor: {printable(redact(message))}", file=sys.stderr)  # noqa: T201


def show(summary: Summary | SeriesSummary, shown: Shown = Shown()) -> None:
    """Print the results of a run or a series; warn on stderr of bidders with failed or refused answers."""
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import series_tables, summary_tables
    from harbor.evaluation._metrics.summary import SeriesSummary

    for one in summary.failures:
        say(f"warning: {one.bidder} gave no answer {counted(one.times, 'time')}; the first time: {one.first}")
    for bad in summary.refusals:
        if bad.alarming:
            own = f"; its model refused to answer {counted(bad.by_model, 'time')}" if bad.by_model else ""
            refused = f"its answers were refused {counted(bad.refused, 'time')}{own}; the first time: {bad.first}"
            say(f"warning: {bad.bidder} was asked {counted(bad.asked, 'time')}, and {refused}")
    if shown.as_json:
        typer.echo(json.dumps(summary.as_json()))
    elif isinstance(summary, SeriesSummary):
        render(series_tables(summary, shown.extent))
    else:
        render(summary_tables(summary, shown.extent))


T = TypeVar("T")
PAUSED = 75
"""Exit code of a run that can be resumed: EX_TEMPFAIL of sendmail, "try again later"."""


def run_until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM has stopped it. A job in the background may ignore Ctrl-C, but not SIGTERM.
    """
    import asyncio  # late: `harbor --help` does not need it

    try:
        return asyncio.run(_until_told_to_end(work))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _until_told_to_end(work: Coroutine[Any, Any, T]) -> T:
    import asyncio

    running, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    # The loop cancels the work: a KeyboardInterrupt, raised at any point, could leave a write half done.
    before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(running.cancel))
    try:
        return await running
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interruptible(what: str, begun: Path, resume: str, so_far: str = "") -> Iterator[None]:
    """Tell the user how to resume after an interruption: Ctrl-C, SIGTERM, end of input, a provider, a full disk.

    Args:
        what: the output, in words.
        begun: exists as soon as there is something to resume.
        resume: the command that resumes the run, which keeps its options.
        so_far: where to find the records until now.
    """
    try:
        yield
    except (KeyboardInterrupt, EOFError):
        if sys.stderr.isatty():
            typer.echo(err=True)  # end the line with the typed text and ^C
        say(f"stopped; {so_far}resume with: {resume}" if begun.exists() else "stopped before it began")
        raise typer.Exit(130) from None
    except RunPaused as error:
        more = " --max-cost DOLLARS" if isinstance(error, LimitReached) else ""
        say(f"paused: {error}; resume with: {resume}{more}")
        raise typer.Exit(PAUSED) from None
    except Unanswered:  # the run is over: resuming it would not help
        raise
    except ModelError as error:
        remedy = f"; mend it, then resume with: {resume} (a run keeps its settings: to change one, begin a new run)"
        raise ModelError(f"{error}{remedy if begun.exists() else ''}") from error
    except OSError as error:
        raise RunFolderError(
            f"{what} can't be written ({error.strerror}); {remedy_of(error, 'make room')}, then resume with: {resume}"
        ) from error


AUCTIONS = "harbor._config.presets"
"""Package with the presets of auctions."""
EXPERIMENTS = "harbor.evaluation._experiments"
"""Package with the published experiments."""


def auctions(incomplete: str) -> list[str]:
    """Return the presets of auctions that begin with the typed text."""
    return _begin(incomplete, _names(AUCTIONS))


def experiments(incomplete: str) -> list[str]:
    """Return the published experiments that begin with the typed text."""
    return _begin(incomplete, _names(EXPERIMENTS, "presets"))


def either(incomplete: str) -> list[str]:
    """Return the presets and published experiments that begin with the typed text."""
    return _begin(incomplete, {*_names(AUCTIONS), *_names(EXPERIMENTS, "presets")})


def _names(package: str, *folders: str) -> set[str]:
    found = files(package).joinpath(*folders).iterdir()
    return {one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml")}


def _begin(incomplete: str, names: set[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))


@contextmanager
def step_bars() -> Iterator[None]:
    """Show the progress of the work inside; the bar of each kind of step disappears with its last step."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (MofNCompleteColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    task = progress.add_task("")

    def listen(done: int, of: int, what: str) -> None:
        progress.update(task, completed=done, total=of, description=what)
        if done < of:
            progress.start()
        else:
            progress.stop()  # free the line for the next output

    try:
        with heard_by(listen):
            yield
    finally:
        progress.stop()
