"""Tables and lines in a terminal, all drawn alike.

Names come from files and people, so nothing is printed as markup and no control character reaches the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import rich.table
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from harbor._core.money import dollars
from harbor._core.parsing import printable

BETWEEN = 2
"""Spaces between two columns."""

_NUMBER = re.compile(r"[-\u2212+]?\$?[\d,.]+ ?[%k]?(\n?\[.*\])?")


class Screen(Console):
    """A console whose reader may go away without ending the auction."""

    def on_broken_pipe(self) -> None:
        """Say so, where rich would end the program."""
        raise BrokenPipeError


@dataclass(frozen=True)
class Table:
    """Rows under a title and the names of their columns; a column without any value is not drawn.

    Where the first column repeats a name, the name is drawn once and its rows stand together.
    """

    title: str
    rows: Sequence[Mapping[str, object]]


def render(blocks: Iterable[Table | str]) -> None:
    """Print tables and lines; a table without rows is not printed."""
    screen = Screen(highlight=False, markup=False, emoji=False)
    above = False
    for block in blocks:
        if isinstance(block, str):
            screen.print(Text(printable(block)), soft_wrap=not screen.is_terminal)
        elif block.rows:
            screen.print(*[""] * above, _drawn(block, screen), sep="\n", crop=False)
        above = True


def _drawn(table: Table, screen: Console) -> rich.table.Table:
    columns = {name: [_written(row[name]) for row in table.rows] for name in table.rows[0]}
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    numeric = [all(_NUMBER.fullmatch(one) for one in cells if one) for cells in columns.values()]
    drawn = rich.table.Table(
        title=Text(printable(table.title)),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    widths = _widths([[name, *cells] for name, cells in columns.items()], screen)
    for name, width, number in zip(columns, widths, numeric, strict=True):
        drawn.add_column(cell(name), width=width, justify="right" if number else "left", overflow="fold")
    rows = list(zip(*columns.values(), strict=True))
    first = [row[0] for row in rows]
    groups = not numeric[0] and any(one == other for one, other in pairwise(first))
    for before, row in zip(("", *first), rows, strict=False):
        if groups and row[0] != before:
            drawn.add_section()
        drawn.add_row(*map(cell, ("", *row[1:]) if groups and row[0] == before else row))
    return drawn


def _widths(columns: Sequence[Sequence[str]], screen: Console) -> list[int | None]:
    """Share out the room, so that no word is broken: first to each column's longest word, then to its longest line."""
    words = [max(cell_len(word) for text in column for word in [*text.split(), ""]) for column in columns]
    lines = [max(cell_len(line) for text in column for line in text.split("\n")) for column in columns]
    more = [line - word for line, word in zip(lines, words, strict=True)]
    spare = screen.width - sum(words) - BETWEEN * (len(columns) - 1)
    if spare < 0 and screen.is_terminal:
        return [None] * len(columns)  # there is no room for the words: they are broken where the lines end
    share = min(1.0, max(0, spare) / max(1, sum(more)))
    return [word + int(extra * share) for word, extra in zip(words, more, strict=True)]


def cell(text: str) -> Text:
    """Put foreign text in a table, as text and not as markup."""
    return Text("\n".join(map(printable, text.split("\n"))), overflow="fold")


def _written(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case Decimal():
            return dollars(value)
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)
