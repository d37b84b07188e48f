"""Commands on experiments: which there are, and how one is designed. Others hold, resume and weigh them."""

from __future__ import annotations

from typing import Annotated

import typer

from harbor.commands.output import Json

experiment = typer.Typer(
    name="experiment",
    help="Hold the published experiments, or your own, and see how they are designed.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

Named = Annotated[str, typer.Argument(metavar="NAME|FILE.toml", help="A published experiment, or a TOML file.")]


@experiment.callback()
def _experiment(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@experiment.command("list")
def list_(as_json: Json = False) -> None:
    """List the published experiments, with how many games each has."""
    from harbor.designs import print_experiments
    from harbor.display import Screen
    from harbor.evaluation.experiments.catalog import experiment as read
    from harbor.evaluation.experiments.catalog import presets

    print_experiments(Screen(highlight=False), [read(name) for name in presets()], as_json)


@experiment.command()
def show(name: Named, as_json: Json = False) -> None:
    """Show the design of an experiment: arms, conditions, metrics, comparisons, published numbers, stand-ins."""
    from harbor.designs import print_design
    from harbor.display import Screen
    from harbor.evaluation.experiments.catalog import experiment as read

    print_design(Screen(highlight=False), read(name), as_json)
