"""Opens Chroma's databases with Harbor's settings alone, makes new databases, and finds indexes.

Chroma would also take settings, even the address of a server, from the environment and from a `.env` in the
current folder. It reads both when it is imported.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import BaseModel
from pydantic_settings import BaseSettings

from harbor._core.files.safe_files import open_private
from harbor.memory._store.place import DATABASE

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


@contextmanager
def _unread() -> Iterator[None]:
    """Keep Chroma from reading its settings during the import: a `.env` that it can't read would be an error."""
    usual = BaseSettings.__init__

    def given(settings: BaseSettings, /, **values: Any) -> None:
        begin = BaseModel.__init__ if type(settings).__module__ == "chromadb.config" else usual
        begin(settings, **values)

    BaseSettings.__init__ = given  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        BaseSettings.__init__ = usual  # type: ignore[method-assign]


with _unread():
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import ChromaError as ChromaError
    from chromadb.errors import InternalError as InternalError
    from chromadb.errors import NotFoundError as NotFoundError


PATIENCE_SECONDS = 60  # timeout per request to a server; Chroma itself would wait forever


def in_this_process(stack: ExitStack) -> ClientAPI:
    """Open a memory that ends with this process."""
    return _closed_at_the_end(chromadb.EphemeralClient(_given()), stack)


def in_folder(folder: Path, stack: ExitStack) -> ClientAPI:
    """Open the database of a folder."""
    return _closed_at_the_end(chromadb.PersistentClient(folder, _given(anonymized_telemetry=False)), stack)


def on_server(host: str, port: int, ssl: bool, stack: ExitStack) -> ClientAPI:
    """Connect to a server."""
    client: Any = chromadb.HttpClient(host, port, ssl, settings=_given())
    _closed_at_the_end(client, stack)
    for connected in (client, client._admin_client):  # Chroma never closes these two
        session: httpx.Client = connected._server._session
        session.timeout = httpx.Timeout(PATIENCE_SECONDS)
        stack.callback(session.close)
    opened: ClientAPI = client
    return opened


def _given(**settings: Any) -> Settings:
    """Return Chroma's defaults with these settings. The usual constructor would read the environment."""
    return Settings.model_construct(**settings)


def _closed_at_the_end(client: Any, stack: ExitStack) -> ClientAPI:
    stack.callback(client.close)  # missing from Chroma's type `ClientAPI`
    opened: ClientAPI = client
    return opened


def make_database(database: Path) -> None:
    """Create the database, whole or not at all."""
    new = database.with_suffix(".new")
    new.unlink(missing_ok=True)
    with open_private(new, "xb") as file:
        file.write(_empty_database())
    new.replace(database)


@cache
def _empty_database() -> bytes:
    """Return an empty Chroma database with two changes for speed.

    With a write-ahead log, a put waits for one disk sync instead of five. The index avoids a scan: on every read and
    write, Chroma looks for news of a collection in the log of all collections.
    """
    with TemporaryDirectory(prefix="harbor-empty-", ignore_cleanup_errors=True) as place, ExitStack() as stack:
        in_folder(Path(place), stack)
        copy = Path(place, "copy")  # two SQLite libraries (Chroma has its own) on one file undo each other's locks
        shutil.copyfile(Path(place, DATABASE), copy)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("pragma journal_mode=wal")
            connection.execute("create index harbor_log on embeddings_queue (topic, seq_id)")
            connection.commit()
        return copy.read_bytes()


UUID = "-".join("[0-9a-f]" * digits for digits in (8, 4, 4, 4, 12))
"""Glob pattern for a UUID."""


def indexes_in(folder: Path) -> dict[str, Path]:
    """Return the folder of each collection's index by the id of the collection; such folders have a UUID as their name.

    A database from somebody else could contain any path, so its ids are only compared with names in the folder. A copy
    of the database is read: Chroma's own SQLite may still hold the files, and two SQLite libraries in one process undo
    each other's locks, or crash.
    """
    there = {path.name: path for path in folder.glob(UUID) if path.is_dir()}
    with TemporaryDirectory() as place, closing(sqlite3.connect(_copied(folder, Path(place)))) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'segments'").fetchone():
            return {}
        found = connection.execute("select collection, id from segments where scope = 'VECTOR'")
        return {collection: there[segment] for collection, segment in found if segment in there}


def _copied(folder: Path, place: Path) -> Path:
    """Copy a database and the write-ahead log of a killed process. Return the copy.

    Chroma may remove the log after it has closed the database. The log is copied first: if it is gone by then, the
    database has all of it.
    """
    for name in (f"{DATABASE}-wal", DATABASE):
        with suppress(FileNotFoundError):
            shutil.copyfile(folder / name, place / name)
    return place / DATABASE


def is_saved(index: Path) -> bool:
    """Return whether an index was saved completely. Chroma writes its list of contents last."""
    contents = index / "index_metadata.pickle"
    return contents.exists() and all(f.stat().st_mtime_ns <= contents.stat().st_mtime_ns for f in index.iterdir())
