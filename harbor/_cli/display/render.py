"""Tables and lines in a terminal, all drawn alike and as wide as the screen.

Names come from files and people, so nothing is printed as markup and no control character reaches the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from shutil import get_terminal_size

import rich.table
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harbor._core.basics.actions import printable
from harbor._core.basics.numbers import cell_text

BETWEEN = 2
"""Spaces between two columns."""
_PARTS = re.compile(r"(?<=[^\W\d_][-_/:.=@])(?=\w)|(?<=[\d)\]][-_/:.=])(?=[^\W\d_])")
"""Places where a word may break: after a hyphen or the like between two parts, and never within a number."""
_WORDS = re.compile(r"\[[^\w\s]*\d\S*, [^\w\s]*\d[^\s\]]*\]\S*|\S+")
"""Unbroken pieces of a line: a word, or an interval such as "[-1.5, 2]"."""


def width() -> int:
    """Return the columns of the terminal."""
    return get_terminal_size().columns


def wrapped(text: str, room: int) -> str:
    """Break a text so that no line is wider than `room`, unless a part of a word is."""
    return "\n".join(line for given in text.split("\n") for line in _lines(given, room))


def _lines(text: str, width: int) -> list[str]:
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for word in _WORDS.findall(text):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines += _spread(word, width)
    return [line for line in lines if line]


def _spread(word: str, width: int) -> list[str]:
    """Return the parts of a word in as few lines as possible."""
    lines = [""]
    for part in _PARTS.split(word):
        if cell_len(lines[-1] + part) <= width:
            lines[-1] += part
        else:
            lines.append(part)
    return lines


def widths_of(columns: Sequence[Sequence[str]], room: int, is_bound: bool = True) -> list[int] | None:
    """Return the width of each column of texts; None: even the parts of their words do not fit.

    Each column first gets the width of its longest word, then of its longest line. If the words do not fit, they are
    broken between their parts. If `is_bound` is false, whole words may exceed the room.
    """
    words = [_longest(column, _WORDS.findall) for column in columns]
    lines = [_longest(column, lambda text: text.split("\n")) for column in columns]
    spare = room - BETWEEN * (len(columns) - 1)
    if sum(words) <= spare or not is_bound:
        return _shared(words, lines, spare)
    parts = [_longest(column, _parts) for column in columns]
    return _shared(parts, words, spare) if sum(parts) <= spare else None


def _parts(text: str) -> list[str]:
    return [part for word in _WORDS.findall(text) for part in _PARTS.split(word)]


def _longest(column: Sequence[str], pieces: Callable[[str], list[str]]) -> int:
    return max(cell_len(piece) for text in column for piece in [*pieces(text), ""])


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Return widths: each column's least, and a share of the rest up to its most; small needs come first."""
    widths, left = list(least), max(0, room - sum(least))
    order = sorted(range(len(widths)), key=lambda at: most[at] - least[at])
    for before, at in enumerate(order):
        more = min(most[at] - least[at], left // (len(order) - before))
        widths[at], left = widths[at] + more, left - more
    return widths


INDENT = 2
"""Spaces before the lines below the name of a row, if a table is too wide for the screen."""

_NUMBER = re.compile(r"[-\u2212+]?\$?[\d,.]+ ?[%k]?(\n?\[.*\])?")
"""Texts that are aligned to the right."""


class Screen(Console):
    """A console whose reader may go away without ending the auction."""

    def on_broken_pipe(self) -> None:
        """Raise an error; rich would end the program."""
        raise BrokenPipeError


@dataclass(frozen=True)
class Table:
    """Rows under a title and the names of their columns; a column without any value is not drawn.

    If the first column repeats a name, the name is drawn once and its rows form a group.
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
    """Print lines, wrapped in a terminal, unchanged elsewhere."""
    if screen.is_terminal:
        screen.print(Text(text))
    else:
        print(text, file=screen.file)


def _drawn(table: Table, screen: Console) -> RenderableType:
    """Return a table as wide as the screen, or row after row if even the parts of names do not fit."""
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
    """Yield each row as a list: its first cell, and indented below it the other columns."""
    (_, firsts), *others = columns.items()
    for at, first in enumerate(firsts):
        yield cell(wrapped(first, width))
        said = {" ".join(name.split()): " ".join(cells[at].split()) for name, cells in others}
        text = "; ".join(f"{name}: {one}" for name, one in said.items() if one)
        yield cell("\n".join(" " * INDENT + line for line in wrapped(text, width - INDENT).split("\n")))


def cell(text: str) -> Text:
    """Return foreign text for a table, as text and not as markup."""
    return Text("\n".join(map(printable, text.split("\n"))), overflow="fold")
