"""Reports the progress of long work to its caller, and shows results as HTML in a notebook.

Inner functions report each step, and the caller may listen. All text in the HTML is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
MOST_TOLD = 1_000
"""The approximate limit on the number of reports that one loop sends."""
Listen = Callable[[int, int, str], None]
"""Hears how many steps are done, of how many, and their name, such as "games read"."""


def _unheard(*_: object) -> None:
    """Listen to nothing."""


_listens: ContextVar[Listen] = ContextVar("_listens", default=_unheard)


@contextmanager
def heard_by(listen: Listen) -> Iterator[None]:
    """Call `listen` for each step that is taken inside."""
    before = _listens.set(listen)
    try:
        yield
    finally:
        _listens.reset(before)


def steps(things: Collection[T], what: str) -> Iterator[T]:
    """Yield the things and report how many are done, about `MOST_TOLD` times at most; inner steps are not reported."""
    listen, apart = _listens.get(), 1 + len(things) // MOST_TOLD
    _listens.set(_unheard)
    try:
        for done, thing in enumerate(things):
            if done % apart == 0:
                listen(done, len(things), what)
            yield thing
    finally:  # the caller may stop early
        _listens.set(listen)
        listen(len(things), len(things), what)


SIMULATED = "Simulated: Harbor's built-in model played, and no language model."
MOST_ROWS = 20
"""The greatest number of rows of a table in a notebook."""


def block(title: str, notes: Iterable[str], *parts: str) -> str:
    """Put a title, notes and parts that are HTML already below each other; empty notes are left out."""
    told = "".join(f"<p>{escape(note)}</p>" for note in notes if note)
    return f"<div><p><strong>{escape(title)}</strong></p>{told}{''.join(parts)}</div>"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table; rows beyond `MOST_ROWS` are counted."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows[:MOST_ROWS]
    )
    more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def seen_with(folder: Path | None) -> str:
    """Return the command that shows a folder, as HTML; "" without a folder, as nothing is on disk."""
    return "" if folder is None else f"<p>See it with <code>harbor view {escape(shlex.quote(str(folder)))}</code></p>"
