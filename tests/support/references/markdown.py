"""Tables and texts of the pages that are made of the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc

MADE = "This page is made of the code: `make references` writes it anew.\n"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Give the lines of a table, and an empty one."""
    heads = list(columns)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell(text) for text in row)} |"
    yield ""


def cell(text: str) -> str:
    """Make a text one cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Put a text in code, unless it is empty."""
    return f"`{text}`" if text else ""


def prose(thing: object) -> str:
    """Give the docstring of a thing, but for the sections of its attributes and arguments."""
    return re.split(r"\n\n(?:Attributes|Args|Returns|Raises):\n", cleandoc(thing.__doc__ or ""))[0]


def attributes(thing: object) -> dict[str, str]:
    """Give what the docstring of a class says of each of its attributes."""
    _, _, section = cleandoc(thing.__doc__ or "").partition("\n\nAttributes:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}
