"""Opens the collections of a store: in this process alone, in a folder with one writer, or on a Chroma server."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from filelock import FileLock, Timeout

from harbor._core.basics.errors import HarborError, MemoryStoreError
from harbor._core.files.safe_files import FILE, check_folder, make_private, remedy_of
from harbor.memory._store.collection import CollectionStore, Kept
from harbor.memory._store.database import (
    ChromaError,
    NotFoundError,
    in_folder,
    in_this_process,
    indexes_in,
    is_saved,
    make_database,
    on_server,
)
from harbor.memory._store.embedding import Embedding, check_complete, check_metadata, embedding_of, metadata_of
from harbor.memory._store.place import (
    DATABASE,
    NoMemoryError,
    begin_own,
    check_own_memory,
    check_present,
    embedding_marked,
    is_url,
    place_of,
)
from harbor.memory._store.records import Namespace

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

NEIGHBOURS = 32  # with Chroma's 16, one in twenty memories that differ only in a number is not found
LOCK, OPEN = "harbor.lock", "harbor.open"
"""Files in a memory's folder: the lock of its writer, and the mark that a writer has it open."""
OURS = ("harbor", "chroma", "mark", "store")
"""Stems of the files and drafts that an unfinished creation may have left in a folder."""
FAILURES = (ChromaError, httpx.HTTPError, sqlite3.Error, OSError)
"""Errors that get a one-line message with a remedy."""
DAMAGED = "the file is damaged: restore it from a copy, or name another folder"
REMEDIES = {
    "not a database|malformed": DAMAGED,
    "readonly|Read-only": "make it writable",
    "unable to open": "make the folder writable, or let who writes there open more files (`ulimit -n`)",
    "ermission": "make it readable and writable",
    "full|No space|disk I/O": "make room on the disk",
    "backfill|compaction": "the disk may be full or the files damaged: make room, or restore the folder from a copy",
    "onnect": "start the server with `chroma run --path FOLDER`, or name a folder",
}
"""Remedies by a pattern in the error's text."""


@dataclass
class Collections:
    """The collections of a store by namespace. `shared`: other processes may add or change some, as on a server."""

    client: ClientAPI
    prefix: str
    shared: bool
    closing: ExitStack
    known: dict[Namespace, CollectionStore] = field(default_factory=dict)
    _by_prefix: dict[Namespace, list[CollectionStore]] = field(default_factory=lambda: defaultdict(list))
    doubted: dict[str, Path] = field(default_factory=dict)  # index folders by collection id, after a crash

    @property
    def name(self) -> str:
        """Return the name of the collection that describes the store itself."""
        return f"{self.prefix}-store"

    def made(self, namespace: Namespace) -> CollectionStore:
        """Return the collection of a namespace. Create the collection if there is none."""
        if namespace not in self.known:
            labels = json.dumps(namespace)
            found = self.client.get_or_create_collection(
                f"{self.prefix}-{hashlib.sha256(labels.encode()).hexdigest()[:40]}",
                embedding_function=None,
                metadata={"namespace": labels},
                configuration={"hnsw": {"space": "cosine", "max_neighbors": NEIGHBOURS}},
            )
            self._add(CollectionStore(namespace, _inert(found), kept=None if self.shared else Kept()))
        return self.known[namespace]

    def under(self, prefix: Namespace = ()) -> list[CollectionStore]:
        """Return the collections of all known namespaces with this prefix."""
        return self._by_prefix.get(prefix, [])

    def open(self, wanted: Embedding | None, trusted: str | None) -> Embedding:
        """Open the store's description, and refuse another embedding or another program's database.

        Returns `wanted` or, if that is None, the embedding of the existing memory.
        """
        try:
            found = dict(self.client.get_collection(self.name, embedding_function=None).metadata or {})
        except NotFoundError:
            if wanted is None:
                raise NoMemoryError("it has no memory yet; name another") from None
            self.client.get_or_create_collection(
                self.name, embedding_function=None, metadata=dict(metadata_of(wanted))
            )  # another process may be the first
            found = dict(self.client.get_collection(self.name, embedding_function=None).metadata or {})
        check_complete(found)
        embedding = wanted or embedding_of(found, trusted)
        check_metadata(found, metadata_of(embedding))
        self.look_again()
        return embedding

    def torn(self, dimension: int) -> Iterator[CollectionStore]:
        """Yield each collection whose index was saved only in part, after the removal of that index.

        Chroma then rebuilds it. The memories themselves are whole, in SQLite. Chroma saves the index in several files,
        one after another.
        """
        for collection in self.known.values():
            index = self.doubted.get(str(collection.rows.id))
            if index and not (is_saved(index) and collection.sound(dimension)):
                # Rename before removal: a kill in between then leaves no half-removed index in place.
                with TemporaryDirectory(prefix="harbor-torn-", dir=index.parent) as torn:
                    index.rename(Path(torn, index.name))
                yield collection

    def forget_all(self) -> None:
        """Delete every collection of a store that lives only in this process."""
        for raw in self.client.list_collections():
            if raw.name.startswith(self.prefix):
                self.client.delete_collection(raw.name)

    def look_again(self) -> None:
        """Add the namespaces that appeared in the database since the last look."""
        for raw in self.client.list_collections():
            labels = (raw.metadata or {}).get("namespace")
            if labels and raw.name.startswith(f"{self.prefix}-"):
                namespace = tuple(json.loads(labels))
                if namespace not in self.known:
                    self._add(CollectionStore(namespace, _inert(raw)))

    def _add(self, collection: CollectionStore) -> None:
        namespace = collection.namespace
        self.known[namespace] = collection
        for depth in range(len(namespace) + 1):
            self._by_prefix[namespace[:depth]].append(collection)


def _inert(raw: Collection) -> Collection:
    """Remove the embedding function from a collection: Chroma would build it as the file says, code included.

    A file from somebody else may name any function. Harbor passes vectors to Chroma and needs no function.
    """
    model = raw.get_model()
    model["serialized_schema"], model["configuration_json"] = None, {}
    return raw


@contextmanager
def plain_errors(place: str, failures: tuple[type[Exception], ...] = FAILURES) -> Iterator[None]:
    """Turn errors of Chroma, SQLite, the disk and the network into one line: place, cause and remedy."""
    try:
        yield
    except HarborError as error:
        kind = NoMemoryError if isinstance(error, NoMemoryError) else MemoryStoreError
        raise kind(str(error) if place in str(error) else f"{place}: {error}") from error
    except BaseException as error:
        if not isinstance(error, failures) and type(error).__name__ != "PanicException":  # Chroma's own, in Rust
            raise
        told = " ".join(str(error).split()) or type(error).__name__
        usual = next((remedy for signs, remedy in REMEDIES.items() if re.search(signs, told)), "see the cause above")
        remedy = remedy_of(error, usual)
        raise MemoryStoreError(f"{place}: {told}; {remedy}") from error


def open_collections(
    where: str | Path | None, wanted: Embedding | None, trusted: str | None, trust: bool = False
) -> tuple[Collections, Embedding]:
    """Open a memory in this process (None), on a server (`http://host:port`) or in a folder.

    Create a missing memory, unless no embedding is given. A folder has to be the user's own; `trust` marks it so.
    `trusted` names an embedding that the user trusts.
    """
    with plain_errors(place_of(where), (*FAILURES, ValueError)), ExitStack() as stack:
        if wanted is None and where is not None:
            check_present(where)
        if where is not None and not is_url(where):
            trusted = _vetted(Path(where).absolute(), wanted, trusted, trust)
        collections = _collections(where, stack)
        embedding = collections.open(wanted, trusted)
        collections.closing = stack.pop_all()
        return collections, embedding


def _collections(where: str | Path | None, stack: ExitStack) -> Collections:
    if where is None:
        return _ephemeral(stack)
    return _server(str(where), stack) if is_url(where) else _folder(Path(where).absolute(), stack)


def _vetted(folder: Path, wanted: Embedding | None, trusted: str | None, trust: bool) -> str | None:
    """Check that a folder is the user's own, or mark it, before its database opens. Return the trusted embedding."""
    if not (folder / DATABASE).exists():
        _begin(folder)
        begin_own(folder, wanted.name if wanted else None)
        return trusted
    check_folder(folder)
    check_own_memory(folder, trust)
    return trusted or embedding_marked(folder)


def _ephemeral(stack: ExitStack) -> Collections:
    """Open a memory in this process. Chroma's ephemeral clients share their data; a prefix isolates each store."""
    collections = Collections(in_this_process(stack), f"harbor-{uuid4().hex}", shared=False, closing=stack)
    stack.callback(collections.forget_all)
    return collections


def _server(address: str, stack: ExitStack) -> Collections:
    parts = urlsplit(address)
    client = on_server(parts.hostname or "localhost", parts.port or 8000, parts.scheme == "https", stack)
    return Collections(client, "harbor", shared=True, closing=stack)


def _folder(folder: Path, stack: ExitStack) -> Collections:
    database = folder / DATABASE
    if database.exists() and not database.stat().st_size:
        raise MemoryStoreError(f"{DATABASE} is empty: {DAMAGED}")
    try:
        stack.enter_context(FileLock(folder / LOCK, timeout=0, mode=FILE))
    except Timeout:
        raise MemoryStoreError(
            f"another process or store is writing there; close that one, or run `chroma run --path {folder}`"
            " and give both its address, http://localhost:8000"
        ) from None
    if not database.exists():
        make_database(database)
    opened = folder / OPEN
    doubted = indexes_in(folder) if opened.exists() else {}
    opened.touch(FILE)
    # After a crash or a failed opening this file stays, so the next opening checks each index.
    stack.push(lambda error, *_: None if error else opened.unlink(missing_ok=True))
    found = Collections(in_folder(folder, stack), "harbor", shared=False, closing=stack, doubted=doubted)
    names = {raw.name for raw in found.client.list_collections()}
    if names and found.name not in names:
        raise MemoryStoreError("it has a Chroma database that Harbor did not make; name another")
    return found


def _begin(folder: Path) -> None:
    if folder.exists() and (
        not folder.is_dir() or any(one.name.lstrip(".").partition(".")[0] not in OURS for one in folder.iterdir())
    ):
        raise MemoryStoreError("it is neither a memory nor an empty folder; name another")
    make_private(folder, exist_ok=True)
