"""The page of commands: each with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harbor._cli.app import all_commands
from support.references.markdown import MADE, code, table

HEAD = f"""# Commands

`harbor COMMAND --help` tells the same. A mistake is one line on stderr and exit code 2; where a command has others,
its description tells them.

{MADE}"""


def page() -> str:
    """Return the page as it should be."""
    return "\n".join([HEAD, *_command(all_commands(), ("harbor",))]).rstrip() + "\n"


def _command(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    inherited = all_commands().context_settings  # a command keeps the names of its help option from its first context
    within = command.make_context(" ".join(path), [], resilient_parsing=True, **inherited)
    if len(path) > 1:
        yield f"{'#' * len(path)} `{' '.join(path)}`\n"
    yield f"{(command.help or '').strip()}\n"
    yield f"```text\n{' '.join([*path, *command.collect_usage_pieces(within)])}\n```\n"
    records = filter(None, (one.get_help_record(within) for one in command.params))
    if rows := [(code(names), says) for names, says in records if names != "--help"]:
        yield from table(("argument or option", "what it does"), rows)
    for name in command.list_commands(within) if hasattr(command, "list_commands") else ():
        yield from _command(command.get_command(within, name), (*path, name))
