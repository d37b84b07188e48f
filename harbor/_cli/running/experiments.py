"""Commands that list and show experiments, run their games, and resume them."""

from __future__ import annotations

import gc
import json
import shlex
import sys
from collections.abc import Callable, Coroutine
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from harbor._cli.running.estimate import power
from harbor._cli.shared.arguments import Agents, Arms, Models, Named, Repeats, Set, in_experiment, seated_in_experiment
from harbor._cli.shared.files import load_experiment
from harbor._cli.shared.shell import PAUSED, Full, Json, group, interruptible, run_until_stopped, say, spread
from harbor._cli.shared.trust import Trust, TrustSettings, settle_trust, settle_trust_in_settings, warn_of_games
from harbor._core.files.layout import DESIGN, check_experiment
from harbor._core.plugins.finding import command

if TYPE_CHECKING:
    from harbor.evaluation._analysis.findings import Analysis
    from harbor.evaluation._experiments.trial_records import Results
    from harbor.evaluation._running.hosting import Host
    from harbor.evaluation._running.runner import OnProgress, RunOptions

    Begin = Callable[[OnProgress], Coroutine[Any, Any, Results]]

Seed = Annotated[int | None, typer.Option(min=0, help="Replace the seed.")]
SameSeed = Annotated[
    bool, typer.Option("--same-seed", help="Vary nothing between repeats, to see the noise of the model alone.")
]
Out = Annotated[Path | None, typer.Option(help="A new folder; default: runs/<utc>-<name>-<id>.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Run failed games again.")]


@dataclass(frozen=True)
class Running:
    """Options for the place and the cost of an experiment's games; None: the default, or the run's own."""

    jobs: Annotated[int | None, typer.Option(help="Games at the same time; default: 10, or one per processor.")] = None
    executor: Annotated[
        str | None, typer.Option(help="The place of the games: asyncio (one process; the default), processes, or ray.")
    ] = None
    address: Annotated[str | None, typer.Option(help="A Ray cluster; default: one on this machine.")] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            help="Stop when this many dollars are spent; earlier sessions count. The first game runs alone, to learn"
            " what a game costs. Each running game may exceed the limit by one call, or a turn of an agent."
        ),
    ] = None
    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Keep the replies of hosted models, and reuse earlier ones; default: yes.",
        ),
    ] = None
    lane: Annotated[
        Literal["live", "batch"] | None,
        typer.Option(
            help="live (the default): each call by itself; or batch, for models of OpenAI and Anthropic: the calls of"
            " all games (1,000 at a time by default) go out as one job at half the price, and may take a day."
        ),
    ] = None

    def options(self, unseen: bool) -> RunOptions:
        """Return the options with the terminal's parts: a listener for batches, unless `unseen`, and people."""
        from harbor.evaluation._running.runner import RunOptions

        return RunOptions(**asdict(self), tell=(lambda _: None) if unseen else say, host=_host())


@spread
def run(
    name: Named,
    model: Models = None,
    repeats: Repeats = None,
    arm: Arms = None,
    seed: Seed = None,
    same_seed: SameSeed = False,
    agent: Agents = None,
    set_: Set = None,
    running: Running = Running(),
    out: Out = None,
    trust: TrustSettings = False,
    as_json: Json = False,
    quiet: Quiet = False,
    full: Full = False,
) -> None:
    """Run all games of an experiment; print the means. Ctrl-C stops it, and it can be resumed."""
    settle_trust_in_settings(name, trust)
    design = load_experiment(name)  # before the frameworks are imported
    from harbor._runs.folder import run_name
    from harbor.evaluation._analysis.levels import unreachable
    from harbor.evaluation._experiments.choices import chosen, unheeded
    from harbor.evaluation._experiments.design import substitutes
    from harbor.evaluation._experiments.trials import people
    from harbor.evaluation._running.options import ExperimentOptions
    from harbor.evaluation._running.runner import run_experiment

    options = running.options(as_json or quiet)
    options.over(ExperimentOptions())  # refuse impossible options before printing anything
    design = chosen(design, model or (), arm or (), repeats, seed, same_seed)
    design = in_experiment(seated_in_experiment(design, agent or ()), set_ or ())
    for words in (*substitutes(design), *unheeded(design), *(f"deviation: {one.what}" for one in design.deviations)):
        say(words)
    if beyond := unreachable(design):
        say(f"warning: {beyond}")
    folder, unseen = out or Path("runs") / run_name(design.name), quiet or bool(people(design))
    _run_and_show(lambda hear: run_experiment(design, folder, options, hear), folder, as_json, unseen, full)


@spread
def resume(
    folder: Annotated[Path, typer.Argument(help="The folder of an experiment.")],
    running: Running = Running(),
    retry_failed: Retry = False,
    trust: Trust = False,
    as_json: Json = False,
    quiet: Quiet = False,
    full: Full = False,
) -> None:
    """Resume an experiment. No finished game is run again, and no recorded call is paid again.

    It keeps the options that it was run with; one that is given here replaces it from now on.
    """
    check_experiment(folder)
    from harbor._runs.manifest import changed, kept
    from harbor.evaluation._experiments.trials import people
    from harbor.evaluation._running.experiment_folder import read_design, resumable
    from harbor.evaluation._running.options import ExperimentOptions, options_again
    from harbor.evaluation._running.runner import resume_experiment

    options = running.options(as_json or quiet)
    resumable(folder)
    settle_trust(folder, trust)
    design, begun = read_design(folder), kept(folder, ExperimentOptions)
    if words := changed(f"experiment {str(folder)!r}", begun, options_again(folder, design, options)):
        say(words)
    warn_of_games(folder)
    unseen = quiet or bool(people(design))
    _run_and_show(lambda hear: resume_experiment(folder, options, hear, retry_failed), folder, as_json, unseen, full)


def _run_and_show(begin: Begin, folder: Path, as_json: bool, quiet: bool, full: bool) -> None:
    from harbor._cli.display.progress import watching

    gc.freeze()  # as in an auction: the frameworks' objects stay alive
    # Ray reports dead workers on stdout, which is for the results.
    stopping = interruptible(f"experiment {str(folder)!r}", folder, _resume(folder))
    # Progress would overwrite a person's typing, so it is hidden if a person plays.
    with stopping, redirect_stdout(sys.stderr), watching(as_json, quiet) as hear:
        results = run_until_stopped(begin(hear))
    from harbor.evaluation._analysis.findings import analyse  # after the games: the import takes 1.5 s

    _tell_what_is_missing(results, folder)
    if as_json:
        typer.echo(json.dumps(_as_json(results, analyse(results), folder)))
    else:
        _print(results, analyse(results), folder, full)
    if results.of("unfinished"):
        raise typer.Exit(PAUSED)
    if results.of("failed"):
        raise typer.Exit(1)


def _host() -> Host | None:
    """Return a host that asks people at the terminal, if any, in one game at a time: typed text goes to one game."""
    from harbor._cli.display.terminal import Keyboard, anybody_there, at_the_terminal

    return partial(at_the_terminal, keys=Keyboard()) if anybody_there() else None


def _resume(folder: Path) -> str:
    return f"{command()} experiment resume {shlex.quote(str(folder))}"


def _print(results: Results, analysis: Analysis, folder: Path, full: bool) -> None:
    from harbor._cli.display.finding_tables import finding_tables, short_findings
    from harbor._cli.display.render import render

    render((finding_tables if full else short_findings)(results, analysis))
    if count := len(results.experiment.deviations):
        what = f"{count} {'deviation' if count == 1 else 'deviations'} from the paper"
        typer.echo(f"{what}: {command()} experiment show {shlex.quote(str(folder / DESIGN))} --full")
    typer.echo(f"folder: {folder}")
    typer.echo(f"report: {command()} report {shlex.quote(str(folder))}")
    typer.echo(f"look at its games: {command()} view {shlex.quote(str(folder))}")
    if not full:
        typer.echo(f"all numbers: {command()} experiment resume {shlex.quote(str(folder))} --full")


def _tell_what_is_missing(results: Results, folder: Path) -> None:
    from harbor._core.basics.numbers import cost_in_words
    from harbor._runs.manifest import kept
    from harbor.evaluation._report.tabular.arm_calls import refusals_told
    from harbor.evaluation._running.options import ExperimentOptions

    remedy = _resume(folder)
    for record in results.of("failed"):
        say(f"failed: {record.arm} {record.condition} {record.repeat}: {record.detail}")
    if failed := results.of("failed"):
        say(f"warning: {len(failed)} games failed; try them again with: {remedy} --retry-failed")
    for refused in refusals_told(results):
        say(f"warning: {refused}")
    if unfinished := results.of("unfinished"):
        limit = cost_in_words(kept(folder, ExperimentOptions).max_cost)
        say(
            f"stopped at the limit of {limit}: {len(unfinished)} games are not finished;"
            f" with more money, resume with: {remedy} --max-cost DOLLARS"
        )


def _as_json(results: Results, analysis: Analysis, folder: Path) -> dict[str, object]:
    from pydantic_core import to_jsonable_python

    from harbor.evaluation._experiments.choices import unheeded
    from harbor.evaluation._experiments.trial_records import tally
    from harbor.evaluation._report.tabular.arm_calls import calls_by_arm, days_of, refusals_by_arm
    from harbor.evaluation._report.tabular.tables import own_noise

    days = days_of(folder, [arm.name for arm in results.experiment.arms])
    return {
        "name": results.experiment.name,
        "folder": str(folder),
        **tally(results.records).as_json(),
        "simulated": results.simulated,
        "unheeded": unheeded(results.experiment),
        "failures": [
            {"arm": one.arm, "condition": one.condition, "repeat": one.repeat, "detail": one.detail}
            for one in results.of("failed")
        ],
        "refusals": [asdict(one) for one in refusals_by_arm(results)],
        "estimates": [asdict(one) for one in analysis.estimates if one.at is None],
        "differences": to_jsonable_python(analysis.differences),
        "correlations": to_jsonable_python(analysis.correlations),
        "ratings": to_jsonable_python(analysis.ratings),
        "spreads": to_jsonable_python(analysis.spreads),
        "variance": [{**asdict(one), "means": dict(one.means)} for one in analysis.variance],
        "same_seed": own_noise(results),
        "arms": [{**asdict(one), "cached_share": one.cached_share} for one in calls_by_arm(results, days)],
    }


experiment = group("experiment", "Run the published experiments, or your own.")


@experiment.command("list")
def list_(as_json: Json = False) -> None:
    """List the published experiments, with how many games each has."""
    from harbor._cli.display.designs import listed
    from harbor._cli.display.render import Table, render
    from harbor.evaluation._experiments.library import experiment as read
    from harbor.evaluation._experiments.library import presets

    found = [listed(read(name)) for name in presets()]
    if as_json:
        typer.echo(json.dumps({"experiments": found}))
    else:
        render([Table("Experiments", found)])


@experiment.command()
def show(name: Named, model: Models = None, as_json: Json = False, full: Full = False) -> None:
    """Show the design of an experiment: arms, metrics, comparisons."""
    design = load_experiment(name)  # before metrics and tables are imported
    from harbor._cli.display import designs
    from harbor._cli.display.render import render
    from harbor.evaluation._experiments.design import with_models
    from harbor.evaluation._experiments.trials import trials

    found = with_models(design, model or [])
    trials(found, 1)  # report errors of arms here too
    if as_json:
        typer.echo(designs.as_json(found))
    else:
        render(designs.design_tables(found) if full else designs.short_design(found))


experiment.command()(run)
experiment.command()(resume)
experiment.command()(power)
