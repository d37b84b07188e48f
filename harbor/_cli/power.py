"""The command that says how many games an experiment needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.choosing import Named
from harbor._cli.configs import load_experiment
from harbor._cli.output import Json, say
from harbor._core.errors import ConfigError
from harbor._core.layout import check_experiment

if TYPE_CHECKING:
    from harbor.evaluation._experiments.design import Comparison, Experiment
    from harbor.evaluation._experiments.trial_records import Results

Effect = Annotated[
    float, typer.Option(help="The difference to find, in the unit of the metric; its sign does not matter.")
]


def power(
    name: Named,
    effect: Effect,
    metric: Annotated[str | None, typer.Option(help="Only the comparisons of this metric.")] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="The folder of a pilot; default: one is played with the built-in model.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=2, help="The repeats of the pilot, if one is played.")] = 10,
    power: Annotated[float, typer.Option(help="The power: how often the difference is found.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="The level: how often one is found where there is none.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Say how many games the planned comparisons need. The variance comes from a pilot."""
    from harbor.evaluation._analysis.question import Question

    question = Question(effect, power, alpha)  # before the experiment is read, and the statistics are imported
    experiment = load_experiment(name)
    if pilot:
        check_experiment(pilot)
    from pydantic import TypeAdapter

    from harbor._cli.display.designs import power_tables
    from harbor._cli.display.render import render
    from harbor.evaluation._analysis.power import Power, games_needed, planned

    comparisons = planned(experiment, metric)
    results = _read(experiment, pilot) if pilot else _played(experiment, comparisons, repeats)
    found = games_needed(results, comparisons, question)
    if as_json:
        typer.echo(TypeAdapter(Power).dump_json(found))
    else:
        render(power_tables(found))


def _read(experiment: Experiment, folder: Path) -> Results:
    """Read a pilot's records; what is planned is as the experiment says now."""
    from dataclasses import replace

    from harbor.evaluation._running.experiment_folder import read_results

    found = read_results(folder)
    if found.experiment.name != experiment.name:
        other, wanted = found.experiment.name, experiment.name
        remedy = f"give a folder of {wanted!r}, or name {other!r}"
        raise ConfigError(f"pilot {str(folder)!r} is of experiment {other!r}; {remedy}")
    if found.experiment.same_seed:
        raise ConfigError(f"pilot {str(folder)!r} was run with --same-seed, so it has no pairs; give one without")
    return replace(found, experiment=experiment)


def _played(experiment: Experiment, comparisons: Sequence[Comparison], repeats: int) -> Results:
    import asyncio

    from harbor.evaluation._analysis.power import pilot

    say(f"no --pilot is given: the built-in model plays {repeats} repeats; games of another model may vary otherwise")
    return asyncio.run(pilot(experiment, comparisons, repeats))
