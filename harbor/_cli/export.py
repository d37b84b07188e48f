"""The command that writes runs as the logs of other tools."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harbor._cli.output import say

Format = StrEnum("Format", ["eval"])


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, a series or an experiment.")],
    format_: Annotated[  # noqa: ARG001 - there is one so far
        Format, typer.Option("--format", help="eval: logs of Inspect (the extra inspect), for its viewer and scanners.")
    ] = Format.eval,
    out: Annotated[
        Path | None, typer.Option(help="A new file, or a new folder for an experiment; default: beside DIR.")
    ] = None,
) -> None:
    """Write a run, a series or an experiment as logs of another tool."""
    from harbor._cli.doubts import warn_of
    from harbor._packs.inspect_files import write_eval

    written = write_eval(folder, out)
    warn_of(folder)
    say("it has what the folder has, so prompts, replies and budgets too; only you can read it, so publish none of it")
    say(f"look at it with: inspect view --log-dir {shlex.quote(str(written[0].parent))}")
    for file in written:
        typer.echo(file)
