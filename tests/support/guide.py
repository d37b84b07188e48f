"""The blocks of code that a page shows, and what becomes of each.

`sh` is run and `console` is not: it takes a person, a key, a long time, or what is not there; each command of it begins
with a dollar sign. A block whose first line is a comment with the name of a file is that file; any other Python runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer

from harbor._cli.app import app
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
        """The commands of a block of the shell, without what they print."""
        lines = self.text.replace("\\\n", "").splitlines()
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if line and not line.startswith("#")] if self.language == "sh" else []


def blocks(text: str) -> list[Block]:
    """Give the blocks of a page, or of a part of one, in order."""
    return [Block(*one) for one in FENCED.findall(text)]


def commands(page: Path) -> Iterator[list[str]]:
    """Give every command of Harbor that the blocks of a page show."""
    for block in blocks(page.read_text(encoding="utf-8")):
        for line in block.lines:
            if found := re.match(r"(?:\.venv/bin/)?harbor (.*)", line):
                yield shlex.split(found[1], comments=True)


def spoken(page: Path) -> Iterator[list[str]]:
    """Give every command of Harbor that the sentences of a page name, which may leave out what a reader knows."""
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    for said in re.findall(r"`harbor ([^`]*)`", prose):
        yield said.split()


def parse(words: list[str]) -> None:
    """Take a command apart as the command line does, without doing anything; raise what it would complain of."""
    command: Any = typer.main.get_command(app)
    within = None
    while hasattr(command, "commands"):
        within = command.make_context(command.name, words, parent=within)
        _, command, words = command.resolve_command(within, [*within._protected_args, *within.args])
    command.make_context(command.name, words, parent=within)


def unknown(words: list[str]) -> str:
    """Say which word of a command that a sentence names is neither a command nor an option; empty: none."""
    command: Any = typer.main.get_command(app)
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
