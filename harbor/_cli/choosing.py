"""Options by which commands choose an experiment, and what of it, and settings of models."""

from __future__ import annotations

from typing import Annotated

import typer

from harbor._cli import completing

Named = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.toml", help="A published experiment, or a TOML file.", autocompletion=completing.experiments
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="The model of the next slot, from @1 on; default: the built-in one."),
]
Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm; repeatable.")]
Repeats = Annotated[int | None, typer.Option(min=1, help="Games per arm and condition; default: as designed.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="models.NAME.KEY=VALUE",
        help="Replace a setting of a model, such as models.openai:gpt-4.1.temperature=1; no VALUE: the default."
        " Repeatable.",
    ),
]
