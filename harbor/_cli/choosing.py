"""Options by which commands choose an experiment, and what of it."""

from __future__ import annotations

from typing import Annotated

import typer

Named = Annotated[str, typer.Argument(metavar="NAME|FILE.toml", help="A published experiment, or a TOML file.")]
Models = Annotated[
    list[str] | None, typer.Option("--model", help="A model for the next slot, @1 first; stand-ins keep the rest.")
]
Arms = Annotated[list[str] | None, typer.Option("--arm", help="This arm only; may be given again.")]
Repeats = Annotated[
    int | None, typer.Option(min=1, help="Games of each arm under each condition; default: the design's.")
]
