"""Where a memory is: in this process, in a folder, perhaps inside that of a run, or on a server."""

from __future__ import annotations

import shlex
from pathlib import Path

from harbor._core.errors import MemoryStoreError
from harbor._core.layout import CONFIG, MEMORY, MEMORY_LINES

DATABASE = "chroma.sqlite3"


class NoMemoryError(MemoryStoreError):
    """There is no memory where one was to be."""


def place_of(where: str | Path | None) -> str:
    """Name a place for an error message."""
    if where is None:
        return "the memory of this process"
    return f"the memory {'on' if is_url(where) else 'in'} {str(where)!r}"


def is_url(where: str | Path) -> bool:
    """Say whether a place is a server's address."""
    return str(where).startswith(("http://", "https://"))


def inside(where: str) -> str:
    """Name the folder of a memory: the memory inside that of a run, or the folder itself; a server stays as it is."""
    run = Path(where)
    return str(run / MEMORY) if is_there(run / MEMORY) or (run / CONFIG).is_file() else where


def is_there(where: str | Path) -> bool:
    """Say whether there is a memory in a folder."""
    return not is_url(where) and (Path(where) / DATABASE).is_file()


def check_present(where: str | Path) -> None:
    """Refuse a folder without a memory; what a server has is known when it is asked.

    Raises:
        NoMemoryError: there is none.
    """
    if not is_url(where) and not is_there(where):
        lines = Path(where).parent / MEMORY_LINES
        remedy = "name the folder of one, or of a run that remembers"
        if Path(where).name == MEMORY and lines.is_file():
            remedy = f"make it: harbor memory import {shlex.quote(str(where))} {shlex.quote(str(lines))}"
        raise NoMemoryError(f"{place_of(where)}: there is no memory; {remedy}")
