"""The place of a memory: this process, a folder (perhaps inside the folder of a run), or a server.

A file alone never makes Harbor open a stranger's SQLite database or load a model: both may run code. ``store.json``
beside the database holds the embedding and an id, under the user's mark. Harbor reads it before the database.
"""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from harbor._core.basics.errors import MemoryStoreError
from harbor._core.files.layout import CONFIG, MEMORY, MEMORY_LINES, STORE
from harbor._core.files.marks import is_in_own, is_own, is_vouched, mark, write_settings
from harbor._core.files.safe_files import MOST_SETTINGS, read_sent

DATABASE = "chroma.sqlite3"
"""Name of Chroma's database in a folder."""


class NoMemoryError(MemoryStoreError):
    """There is no memory at the expected place."""


def place_of(where: str | Path | None) -> str:
    """Name a place for an error message.

    >>> place_of("notes")
    "the memory in 'notes'"
    """
    if where is None:
        return "the memory of this process"
    return f"the memory {'on' if is_url(where) else 'in'} {str(where)!r}"


def is_url(where: str | Path) -> bool:
    """Return whether a place is the address of a server."""
    return str(where).startswith(("http://", "https://"))


def inside(where: str) -> str:
    """Return the folder of a memory: the one inside the folder of a run, or `where` itself. Addresses do not change."""
    run = Path(where)
    return str(run / MEMORY) if is_there(run / MEMORY) or (run / CONFIG).is_file() else where


def is_there(where: str | Path) -> bool:
    """Return whether there is a memory in a folder."""
    return not is_url(where) and (Path(where) / DATABASE).is_file()


def check_present(where: str | Path) -> None:
    """Refuse a folder without a memory. A server is not asked here.

    Raises:
        NoMemoryError: there is none.
    """
    if not is_url(where) and not is_there(where):
        lines = Path(where).parent / MEMORY_LINES
        remedy = "name the folder of one, or of a run that remembers"
        if Path(where).name == MEMORY and lines.is_file():
            remedy = f"make it: harbor memory import {shlex.quote(str(where))} {shlex.quote(str(lines))}"
        raise NoMemoryError(f"{place_of(where)}: there is no memory; {remedy}")


SENTENCE_TRANSFORMERS = "sentence-transformers"
"""Prefix of the embedding names that stand for models."""


def check_trusted(name: str, trusted: str | None) -> None:
    """Refuse a model that a file names and the user does not: a model from somebody else may run code.

    Raises:
        MemoryStoreError: the user named no model, or another one.
    """
    if trusted not in (None, name):
        raise MemoryStoreError(f"it has the embedding {name!r}, not {trusted!r}; drop --embedding, or name that")
    if trusted is None and name.startswith(SENTENCE_TRANSFORMERS):
        raise MemoryStoreError(
            f"it has the embedding {name!r}, a model that only a file names; if you trust the model, name it yourself:"
            f" --embedding {shlex.quote(name)}, embedding=... in Python, or [memory] embedding in a TOML file of yours"
        )


def begin_own(folder: Path, embedding: str | None) -> None:
    """Mark a new memory as the user's own, unless a driver vouches for its folder."""
    if not is_vouched(folder):
        settings = {"id": token_hex(16), "embedding": embedding}
        write_settings(folder, {STORE: json.dumps(settings).encode() + b"\n"})


def check_own_memory(folder: Path, trust: bool) -> None:
    """Refuse a memory that is neither the user's own nor inside a run of the user; with `trust`, mark it instead.

    Raises:
        MemoryStoreError: the memory is not marked and there is no `trust`.
    """
    if is_in_own(folder):
        return
    if not trust:
        raise MemoryStoreError(
            "it is not marked as yours: somebody else may have made it, or an earlier Harbor, so its database is not"
            f" opened; if you trust it, once: harbor memory show {shlex.quote(str(folder))} --trust (in Python"
            " trust=True)"
        )
    if (folder / STORE).exists():
        mark(folder)
    else:
        begin_own(folder, None)


def embedding_named(folder: Path) -> str | None:
    """Return the embedding in a memory's ``store.json``. None: the file names none or is unreadable."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        named = json.loads(read_sent(folder / STORE, MOST_SETTINGS))["embedding"]
        return named if isinstance(named, str) else None
    return None


def embedding_marked(folder: Path) -> str | None:
    """Return the embedding in a memory's ``store.json`` if the file is under the user's mark; otherwise None."""
    return embedding_named(folder) if is_own(folder) else None
