"""The command that measures an earlier run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from harbor._cli.doubts import measuring
from harbor._cli.output import Json, say
from harbor._core.finding import asked
from harbor._core.layout import log_of


def score(
    run: Annotated[Path, typer.Argument(help="The folder of a run or of a series, or its events.jsonl.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric by name, or module:NAME; give it again for more. Default: all of the game."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure an earlier run anew, from its log alone."""
    log = log_of(run)
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import score_tables
    from harbor._core.log import read_log
    from harbor.evaluation._metrics.score import score as measured

    names = list(dict.fromkeys(metric or ()))
    for name in names:
        asked("metric", name)  # an unknown one is refused before the log is read
    reading = read_log(log)
    if reading.warning:
        say(f"warning: {reading.warning}; it is measured as far as it goes")
    with measuring(log, reading.entries):
        found = measured(reading.entries, names)
        if as_json:
            typer.echo(json.dumps(found.as_json()))
        else:
            render(score_tables(found))
