"""Results as a notebook shows them: a small piece of HTML, every text escaped."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

SIMULATED = "Simulated: Harbor's built-in model played, and no language model."
MOST_ROWS = 20


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
    """Give the command that shows a folder; without one there is nothing on disk to be shown."""
    return "" if folder is None else f"<p>See it with <code>harbor view {escape(shlex.quote(str(folder)))}</code></p>"
