"""What commands print: a line on stderr, or the results of a run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.display.extent import Extent
from harbor._core.counting import counted
from harbor._core.errors import ConfigError

if TYPE_CHECKING:
    from harbor.evaluation._metrics.series import SeriesSummary
    from harbor.evaluation._metrics.summary import Summary

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Full = Annotated[bool, typer.Option("--full", help="Print all there is, however long.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the standings only.")]


def extent_of(quiet: bool, full: bool) -> Extent:
    """Say how much the options ask for.

    Raises:
        ConfigError: they contradict each other.
    """
    if quiet and full:
        raise ConfigError("--quiet prints less and --full prints more; drop one")
    return "short" if quiet else "full" if full else "usual"


def say(message: str) -> None:
    """Print a line on stderr, without keys."""
    from harbor._core.parsing import printable
    from harbor._core.redaction import redact

    print(f"harbor: {printable(redact(message))}", file=sys.stderr)  # noqa: T201


def show(summary: Summary | SeriesSummary, as_json: bool, extent: Extent = "usual") -> None:
    """Print the results of a run or of a series, and on stderr who gave no answer, or answered what was refused."""
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import series_tables, summary_tables
    from harbor.evaluation._metrics.series import SeriesSummary

    for one in summary.failures:
        say(f"warning: {one.bidder} gave no answer {counted(one.times, 'time')}; the first time: {one.first}")
    for bad in summary.refusals:
        if bad.alarming:
            own = f"; its model refused to answer {counted(bad.by_model, 'time')}" if bad.by_model else ""
            refused = f"its answers were refused {counted(bad.refused, 'time')}{own}; the first time: {bad.first}"
            say(f"warning: {bad.bidder} was asked {counted(bad.asked, 'time')}, and {refused}")
    if as_json:
        typer.echo(json.dumps(summary.as_json()))
    elif isinstance(summary, SeriesSummary):
        render(series_tables(summary, extent))
    else:
        render(summary_tables(summary, extent))
