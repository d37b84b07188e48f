"""Tables and texts of the pages that are generated from the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc

MADE = "This page is made of the code: `make references` writes it anew.\n"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty line."""
    heads = list(columns)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell(text) for text in row)} |"
    yield ""


def cell(text: str) -> str:
    """Return a text as one table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Return a text as inline code, or "" if it is empty."""
    return f"`{text}`" if text else ""


def prose(thing: object) -> str:
    """Return the docstring of an object, without its examples and the sections of its attributes and arguments."""
    return re.split(r"\n\n(?:(?:Attributes|Args|Returns|Raises):\n|>>> )", cleandoc(thing.__doc__ or ""))[0]


def attributes(thing: object) -> dict[str, str]:
    """Return each attribute of a class with its text in the docstring."""
    _, _, section = cleandoc(thing.__doc__ or "").partition("\n\nAttributes:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}
