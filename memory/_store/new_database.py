"""Makes the database of a new memory: an empty one of Chroma, with what it lacks to be quick."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from harbor._core.private_files import open_private
from harbor.memory._store.clients import in_folder
from harbor.memory._store.place import DATABASE


def make_database(database: Path) -> None:
    """Create the database, whole or not at all."""
    new = database.with_suffix(".new")
    new.unlink(missing_ok=True)
    with open_private(new, "xb") as file:
        file.write(_empty_database())
    new.replace(database)


@cache
def _empty_database() -> bytes:
    """Make an empty database of Chroma with what it lacks to be quick.

    With a write-ahead log a put waits for one disk sync instead of five. And Chroma looks for what is new of a
    collection whenever it is read or written: without an index it reads the whole log of all collections for that.
    """
    with TemporaryDirectory(prefix="harbor-empty-", ignore_cleanup_errors=True) as place, ExitStack() as stack:
        in_folder(Path(place), stack)
        copy = Path(place, "copy")  # as Chroma has an SQLite of its own, and two on one file undo each other's locks
        shutil.copyfile(Path(place, DATABASE), copy)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("pragma journal_mode=wal")
            connection.execute("create index harbor_log on embeddings_queue (topic, seq_id)")
            connection.commit()
        return copy.read_bytes()
