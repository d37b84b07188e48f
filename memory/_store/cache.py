"""The memories that this process keeps: all of a small namespace, so that reads and searches need no Chroma.

A folder has one writer, so what it keeps is never stale. On a server others write too: there nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harbor.memory._store.embedding import Vectors
from harbor.memory._store.records import Namespace, Record

if TYPE_CHECKING:
    from harbor.memory._store.collection import CollectionStore

KEPT_ROWS = 2_000
"""The most memories of a namespace that is kept: it is ranked in about 2 ms."""
KEPT_BYTES = 64 * 2**20
OF_A_RECORD = 1_000
"""Bytes of a memory beside its text and its vectors, roughly."""
NO_ROW = np.zeros((0, 0), np.float32)
Scored = tuple[float, Record]


@dataclass(frozen=True, slots=True)
class Query:
    """A search by meaning: its vector, how many memories it wants at most, and which fit its filter."""

    vector: Vectors
    wanted: int
    fits: Callable[[Record], bool]
    is_filtered: bool = False

    def best(self, rows: Iterable[tuple[str, float]], records: Mapping[str, Record]) -> list[Scored]:
        """Take as many memories as are wanted, of rows with the key of their memory and their score, best first."""
        found: dict[str, Scored] = {}
        for key, score in rows:
            if len(found) == self.wanted:
                break
            if key not in found and self.fits(record := records[key]):
                found[key] = score, record
        return list(found.values())


@dataclass(slots=True)
class Kept:
    """All memories of one namespace, in the order in which they were first stored, each with its vectors."""

    records: dict[str, Record] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    size: int = 0
    _table: tuple[list[str], Vectors] | None = None

    def put(self, record: Record, vectors: Vectors) -> None:
        """Store a memory in its place."""
        self.size += _size(record, vectors) - self._size_of(record.key)
        self.records[record.key], self.vectors[record.key] = record, vectors
        self._table = None

    def drop(self, key: str) -> None:
        """Forget a memory, if it is there."""
        self.size -= self._size_of(key)
        self.records.pop(key, None)
        self.vectors.pop(key, None)
        self._table = None

    def nearest(self, queries: Sequence[Query]) -> list[list[Scored]]:
        """Rank exactly; returns the best memories for each query."""
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
    return OF_A_RECORD + len(record.value) + 2 * int(vectors.nbytes)  # also in the table of all


def _ordered(keys: Sequence[str], table: Vectors, vector: Vectors) -> Iterator[tuple[str, float]]:
    scores = table @ vector
    return ((keys[row], float(scores[row])) for row in np.argsort(-scores, kind="stable").tolist())


class Shelf:
    """The namespaces that are kept, the one used last at the end; the others go when there is no more room."""

    def __init__(self) -> None:
        self._sizes: dict[Namespace, tuple[int, CollectionStore]] = {}
        self._total = 0

    def use(self, collections: Sequence[CollectionStore]) -> None:
        """Note which were used, and let go of those that were not for the longest time, unless they are written to."""
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
