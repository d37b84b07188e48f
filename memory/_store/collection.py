"""The memories of one namespace: a Chroma collection of its own, so no search can find other memories.

A folder has one writer, so its process can cache small namespaces without becoming stale. A server has several
writers, so nothing is cached there.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from harbor.memory._store.database import InternalError
from harbor.memory._store.embedding import Vectors
from harbor.memory._store.records import EXPIRES, RECORD, Namespace, Record, row_id, row_of

if TYPE_CHECKING:
    from chromadb import Collection

KEPT_ROWS = 2_000
"""The greatest number of memories in a cached namespace; ranking so many takes about 2 ms."""
KEPT_BYTES = 64 * 2**20
"""The greatest number of bytes of all cached namespaces."""
OF_A_RECORD = 1_000
"""Rough size of a memory in bytes, without its text and its vectors."""
NO_ROW = np.zeros((0, 0), np.float32)
"""Vectors of a memory without an indexed text."""
Scored = tuple[float, Record]
"""A memory after its score, the cosine similarity to the query."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search by meaning: its vector, its limit of memories, and the test that a memory has to pass."""

    vector: Vectors
    wanted: int
    fits: Callable[[Record], bool]
    is_filtered: bool = False

    def best(self, rows: Iterable[tuple[str, float]], records: Mapping[str, Record]) -> list[Scored]:
        """Return the first `wanted` memories that fit.

        Args:
            rows: Key and score of the rows, best first.
            records: Memories by key.
        """
        found: dict[str, Scored] = {}
        for key, score in rows:
            if len(found) == self.wanted:
                break
            if key not in found and self.fits(record := records[key]):
                found[key] = score, record
        return list(found.values())


@dataclass(slots=True)
class Kept:
    """The cache of one namespace: all memories in the order of their first storing, each with its vectors."""

    records: dict[str, Record] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    size: int = 0
    _table: tuple[list[str], Vectors] | None = None

    def put(self, record: Record, vectors: Vectors) -> None:
        """Store a memory, over the old one of its key if any."""
        self.size += _size(record, vectors) - self._size_of(record.key)
        self.records[record.key], self.vectors[record.key] = record, vectors
        self._table = None

    def drop(self, key: str) -> None:
        """Remove a memory if it is there."""
        self.size -= self._size_of(key)
        self.records.pop(key, None)
        self.vectors.pop(key, None)
        self._table = None

    def nearest(self, queries: Sequence[Query]) -> list[list[Scored]]:
        """Rank all memories exactly. Return the best ones for each query."""
        if self._table is None:
            keys = [key for key, own in self.vectors.items() for _ in own]
            self._table = keys, np.concatenate([own for own in self.vectors.values() if len(own)] or [NO_ROW])
        keys, table = self._table
        return (
            [query.best(_ordered(keys, table, query.vector), self.records) for query in queries]
            if keys
            else [[]] * len(queries)
        )

    def _size_of(self, key: str) -> int:
        return _size(self.records[key], self.vectors[key]) if key in self.records else 0


def _size(record: Record, vectors: Vectors) -> int:
    return OF_A_RECORD + len(record.value) + 2 * int(vectors.nbytes)  # twice: they are in the table of all memories too


def _ordered(keys: Sequence[str], table: Vectors, vector: Vectors) -> Iterator[tuple[str, float]]:
    scores = table @ vector
    return ((keys[row], float(scores[row])) for row in np.argsort(-scores, kind="stable").tolist())


class Shelf:
    """The cached namespaces, least recently used first. The oldest are dropped when the cache is full."""

    def __init__(self) -> None:
        self._sizes: dict[Namespace, tuple[int, CollectionStore]] = {}
        self._total = 0

    def use(self, collections: Sequence[CollectionStore]) -> None:
        """Note the used collections; empty caches without staged writes, the oldest first, until all caches fit."""
        for one in collections:
            before, _ = self._sizes.pop(one.namespace, (0, one))
            self._total -= before
            if one.kept is not None and len(one.kept.records) > KEPT_ROWS and not one.staged:
                one.size, one.kept = len(one.kept.records), None
            if one.kept is not None:
                self._sizes[one.namespace] = one.kept.size + OF_A_RECORD, one
                self._total += one.kept.size + OF_A_RECORD
        for size, oldest in [*self._sizes.values()] if self._total > KEPT_BYTES else ():
            if self._total > KEPT_BYTES and not oldest.staged:
                del self._sizes[oldest.namespace]
                self._total -= size
                oldest.kept = None


FIRST_PAGE, PAGE, WITH_VECTORS = 64, 500, 200  # rows per read; more would block other threads
FEW = 200  # rows; up to this number Harbor ranks exactly: Chroma's index loses rows that change often
NOBODY = "0:"  # id of a row that can't exist, as no key is empty
QUERIES_AT_ONCE = 4  # Chroma holds the interpreter's lock during a search; 4 queries take about 10 ms
Stored = tuple[Record, Vectors]
T = TypeVar("T")


@dataclass(slots=True)
class CollectionStore:
    """The memories of one namespace.

    A memory has one row per vector, named `<number>:<key>`. Row 0 has the record, which says how many rows belong to
    the memory. One upsert writes all rows or none, so a memory is whole or absent after a crash. Rows left over from
    a longer earlier value are ignored until they are deleted.

    `size` is the last count of rows. `kept` is the cache of all memories, None without one. `staged` has the memories
    that `commit` will write (None: delete). `fetched` has Chroma's memories of some keys during a batch. Reads of
    single memories see all three. Searches see staged memories only in the cache.
    """

    namespace: Namespace
    rows: Collection
    size: int = 0
    kept: Kept | None = None
    staged: dict[str, Stored | None] = field(default_factory=dict)
    fetched: dict[str, Record | None] = field(default_factory=dict)
    _before: dict[str, Record] = field(default_factory=dict)

    def sound(self, dimension: int) -> bool:
        """Return whether the index can be read. A process killed while Chroma saves an index leaves the index torn."""
        try:
            self.rows.query(query_embeddings=np.ones((1, dimension), dtype=np.float32), n_results=1, include=[])
        except InternalError:
            return False
        return True

    def get(self, key: str) -> Record | None:
        """Return the memory of a key; None if there is none."""
        if key in self.staged:
            stored = self.staged[key]
            return stored and stored[0]
        if self.kept is not None:
            return self.kept.records.get(key)
        self.fetch([key])
        return self.fetched[key]

    def fetch(self, keys: Iterable[str]) -> None:
        """Read the memories of these keys from Chroma in few calls, unless they are known."""
        unknown = [key for key in keys if key not in self.fetched] if self.kept is None else []
        for start in range(0, len(unknown), PAGE):
            page = unknown[start : start + PAGE]
            found = self.rows.get(ids=[row_id(key) for key in page], include=["metadatas"])
            self.fetched |= dict.fromkeys(page)
            self.fetched |= {one.key: one for one in self._records(found["ids"], found["metadatas"] or [])}

    def keep(self) -> None:
        """Cache all memories from now on, unless they are too many."""
        if self.kept is None and self._count(KEPT_ROWS) <= KEPT_ROWS:
            self.kept = self._read(self.all())

    def all(self) -> Iterator[Record]:
        """Yield every memory in the order of first storing. Without a cache, nothing may be staged."""
        if self.kept is not None:
            yield from [*self.kept.records.values()]
            return
        offset, size, is_last = 0, FIRST_PAGE, False
        while not is_last:
            page = self.rows.get(limit=size, offset=offset, include=["metadatas"])
            yield from self._records(page["ids"], page["metadatas"] or [])
            is_last = len(page["ids"]) < size
            offset, size = offset + size, PAGE

    def nearest(self, queries: Sequence[Query]) -> list[list[Scored]]:
        """Return the memories nearest to each query, best first: exactly, or by Chroma's index if they are many."""
        if self.kept is not None:
            return self.kept.nearest(queries)
        found: dict[int, list[Scored]] = {}
        many = self._count(FEW) > FEW
        indexed = [place for place, query in enumerate(queries) if many and not query.is_filtered]
        for start in range(0, len(indexed), QUERIES_AT_ONCE):
            places = indexed[start : start + QUERIES_AT_ONCE]
            answers = self._by_index([queries[place] for place in places])
            enough = zip(places, answers, strict=True)
            found |= {place: best for place, best in enough if len(best) == queries[place].wanted}
        rest = [place for place in range(len(queries)) if place not in found]
        if rest:
            found |= zip(rest, self._exactly([queries[place] for place in rest]), strict=True)
        return [found[place] for place in range(len(queries))]

    def _by_index(self, queries: Sequence[Query]) -> list[list[Scored]]:
        """Search with Chroma's index. It may find too few: rows may share a memory, have expired, or not be indexed."""
        vectors, most = [query.vector.tolist() for query in queries], max(query.wanted for query in queries) + 10
        ask = partial(self.rows.query, query_embeddings=vectors, n_results=most, include=["metadatas", "distances"])
        answer = self._with_index(ask)
        every, rows, distances = answer["ids"], answer["metadatas"] or [], answer["distances"] or []
        records = {one.key: one for ids, own in zip(every, rows, strict=True) for one in self._records(ids, own)}
        self.fetch({key for ids in every for key, _ in map(row_of, ids)} - set(records))
        records |= {key: record for key, record in self.fetched.items() if record}
        found = []
        for ids, own, query in zip(every, distances, queries, strict=True):
            scored = zip(map(row_of, ids), own, strict=True)
            indexed = ((key, 1 - far) for (key, row), far in scored if key in records and row < records[key].vectors)
            found.append(query.best(indexed, records))
        return found

    def _with_index(self, read: Callable[[], T]) -> T:
        """Read vectors, and repair the index once if that fails.

        If more namespaces are open than Chroma has files for, Chroma forgets an index that was never saved. A write to
        the collection brings the index back.
        """
        try:
            return read()
        except InternalError:
            self.rows.delete(ids=[NOBODY])
            return read()

    def _exactly(self, queries: Sequence[Query]) -> list[list[Scored]]:
        found: list[list[Scored]] = [[] for _ in queries]
        fitting = (one for one in self.all() if any(query.fits(one) for query in queries))
        while page := list(islice(fitting, WITH_VECTORS)):
            for every, best in zip(found, self._read(page).nearest(queries), strict=True):
                every += best
        return found

    def _read(self, records: Iterable[Record]) -> Kept:
        """Read the vectors of these memories. Return both as a cache."""
        kept, vectors = Kept(), dict[str, Vectors]()
        every = list(records)
        names = [name for record in every for name in record.ids()[: record.vectors]]
        for start in range(0, len(names), WITH_VECTORS):
            some = names[start : start + WITH_VECTORS]
            page = self._with_index(partial(self.rows.get, ids=some, include=["embeddings"]))
            vectors |= zip(page["ids"], np.asarray(page["embeddings"], np.float32), strict=True)
        for record in every:
            own = [vectors[name] for name in record.ids()[: record.vectors] if name in vectors]  # others delete
            kept.put(record, np.stack(own) if own else NO_ROW)
        return kept

    def stage(self, key: str, stored: Stored | None) -> None:
        """Put a memory, or delete it (None), so that reads see the change before `commit` writes it.

        Commit a staged deletion before another put to its key: only then does the memory move to the end.
        """
        if (now := self.get(key)) and key not in self.staged:
            self._before[key] = now
        self.staged[key] = stored
        if self.kept is not None:
            self.kept.put(*stored) if stored else self.kept.drop(key)

    def commit(self, at_once: int) -> None:
        """Write the staged memories, `at_once` per call of Chroma. After an error nothing is staged any longer."""
        staged, before = self.staged, self._before
        self.staged, self._before = {}, {}
        stored = [one for one in staged.values() if one]
        try:
            for start in range(0, len(stored), at_once):
                self._upsert(stored[start : start + at_once])
            self._drop(_names(before.values()) - _names(record for record, _ in stored))
        except BaseException:
            self.abandon()
            raise
        self.fetched |= {key: one and one[0] for key, one in staged.items()}

    def abandon(self) -> None:
        """Drop the staged memories and the cache, so that the next read asks Chroma."""
        self.staged, self._before = {}, {}
        self.kept, self.fetched = None, {}

    def put(self, stored: Sequence[Stored]) -> None:
        """Write memories at once over existing ones. Drops the cache and the staged memories."""
        self.abandon()
        self.fetch([record.key for record, _ in stored])
        for record, vectors in stored:
            self.stage(record.key, (record, vectors))
        self.commit(len(stored))
        self.fetched.clear()

    def prolong(self, records: Sequence[Record]) -> None:
        """Write new times of expiry. Nothing may be staged."""
        moments: list[Any] = [{EXPIRES: record.expires} for record in records]
        self.rows.update(ids=[row_id(record.key) for record in records], metadatas=moments)
        for record in records:
            self.fetched[record.key] = record
            if self.kept is not None:
                self.kept.put(record, self.kept.vectors[record.key])

    def sweep(self, now: float) -> int:
        """Delete memories that have expired at `now` (seconds since 1970); return their number."""
        past: Any = {EXPIRES: {"$lte": now}}
        expired = self.rows.get(where=past, include=["metadatas"])
        records = self._records(expired["ids"], expired["metadatas"] or [])
        self._drop(_names(records))
        if records:
            self.abandon()
        return len(records)

    def _count(self, enough: int) -> int:
        """Return the number of rows. Counting takes time per row, so a number above `enough` is not counted again."""
        if self.size <= enough:
            self.size = self.rows.count()
        return self.size

    def _upsert(self, stored: Sequence[Stored]) -> None:
        self.rows.upsert(
            ids=[name for record, _ in stored for name in record.ids()],
            embeddings=np.concatenate(
                [own if record.vectors else _nowhere(record.key, own.shape[1]) for record, own in stored]
            ),
            metadatas=[row for record, _ in stored for row in _metadatas(record)],
        )

    def _drop(self, names: set[str]) -> None:
        if names:
            self.rows.delete(ids=sorted(names))

    def _records(self, ids: Sequence[str], rows: Sequence[Any]) -> list[Record]:
        named = zip(map(row_of, ids), rows, strict=True)
        return [Record.read(self.namespace, key, row) for (key, _), row in named if RECORD in row]


def _names(records: Iterable[Record]) -> set[str]:
    return {name for record in records for name in record.ids()}


def _metadatas(record: Record) -> list[Any]:
    return [record.row(), *({"of": record.key} for _ in record.ids()[1:])]


def _nowhere(key: str, dimension: int) -> Vectors:
    """Make up a vector for a memory without indexed text: Chroma needs one, and equal vectors slow down its index."""
    place: Vectors = np.random.default_rng(zlib.crc32(key.encode())).standard_normal((1, dimension), dtype=np.float32)
    return place
