"""Commands that run an auction, play in it, resume it, or replay it."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.shared import shell
from harbor._cli.shared.arguments import Agents, Changes, Preset, Set, seated
from harbor._cli.shared.files import chosen_config, override, seat_person
from harbor._cli.shared.shell import Full, Json, Shown, interruptible, run_until_stopped, say, show, spread
from harbor._cli.shared.trust import Trust, TrustSettings, measuring, settle_trust, settle_trust_in_settings
from harbor._core.basics.errors import ConfigError
from harbor._core.files.layout import EVENTS, check_run, log_of
from harbor._core.plugins.finding import command

if TYPE_CHECKING:
    from harbor._config.auction import AuctionConfig, Bidder
    from harbor._core.log.log_entries import Entry
    from harbor._house.people import Person
    from harbor._runs.inputs import Given, Listener, Result
    from harbor._runs.series import SeriesResult
    from harbor.evaluation._metrics.summary import SeriesSummary, Summary

    Begin = Callable[[Listener | None, Mapping[str, Person]], Coroutine[Any, Any, Result | SeriesResult]]


def run_and_show(begin: Begin, folder: Path, shown: Shown, player: Bidder | None) -> None:
    """Run an auction; print its results and the path of its log."""
    gc.freeze()  # the frameworks' objects stay alive: scanning them delayed a turn by 50 ms
    log = folder / EVENTS
    resume = f"{command()} resume {shlex.quote(str(folder))}"
    so_far = f"what happened up to here is in {log}; "
    with interruptible(f"output folder {str(folder)!r}", log, resume, so_far):
        result = _watched(begin, shown, player)
    show(result.metrics(), shown)
    if not shown.as_json:
        typer.echo(f"log: {log}")
        typer.echo(f"look at it: {command()} view {shlex.quote(str(folder))}")


def _watched(begin: Begin, shown: Shown, player: Bidder | None) -> Result | SeriesResult:
    from harbor._cli.display.progress import told_each_minute
    from harbor._cli.display.render import Screen
    from harbor._cli.display.screen import watching
    from harbor._cli.display.terminal import at_the_terminal

    if player is not None:
        return run_until_stopped(at_the_terminal(player, begin))
    if shown.as_json or shown.quiet:
        with redirect_stdout(sys.stderr), told_each_minute(shown.quiet):  # agents' output goes to stderr
            return run_until_stopped(begin(None, {}))
    with watching(Screen(highlight=False)) as listen:
        return run_until_stopped(begin(listen, {}))


Config = Annotated[
    str | None,
    typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.", autocompletion=shell.auctions),
]
Out = Annotated[Path | None, typer.Option(help="A new folder for the run; default: runs/<utc>-<name>-<id>.")]
MaxCost = Annotated[
    float | None,
    typer.Option(
        help="Pause when the models' calls have cost this many dollars; earlier sessions count. The last"
        " call, or the last turn of an agent of yours, may exceed it. An agent's calls count if it tells of them, and"
        " their price is known. `harbor resume` keeps the limit of the run."
    ),
]
Cached = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Keep the replies of hosted models, and reuse earlier ones; default: no, and for `harbor"
        " resume`, as the run has it.",
    ),
]


@spread
def auction(
    config: Config = None,
    preset: Preset = None,
    changes: Changes = Changes(),
    agent: Agents = None,
    set_: Set = None,
    max_cost: MaxCost = None,
    out: Out = None,
    cached: Cached = None,
    trust: TrustSettings = False,
    shown: Shown = Shown(),
) -> None:
    """Run an auction or a series; print the standings."""
    settle_trust_in_settings(config, trust)
    changed = override(seated(chosen_config(config, preset), agent or ()), changes, set_ or ())
    _run(changed, out, shown, max_cost=max_cost, cached=bool(cached))


@spread
def play(
    config: Config = None,
    preset: Preset = None,
    name: Annotated[
        str | None, typer.Option("--as", help="Whom you play; default: the config's person, else its first bidder.")
    ] = None,
    changes: Changes = Changes(),
    set_: Set = None,
    out: Out = None,
    trust: TrustSettings = False,
) -> None:
    """Bid in an auction yourself; Ctrl-C pauses it."""
    settle_trust_in_settings(config, trust)
    chosen, player = seat_person(chosen_config(config, preset), name)
    if chosen.series is not None:
        raise ConfigError("a person plays one auction at a time; drop [series]")
    _run(override(chosen, changes, set_ or ()), out, player=player)


def _run(
    chosen: AuctionConfig,
    out: Path | None,
    shown: Shown = Shown(),
    player: Bidder | None = None,
    max_cost: float | None = None,
    cached: bool = False,
) -> None:
    from harbor._models.replies.cache import ReplyCache
    from harbor._runs.folder import run_name
    from harbor._runs.inputs import RunInputs
    from harbor._runs.run import start
    from harbor._runs.series import prepare

    _import_frameworks(chosen)
    folder, cache = out or Path("runs") / run_name(chosen.name), ReplyCache() if cached else None
    run_and_show(
        lambda listen, people: start(
            prepare(chosen, RunInputs(people=people, max_cost=max_cost, cache=cache)), folder, listen
        ),
        folder,
        shown,
        player,
    )


def _import_frameworks(config: AuctionConfig) -> None:
    """Import the code of the room, if needed, before loaded objects are exempted from garbage collection."""
    if not all(bidder.rule for bidder in config.bidders):
        import_module("harbor._runs.seating")


@spread
def resume(
    run: Annotated[Path, typer.Argument(help="The folder of an interrupted run.")],
    trust: Trust = False,
    max_cost: MaxCost = None,
    cached: Cached = None,
    shown: Shown = Shown(),
) -> None:
    """Continue an interrupted run or series."""
    check_run(run)
    from harbor._runs.folder import check_unchanged, complete, read_config

    check_unchanged(run)
    settle_trust(run, trust)
    from harbor._runs.series import check_follows

    if (done := complete(run)) is not None:
        check_follows(run)
        summary = _summary(run, done.entries)
        say(f"run {str(run)!r} is complete; there is nothing to resume")
        show(summary, shown)
        return
    config = read_config(run)
    player = next((bidder for bidder in config.bidders if bidder.person), None)
    from harbor._runs.inputs import Given
    from harbor._runs.series import aresume

    given = _given_again(run, max_cost, cached)
    _import_frameworks(config)
    run_and_show(lambda listen, people: aresume(run, listen, **Given(people=people, **given)), run, shown, player)


def _given_again(run: Path, max_cost: float | None, cached: bool | None) -> Given:
    """Return the options that replace those of the run, and print the changes."""
    from harbor._models.budget import check_limit
    from harbor._models.replies.cache import ReplyCache
    from harbor._runs.manifest import AuctionOptions, changed, kept

    given: Given = {}
    begun = options = kept(run, AuctionOptions)
    if max_cost is not None:
        check_limit(max_cost)
        given["max_cost"], options = max_cost, replace(options, max_cost=max_cost)
    if cached is not None:
        given["cache"], options = ReplyCache() if cached else None, replace(options, cache=cached)
    if words := changed(f"run {str(run)!r}", begun, options):
        say(words)
    return given


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or its events.jsonl.")],
    as_json: Json = False,
    full: Full = False,
) -> None:
    """Rebuild the results of a run from its log alone."""
    log = log_of(run)
    from harbor._core.log.log import read_log  # import the code of all games only if there is a log

    reading = read_log(log)
    if reading.warning:
        say(f"warning: {reading.warning}")
    with measuring(log, reading.entries):
        show(_summary(log.parent, reading.entries), Shown(as_json, full=full))


def _summary(folder: Path, entries: Sequence[Entry]) -> Summary | SeriesSummary:
    """Measure the log in a folder, of an auction or of a series with its auctions in folders inside.

    Raises:
        Unanswered: as `answered`, for an auction that is over.
    """
    from harbor._core.log.log import read_whole_lines
    from harbor._core.log.log_entries import is_over
    from harbor._runs.inputs import Result, answered
    from harbor.evaluation._metrics.summary import is_series, summarise, summarise_series

    if series := is_series(entries):
        logs = [tuple(read_whole_lines(one).entries) for one in sorted(folder.glob(f"*/{EVENTS}"))]
    else:
        logs = [tuple(entries)]
    for log in logs:
        if is_over(log):
            answered(Result(log, folder))
    return summarise_series(entries, logs) if series else summarise(entries)
