"""Groups of commands: their list says in full what each does, and a wrong name leads to the right command."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

ELSEWHERE = {
    "version": "--version",
    "help": "--help",
    "presets": "list presets",
    "models": "list models",
    "metrics": "list metrics",
    "games": "list games",
    "run": "auction, or harbor experiment run",
    "show": "experiment show, or harbor list",
    "init": "new",
    "power": "experiment power",
    "sheets": "rate sheets",
    "judge": "rate judge",
    "merge": "rate merge",
}
"""What somebody may look for under another name, and the words after `harbor` that do it."""


class Commands(TyperGroup):
    """A group whose list of commands cuts no sentence short."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name of each command beside the first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(10_000)) for name, one in self.commands.items()])


def group(name: str, summary: str) -> typer.Typer:
    """Make a group of commands, which called by itself prints its help."""
    made = typer.Typer(name=name, help=summary, cls=Commands, invoke_without_command=True, rich_markup_mode=None)
    made.callback()(help_alone)
    return made


def help_alone(context: typer.Context) -> None:
    """Print the help of a group where no command of it is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def instead(wrong: str, context: Any) -> str:
    """Say what to type instead of a command that is not there."""
    known, root = context.command.list_commands(context), context.find_root()
    if wrong in root.command.list_commands(root):
        return f"did you mean 'harbor {wrong}'?"
    if nearest := get_close_matches(wrong, known, n=1, cutoff=0.75):
        return f"did you mean {nearest[0]!r}?"
    if found := ELSEWHERE.get(wrong):
        return f"use: harbor {found}"
    if nearest := get_close_matches(wrong, [*known, *ELSEWHERE], n=1, cutoff=0.75):
        return f"use: harbor {ELSEWHERE[nearest[0]]}"
    return f"choose one of: {', '.join(known)}"
