"""Tables and lines in a terminal, all drawn alike.

Names come from files and people, so nothing is printed as markup and no control character reaches the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import rich.table
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harbor._cli.display.fitting import widths_of, wrapped
from harbor._core.money import cell_text
from harbor._core.parsing import printable

INDENT = 2
"""Of what stands below the name of a row, where a table is too wide for the screen."""

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
            _say("\n".join(map(printable, block.split("\n"))), screen)
        elif block.rows:
            screen.print(*[""] * above, _drawn(block, screen), sep="\n", crop=False)
        above = True


def _say(text: str, screen: Console) -> None:
    """Print lines, wrapped in a terminal; anywhere else as they are, which need not be laid out."""
    if screen.is_terminal:
        screen.print(Text(text))
    else:
        print(text, file=screen.file)


def _drawn(table: Table, screen: Console) -> RenderableType:
    """Draw a table as wide as the screen; where not even parts of names fit beside each other, row after row."""
    columns = {name: [cell_text(row[name]) for row in table.rows] for name in table.rows[0]}
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    title = Text(printable(table.title), style="italic")
    widths = widths_of([[name, *cells] for name, cells in columns.items()], screen.width, screen.is_terminal)
    if widths is None:
        return Group(title, *_stacked(columns, screen.width))
    numeric = [all(_NUMBER.fullmatch(one) for one in cells if one) for cells in columns.values()]
    drawn = rich.table.Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for name, width, number in zip(columns, widths, numeric, strict=True):
        head = cell(wrapped(name, width))
        drawn.add_column(head, width=width, justify="right" if number else "left", overflow="fold")
    rows = list(zip(*columns.values(), strict=True))
    first = [row[0] for row in rows]
    groups = not numeric[0] and any(one == other for one, other in pairwise(first))
    for before, row in zip(("", *first), rows, strict=False):
        if groups and row[0] != before:
            drawn.add_section()
        shown = ("", *row[1:]) if groups and row[0] == before else row
        drawn.add_row(*(cell(wrapped(text, width)) for text, width in zip(shown, widths, strict=True)))
    return Group(title, drawn)


def _stacked(columns: Mapping[str, Sequence[str]], width: int) -> Iterator[Text]:
    """Write each row as a list: its first cell, and indented below it what the other columns say."""
    (_, firsts), *others = columns.items()
    for at, first in enumerate(firsts):
        yield cell(wrapped(first, width))
        said = {" ".join(name.split()): " ".join(cells[at].split()) for name, cells in others}
        text = "; ".join(f"{name}: {one}" for name, one in said.items() if one)
        yield cell("\n".join(" " * INDENT + line for line in wrapped(text, width - INDENT).split("\n")))


def cell(text: str) -> Text:
    """Put foreign text in a table, as text and not as markup."""
    return Text("\n".join(map(printable, text.split("\n"))), overflow="fold")
