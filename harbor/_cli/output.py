"""What commands print: a line on stderr, or the results of a run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harbor.evaluation._metrics.series import SeriesSummary
    from harbor.evaluation._metrics.summary import Summary

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the standings only.")]


def say(message: str) -> None:
    """Print a line on stderr, without keys."""
    from harbor._core.parsing import printable
    from harbor._core.redaction import redact

    print(f"harbor: {printable(redact(message))}", file=sys.stderr)  # noqa: T201


def show(summary: Summary | SeriesSummary, as_json: bool, in_full: bool = True) -> None:
    """Print the results of a run or of a series, and on stderr who gave no answer."""
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import series_tables, summary_tables
    from harbor.evaluation._metrics.series import SeriesSummary

    for failure in () if isinstance(summary, SeriesSummary) else summary.failures:
        say(f"warning: {failure.bidder} gave no answer {failure.times} times; the first time: {failure.first}")
    if as_json:
        typer.echo(json.dumps(summary.as_json()))
    elif isinstance(summary, SeriesSummary):
        render(series_tables(summary, in_full))
    else:
        render(summary_tables(summary, in_full))
