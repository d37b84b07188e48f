"""Commands that list the experiments and show a design; `run`, `resume` and `power` are in modules of their own."""

from __future__ import annotations

import json

import typer

from harbor._cli.choosing import Models, Named
from harbor._cli.configs import load_experiment
from harbor._cli.experiment_runs import resume, run
from harbor._cli.groups import group
from harbor._cli.output import Full, Json
from harbor._cli.power import power

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
    design = load_experiment(name)  # before the metrics and what draws tables are imported
    from harbor._cli.display import designs
    from harbor._cli.display.render import render
    from harbor.evaluation._experiments.design import with_models
    from harbor.evaluation._experiments.trials import trials

    found = with_models(design, model or [])
    trials(found, 1)  # what is wrong with an arm is said here too
    if as_json:
        typer.echo(designs.as_json(found))
    else:
        render(designs.design_tables(found) if full else designs.short_design(found))


experiment.command()(run)
experiment.command()(resume)
experiment.command()(power)
