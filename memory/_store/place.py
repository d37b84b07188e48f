"""A memory is in this process, in a folder, perhaps inside that of a run, or on a server; a stranger's is not opened.

Nothing is opened or loaded because a file names it: no SQLite of a stranger's, and no model, which may run code. Beside
the database of a memory stands ``store.json``, with its embedding and an id of its own, under the user's mark: so what
a memory is can be told before anything of the database is read.
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


SENTENCE_TRANSFORMERS = "sentence-transformers"


def check_trusted(name: str, trusted: str | None) -> None:
    """Refuse a model that a file names and the user does not: a model that somebody sent may run code.

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
    """Mark a new memory as the user's own, unless it is inside what a driver vouches for."""
    if not is_vouched(folder):
        settings = {"id": token_hex(16), "embedding": embedding}
        write_settings(folder, {STORE: json.dumps(settings).encode() + b"\n"})


def check_own_memory(folder: Path, trust: bool) -> None:
    """Refuse a memory that is not the user's own, nor inside a run that is; with `trust`, mark it.

    Raises:
        MemoryStoreError: it is a stranger's.
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
    """Give the embedding that a memory's ``store.json`` names; None: it names none."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        named = json.loads(read_sent(folder / STORE, MOST_SETTINGS))["embedding"]
        return named if isinstance(named, str) else None
    return None


def embedding_marked(folder: Path) -> str | None:
    """Give the embedding that a memory has under the user's mark; None: it has none there."""
    return embedding_named(folder) if is_own(folder) else None
