"""Where a store keeps its shelves: in this process alone, in a folder with one writer, or on a Chroma server."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import chromadb
import httpx
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from filelock import FileLock, Timeout

from harbor._core.errors import HarborError, MemoryStoreError
from harbor.memory._store.collection import CollectionStore
from harbor.memory._store.embedding import Embedding
from harbor.memory._store.matching import Namespace
from harbor.memory._store.metadata import check_mark, embedding_of, mark_of
from harbor.memory._store.place import DATABASE, NoMemoryError, check_present, is_url, place_of

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

NEIGHBOURS = 32  # Chroma's 16 lose one in twenty memories that differ in a number only
PATIENCE_SECONDS = 60  # with a server that does not answer; without it Chroma would wait for ever
LOCK, OPEN = "harbor.lock", "harbor.open"
UUID = "-".join("[0-9a-f]" * digits for digits in (8, 4, 4, 4, 12))
FAILURES = (ChromaError, httpx.HTTPError, sqlite3.Error, OSError)
REMEDIES = {
    "not a database": "the file is damaged: restore it from a copy, or name another folder",
    "malformed": "the file is damaged: restore it from a copy, or name another folder",
    "readonly": "make it writable",
    "unable to open": "make the folder writable",
    "ermission": "make it readable and writable",
    "Read-only": "make it writable",
    "full": "make room on the disk",
    "No space": "make room on the disk",
    "disk I/O": "make room on the disk",
    "backfill": "the disk may be full or the files damaged: make room, or restore the folder from a copy",
    "compaction": "the disk may be full or the files damaged: make room, or restore the folder from a copy",
    "onnect": "start the server with `chroma run --path FOLDER`, or name a folder",
}


@dataclass
class Collections:
    """A store's shelves by namespace. `shared` means that others may add some meanwhile: on a server."""

    client: ClientAPI
    prefix: str
    shared: bool
    closing: ExitStack
    known: dict[Namespace, CollectionStore] = field(default_factory=dict)
    doubted: dict[str, Path] = field(default_factory=dict)  # each collection's index, if the folder was not closed

    def at(self, namespace: Namespace) -> CollectionStore | None:
        """Return the shelf of a namespace, if it has one."""
        if namespace not in self.known and self.shared:
            self._look_again()
        return self.known.get(namespace)

    def made(self, namespace: Namespace) -> CollectionStore:
        """Return the shelf of a namespace, made now if need be."""
        if namespace not in self.known:
            labels = json.dumps(namespace)
            rows = self.client.get_or_create_collection(
                f"{self.prefix}-{hashlib.sha256(labels.encode()).hexdigest()[:40]}",
                embedding_function=None,
                metadata={"namespace": labels},
                configuration={"hnsw": {"space": "cosine", "max_neighbors": NEIGHBOURS}},
            )
            self.known[namespace] = CollectionStore(namespace, rows)
        return self.known[namespace]

    def under(self, prefix: Namespace = ()) -> list[CollectionStore]:
        """Return the shelves of all namespaces that begin so."""
        if self.shared:
            self._look_again()
        return [shelf for namespace, shelf in self.known.items() if namespace[: len(prefix)] == prefix]

    def open(self, wanted: Embedding | None, trusted: str | None) -> Embedding:
        """Look at what is there; refuse it if it was made with another embedding or by something else.

        Returns the embedding: that which is wanted, or where none is, that which the memory was made with.
        """
        name = f"{self.prefix}-store"
        try:
            found = dict(self.client.get_collection(name, embedding_function=None).metadata)
        except NotFoundError:
            if not self.shared and self.client.count_collections():
                raise MemoryStoreError("it holds a Chroma database that Harbor did not make; name another") from None
            if wanted is None:
                raise NoMemoryError("it holds no memory yet; name another") from None
            self.client.create_collection(name, embedding_function=None, metadata=dict(mark_of(wanted)))
            return wanted
        embedding = wanted or embedding_of(found, trusted)
        check_mark(found, mark_of(embedding))
        self._look_again()
        return embedding

    def torn(self, dimension: int) -> Iterator[CollectionStore]:
        """Yield the shelves whose index a killed process left torn, each with the index taken away, to be made anew.

        What was remembered is in SQLite, whole; the index beside it is in files that Chroma saves one after another.
        """
        for shelf in self.known.values():
            index = self.doubted.get(str(shelf.rows.id))
            if index and not (_saved(index) and shelf.sound(dimension)):
                with TemporaryDirectory(prefix="harbor-torn-", dir=index.parent) as torn:
                    index.rename(Path(torn, index.name))
                yield shelf

    def forget_all(self) -> None:
        """Delete every shelf: the memory of a store that lives only in this process."""
        for collection in self.client.list_collections():
            if collection.name.startswith(self.prefix):
                self.client.delete_collection(collection.name)

    def _look_again(self) -> None:
        for collection in self.client.list_collections():
            labels = (collection.metadata or {}).get("namespace")
            if labels and collection.name.startswith(f"{self.prefix}-"):
                namespace = tuple(json.loads(labels))
                self.known.setdefault(namespace, CollectionStore(namespace, collection))


def _indexes(folder: Path) -> dict[str, Path]:
    """Read which collection has which index, of those in the folder: what a file names may be anywhere.

    This is done before Chroma opens the database: it has an SQLite of its own, and two in one process undo each other's
    locks.
    """
    there = {path.name: path for path in folder.glob(UUID) if path.is_dir()}
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'segments'").fetchone():
            return {}
        found = connection.execute("select collection, id from segments where scope = 'VECTOR'")
        return {collection: there[segment] for collection, segment in found if segment in there}


def _saved(index: Path) -> bool:
    """Say whether an index was saved to the end: Chroma writes the list of what it holds last."""
    contents = index / "index_metadata.pickle"
    return contents.exists() and all(f.stat().st_mtime_ns <= contents.stat().st_mtime_ns for f in index.iterdir())


@contextmanager
def plain_errors(place: str, failures: tuple[type[Exception], ...] = FAILURES) -> Iterator[None]:
    """Turn what Chroma, SQLite, the disk and the network raise into one line: where, what, and the remedy."""
    try:
        yield
    except HarborError as error:
        kind = NoMemoryError if isinstance(error, NoMemoryError) else MemoryStoreError
        raise kind(str(error) if place in str(error) else f"{place}: {error}") from error
    except BaseException as error:
        if not isinstance(error, failures) and type(error).__name__ != "PanicException":  # Chroma's own, in Rust
            raise
        told = " ".join(str(error).split()) or type(error).__name__
        remedy = next((remedy for sign, remedy in REMEDIES.items() if sign in told), "see the cause above")
        raise MemoryStoreError(f"{place}: {told}; {remedy}") from error


def open_shelves(
    where: str | Path | None, wanted: Embedding | None, trusted: str | None
) -> tuple[Collections, Embedding]:
    """Open the memory in this process (None), on a server (`http://host:port`) or in a folder.

    It is made where there is none, unless no embedding is wanted.
    """
    with plain_errors(place_of(where), (*FAILURES, ValueError)), ExitStack() as stack:
        if wanted is None and where is not None:
            check_present(where)
        shelves = _opener(where)(stack)
        embedding = shelves.open(wanted, trusted)
        shelves.closing = stack.pop_all()
        return shelves, embedding


def _opener(where: str | Path | None) -> Callable[[ExitStack], Collections]:
    if where is None:
        return _ephemeral
    if is_url(where):
        return lambda stack: _server(str(where), stack)
    return lambda stack: _folder(Path(where).absolute(), stack)


def _ephemeral(stack: ExitStack) -> Collections:
    """Chroma shares one memory among all ephemeral clients of a process: a prefix of its own keeps a store apart."""
    client = _closed_at_the_end(chromadb.EphemeralClient(), stack)
    shelves = Collections(client, f"harbor-{uuid4().hex}", shared=True, closing=stack)
    stack.callback(shelves.forget_all)
    return shelves


def _server(address: str, stack: ExitStack) -> Collections:
    parts = urlsplit(address)
    client: Any = chromadb.HttpClient(parts.hostname or "localhost", parts.port or 8000, ssl=parts.scheme == "https")
    _closed_at_the_end(client, stack)
    for connected in (client, client._admin_client):  # Chroma never closes these two
        session: httpx.Client = connected._server._session
        session.timeout = httpx.Timeout(PATIENCE_SECONDS)
        stack.callback(session.close)
    return Collections(client, "harbor", shared=True, closing=stack)


def _folder(folder: Path, stack: ExitStack) -> Collections:
    database = folder / DATABASE
    if not database.exists():
        _begin(folder)
    elif not database.stat().st_size:
        raise MemoryStoreError(f"{DATABASE} is empty: {REMEDIES['malformed']}")
    if link := next((path for path in folder.rglob("*") if path.is_symlink()), None):
        raise MemoryStoreError(f"it holds a link, {link.name!r}, which may lead out of it; put a copy in its place")
    try:
        stack.enter_context(FileLock(folder / LOCK, timeout=0))
    except Timeout:
        raise MemoryStoreError(
            f"another process or store is writing there; close that one, or run `chroma run --path {folder}`"
            " and give both its address, http://localhost:8000"
        ) from None
    if not database.exists():
        _make(database)
    mark = folder / OPEN
    doubted = _indexes(folder) if mark.exists() else {}
    mark.touch()
    stack.push(lambda error, *_: None if error else mark.unlink(missing_ok=True))  # what failed to open stays in doubt
    settings = Settings(anonymized_telemetry=False)
    client = _closed_at_the_end(chromadb.PersistentClient(folder, settings=settings), stack)
    return Collections(client, "harbor", shared=False, closing=stack, doubted=doubted)


def _closed_at_the_end(client: Any, stack: ExitStack) -> ClientAPI:
    stack.callback(client.close)  # Chroma's type does not tell of it
    opened: ClientAPI = client
    return opened


def _make(database: Path) -> None:
    """Make it with a log ahead of the file: a put then waits for one sync of the disk, not for five."""
    new = database.with_suffix(".new")
    with closing(sqlite3.connect(new)) as connection:
        connection.execute("pragma journal_mode=wal")
    new.replace(database)


def _begin(folder: Path) -> None:
    if folder.exists() and (
        not folder.is_dir() or any(path.stem not in ("harbor", "chroma") for path in folder.iterdir())
    ):
        raise MemoryStoreError("it is neither a memory nor an empty folder; name another")
    folder.mkdir(parents=True, exist_ok=True)
