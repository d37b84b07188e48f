"""The code blocks on a page, and how each is tested.

`sh` blocks run. `console` blocks do not: they need a person, a key, a long time, or something that is missing. Each
command in them begins with a dollar sign. A block whose first line is a comment with a file name is that file. Any
other Python block runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harbor._cli.app import all_commands
from support.folders import ROOT

NAMED = re.compile(r"(?:#|//) ([\w-]+\.\w+)\n")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Block(NamedTuple):
    language: str
    text: str

    @property
    def file(self) -> str:
        named = NAMED.match(self.text)
        return named[1] if named else ""

    @property
    def lines(self) -> list[str]:
        """The commands of a shell block, without their output."""
        lines = self.text.replace("\\\n", "").splitlines()
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line and not line.startswith("#")] if self.language == "sh" else []


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, or of a part of one, in order."""
    return [Block(*one) for one in FENCED.findall(text)]


def commands(page: Path) -> Iterator[list[str]]:
    """Yield every Harbor command in the blocks of a page."""
    for block in blocks(page.read_text(encoding="utf-8")):
        for line in block.lines:
            if found := re.match(r"(?:\.venv/bin/)?harbor (.*)", line):
                yield shlex.split(found[1], comments=True)


def spoken(page: Path) -> Iterator[list[str]]:
    """Yield every Harbor command in the sentences of a page. Such a command may be abridged."""
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    for said in re.findall(r"`harbor ([^`]*)`", prose):
        yield said.split()


def parse(words: list[str]) -> None:
    """Parse a command as the command line does, without running it. Raise the error of a wrong command."""
    command: Any = all_commands()
    within = None
    while hasattr(command, "commands"):
        within = command.make_context(command.name, words, parent=within)
        _, command, words = command.resolve_command(within, [*within._protected_args, *within.args])
    command.make_context(command.name, words, parent=within)


def unknown(words: list[str]) -> str:
    """Return the word of a command in a sentence that is neither a command nor an option, or ""."""
    command: Any = all_commands()
    options = {name for one in command.params for name in one.opts}
    for word in words:
        if hasattr(command, "commands") and not word.startswith("-"):
            if word not in command.commands:
                return "" if word in ("COMMAND", "...") or ":" in word else word
            command = command.commands[word]
            options |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        elif word.startswith("--") and word.partition("=")[0] not in {*options, "--help"}:
            return word
    return ""
