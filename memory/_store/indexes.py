"""The indexes that Chroma keeps beside its database: which are there, and which were saved completely."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from harbor.memory._store.place import DATABASE

UUID = "-".join("[0-9a-f]" * digits for digits in (8, 4, 4, 4, 12))


def indexes_in(folder: Path) -> dict[str, Path]:
    """Find the index of each collection, among the subfolders named by a UUID.

    Paths in a database that somebody sent could lead anywhere, so they are only compared with names in the folder. A
    copy is read: Chroma has an SQLite of its own, which may still be letting go of the files, and two in one process
    undo each other's locks, or crash it.
    """
    there = {path.name: path for path in folder.glob(UUID) if path.is_dir()}
    with TemporaryDirectory() as place, closing(sqlite3.connect(_copied(folder, Path(place)))) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'segments'").fetchone():
            return {}
        found = connection.execute("select collection, id from segments where scope = 'VECTOR'")
        return {collection: there[segment] for collection, segment in found if segment in there}


def _copied(folder: Path, place: Path) -> Path:
    """Copy a database with what a killed process has left beside it."""
    for name in (f"{DATABASE}-wal", DATABASE):
        if (folder / name).exists():
            shutil.copyfile(folder / name, place / name)
    return place / DATABASE


def is_saved(index: Path) -> bool:
    """Say whether an index was saved completely: Chroma writes its list of contents last."""
    contents = index / "index_metadata.pickle"
    return contents.exists() and all(f.stat().st_mtime_ns <= contents.stat().st_mtime_ns for f in index.iterdir())
