"""Tables, templates and legible text for pages. This module loads without statistics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from harbor._core.basics.numbers import counted

if TYPE_CHECKING:
    from jinja2 import Environment

_ILLEGIBLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that an SVG image can't contain."""


def legible(text: str, longest: int | None = None) -> str:
    """Return a text with single spaces, without characters that an SVG image can't contain, cut to `longest`.

    >>> legible("a very  long name", 8)
    'a very…'
    """
    plain = _ILLEGIBLE.sub("\ufffd", re.sub(r"\s+", " ", text))
    return plain if longest is None or len(plain) <= longest else plain[: longest - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text, a smaller line below the text, its link, and whether it is bold in print."""

    text: str
    below: str = ""
    href: str = ""
    bold: bool = False

    @property
    def is_interval(self) -> bool:
        """Return whether the line below is an interval in brackets."""
        return self.below.startswith("[")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, a smaller line below it, and whether it contains numbers."""

    head: Cell
    numeric: bool = True


TableRow = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, ready for output. In print, a row of one cell is the head of the rows below it."""

    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]


def columns_of(text: Sequence[str], numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return columns by their heads: first those of text, then those of numbers."""
    return tuple(Column(Cell(head), numeric=False) for head in text) + tuple(Column(Cell(head)) for head in numbers)


def row_of(*cells: str | Cell) -> tuple[Cell, ...]:
    """Return a row of cells, from cells or texts."""
    return tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)


def filled(template: str, **fields: object) -> str:
    """Fill a template of a page. Every text for it is made legible and escaped.

    A template is named by its package and its file, as in ``harbor.evaluation._report/frame.html.j2``.
    """
    return _environment().get_template(template).render(fields)


@cache
def packaged(name: str) -> str:
    """Return the text of a file in a package, by package and file name."""
    package, _, file = name.rpartition("/")
    return (files(package) / file).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # not for tables on a screen

    found = Environment(
        loader=FunctionLoader(packaged),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_legible,
    )
    found.globals.update(counted=counted)
    return found


def _legible(value: object) -> object:
    """Make a text legible for the page. A `Markup` is the page's own and stays."""
    return legible(value) if type(value) is str else value
