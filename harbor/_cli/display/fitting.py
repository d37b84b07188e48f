"""How texts fit in a width: lines end between words, and where a word is too long, between its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from shutil import get_terminal_size

from rich.cells import cell_len

BETWEEN = 2
"""Spaces between two columns."""
_PARTS = re.compile(r"(?<=[^\W\d_][-_/:.=@])(?=\w)|(?<=[\d)\]][-_/:.=])(?=[^\W\d_])")
"""Where a word may end a line: after a hyphen or the like between two of its parts, and never within a number."""
_WORDS = re.compile(r"\[[^\w\s]*\d\S*, [^\w\s]*\d[^\s\]]*\]\S*|\S+")
"""What stands on one line: a word, or an interval such as "[-1.5, 2]"."""


def width() -> int:
    """Give the columns of the terminal."""
    return get_terminal_size().columns


def wrapped(text: str, room: int) -> str:
    """Break the lines of a text so that none is wider, if no part of a word is."""
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
    """Put the parts of a word in as few lines as they need."""
    lines = [""]
    for part in _PARTS.split(word):
        if cell_len(lines[-1] + part) <= width:
            lines[-1] += part
        else:
            lines.append(part)
    return lines


def widths_of(columns: Sequence[Sequence[str]], room: int, is_bound: bool = True) -> list[int] | None:
    """Share out the room among columns, given as their texts; None: not even the parts of their words fit.

    Each gets first the width of its longest word, then of its longest line. If there is no room for the words, those
    that have parts are broken between these. Room that does not bind is exceeded for whole words.
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
    """Give each column its least width, and of the rest what it needs, those that need little first."""
    widths, left = list(least), max(0, room - sum(least))
    order = sorted(range(len(widths)), key=lambda at: most[at] - least[at])
    for before, at in enumerate(order):
        more = min(most[at] - least[at], left // (len(order) - before))
        widths[at], left = widths[at] + more, left - more
    return widths
