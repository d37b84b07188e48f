"""What experiments look like in a terminal: the list of them, and the design of one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from harbor.display import cell
from harbor.evaluation.experiments.design import Experiment
from harbor.evaluation.experiments.games import games_in_all


def print_experiments(console: Console, experiments: Sequence[Experiment], as_json: bool = False) -> None:
    """Print a line an experiment."""
    rows = [(one.name, one.question, one.source, games_in_all(one)) for one in experiments]
    names = ("name", "question", "source", "games")
    if as_json:
        console.print_json(json.dumps({"experiments": [dict(zip(names, row, strict=True)) for row in rows]}))
        return
    table = Table(*names, title="Experiments")
    for row in rows:
        table.add_row(*(cell(str(value)) for value in row))
    console.print(table)


def print_design(console: Console, experiment: Experiment, as_json: bool = False) -> None:
    """Print the design of an experiment."""
    console.print_json(experiment.model_dump_json() if as_json else json.dumps(experiment.title))
