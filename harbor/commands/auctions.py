"""Commands that hold an auction, resume it, or tell it again."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor.commands.configs import load, override
from harbor.commands.output import Json, Quiet, say, show
from harbor.errors import ConfigError, RunFolderError

if TYPE_CHECKING:
    from harbor.evaluation.metrics.series import SeriesSummary
    from harbor.evaluation.metrics.summary import Summary
    from harbor.log import Entry
    from harbor.run import Listener, Result
    from harbor.series import SeriesResult


def auction(
    config: Annotated[str | None, typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.")] = None,
    preset: Annotated[str | None, typer.Option(help="A preset by name, such as water; default: demo.")] = None,
    seed: Annotated[int | None, typer.Option(help="Replace the seed.")] = None,
    model: Annotated[str | None, typer.Option(help="Replace the model of every bidder that has one.")] = None,
    items: Annotated[int | None, typer.Option(help="Replace the number of items.")] = None,
    out: Annotated[Path | None, typer.Option(help="A new folder for the run; default: runs/<utc>-<name>-<id>.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hold an auction, or a series of them; print the standings and where the log is."""
    from harbor.folder import run_name
    from harbor.series import hold_series

    if config is not None and preset is not None:
        raise ConfigError(f"config {config!r} and --preset {preset!r} are both given; drop one")
    chosen = override(load(config or preset or "demo"), seed, model, items)
    folder = out or Path("runs") / run_name(chosen.name)
    if chosen.series is not None:
        _conduct(lambda listen: hold_series(chosen, out=folder, listen=listen), folder, as_json, quiet)
    else:
        _conduct(lambda listen: chosen.run(out=folder, listen=listen), folder, as_json, quiet)


def resume(
    run: Annotated[Path, typer.Argument(help="The folder of an interrupted run.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Continue an interrupted run or series; no model call that is recorded is paid again."""
    from harbor.folder import complete
    from harbor.resuming import resume as resumed

    if (done := complete(run)) is not None:
        say(f"run {str(run)!r} is complete; there is nothing to resume")
        show(_summary(done.entries), as_json, with_items=not quiet)
        return
    _conduct(lambda listen: resumed(run, listen=listen), run, as_json, quiet)


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or its events.jsonl.")], as_json: Json = False
) -> None:
    """Rebuild the results of a run or a series from its log alone, without a model."""
    from harbor.folder import EVENTS
    from harbor.log import read_log

    reading = read_log(run / EVENTS if run.is_dir() else run)
    if reading.warning:
        say(f"warning: {reading.warning}")
    show(_summary(reading.entries), as_json)


def _summary(entries: Sequence[Entry]) -> Summary | SeriesSummary:
    """Measure a log, be it of an auction or of a series."""
    from harbor.evaluation.metrics.series import is_series, summarise_series
    from harbor.evaluation.metrics.summary import summarise

    return summarise_series(entries) if is_series(entries) else summarise(entries)


def _conduct(
    hold: Callable[[Listener | None], Result | SeriesResult], folder: Path, as_json: bool, quiet: bool
) -> None:
    """Hold an auction or a series before whoever watches; print its results."""
    from harbor.display import Screen, watching
    from harbor.folder import EVENTS

    gc.freeze()  # the frameworks' objects are here to stay: a collection of them held up a turn by 50 ms
    with interruptible(folder):
        if as_json or quiet:
            result = hold(None)
        else:
            with watching(Screen(highlight=False)) as listen:
                result = hold(listen)
    show(result.metrics(), as_json, with_items=not quiet)
    if not as_json:
        typer.echo(f"log: {folder / EVENTS}")


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    """Say how a run goes on that is broken off by Ctrl-C, or by a disk that is full."""
    from harbor.folder import EVENTS

    remedy = f"resume with: harbor resume {shlex.quote(str(folder))}"
    try:
        yield
    except KeyboardInterrupt:
        log = folder / EVENTS
        say(f"stopped; what happened up to here is in {log}; {remedy}" if log.exists() else "stopped before it began")
        raise typer.Exit(130) from None
    except OSError as error:
        raise RunFolderError(
            f"output folder {str(folder)!r} can't be written ({error.strerror}); make room, then {remedy}"
        ) from error
