"""Commands that list the experiments and show a design; `run`, `resume` and `power` are in modules of their own."""

from __future__ import annotations

import json

import typer

from harbor._cli.choosing import Models, Named
from harbor._cli.experiment_runs import resume, run
from harbor._cli.output import Json
from harbor._cli.power import power

experiment = typer.Typer(
    name="experiment",
    help="Run the published experiments, or your own.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@experiment.callback()
def _experiment(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
def show(name: Named, model: Models = None, as_json: Json = False) -> None:
    """Show the design of an experiment: arms, metrics, comparisons."""
    from harbor.evaluation._experiments.library import experiment as read

    design = read(name)  # before the metrics and what draws tables are imported
    from harbor._cli.display import designs
    from harbor._cli.display.render import render
    from harbor.evaluation._experiments.design import with_models
    from harbor.evaluation._experiments.trials import trials

    found = with_models(design, model or [])
    trials(found, 1)  # what is wrong with an arm is said here too
    if as_json:
        typer.echo(designs.as_json(found))
    else:
        render(designs.design_tables(found))


experiment.command()(run)
experiment.command()(resume)
experiment.command()(power)
