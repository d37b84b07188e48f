"""The memories of one namespace: a Chroma collection with nothing else in it, so no search can find other memories."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harbor.memory._store.clients import InternalError
from harbor.memory._store.embedding import Vectors
from harbor.memory._store.matching import Namespace
from harbor.memory._store.records import EXPIRES, RECORD, Record, row_id, row_of

if TYPE_CHECKING:
    from chromadb import Collection

FIRST_PAGE, PAGE = 32, 500  # rows per read; more would block other threads
FEW = 200  # up to so many rows are ranked exactly: that is fast, and Chroma's index loses some that change often
Scored = tuple[float, Record]


@dataclass(slots=True)
class CollectionStore:
    """The memories of one namespace.

    A memory has one row per vector, named `<number>:<key>`. Row 0 has the record, which says how many rows belong to
    it. One upsert writes all rows or none, so a memory is whole or absent after a crash. Rows left over from a longer
    earlier value are ignored until they are deleted.
    """

    namespace: Namespace
    rows: Collection
    many: bool = False

    def sound(self, dimension: int) -> bool:
        """Say whether its index can be read; a process killed while Chroma saves an index leaves it torn."""
        try:
            self.rows.query(query_embeddings=np.ones((1, dimension), dtype=np.float32), n_results=1, include=[])
        except InternalError:
            return False
        return True

    def get(self, keys: Sequence[str]) -> dict[str, Record]:
        """Fetch those memories of these keys that exist."""
        if not keys:
            return {}
        found = self.rows.get(ids=[row_id(key) for key in keys], include=["metadatas"])
        return {record.key: record for record in self._records(found["ids"], found["metadatas"] or [])}

    def all(self) -> Iterator[Record]:
        """Every memory, in the order in which they were first stored."""
        offset, size = 0, FIRST_PAGE
        while ids := (page := self.rows.get(limit=size, offset=offset, include=["metadatas"]))["ids"]:
            yield from self._records(ids, page["metadatas"] or [])
            offset, size = offset + size, PAGE

    def nearest(self, query: Vectors, wanted: int, now: float) -> list[Scored]:
        """Find the memories nearest to a query, best first: by Chroma's index, or exactly if that finds too few."""
        self.many = self.many or self.rows.count() > FEW  # not counted again after that, as counting takes time per row
        if not self.many:
            return self.ranked(query, self._alive(now))
        asked = wanted + 10  # some rows may belong to the same memory, be expired, or not be indexed
        answer = self.rows.query(query_embeddings=[query.tolist()], n_results=asked, include=["metadatas", "distances"])
        ids, rows, distances = answer["ids"][0], (answer["metadatas"] or [[]])[0], (answer["distances"] or [[]])[0]
        records = {record.key: record for record in self._records(ids, rows)}
        records |= self.get(list({key for key, _ in map(row_of, ids)} - set(records)))
        best = _best(ids, [1 - distance for distance in distances], records, now)
        return best if len(best) >= wanted else self.ranked(query, self._alive(now))

    def ranked(self, query: Vectors, records: Iterable[Record]) -> list[Scored]:
        """Rank these memories by their exact similarity, best first; those that are not indexed are left out."""
        known = {record.key: record for record in records if record.vectors}
        ids = [identifier for record in known.values() for identifier in record.ids()]
        named: list[str] = []
        scores: list[float] = []
        for start in range(0, len(ids), PAGE):
            page = self.rows.get(ids=ids[start : start + PAGE], include=["embeddings"])
            named += page["ids"]
            scores += (np.asarray(page["embeddings"], dtype=np.float32) @ query).tolist()
        order = sorted(range(len(named)), key=lambda place: -scores[place])
        return _best([named[place] for place in order], [scores[place] for place in order], known, now=0)

    def put(self, records: Sequence[Record], vectors: Sequence[Vectors], before: dict[str, Record]) -> None:
        """Write memories, each with its vectors, over those that were there before."""
        pairs = list(zip(records, vectors, strict=True))
        self.rows.upsert(
            ids=[identifier for record in records for identifier in record.ids()],
            embeddings=np.concatenate(
                [own if record.vectors else _nowhere(record.key, own.shape[1]) for record, own in pairs]
            ),
            metadatas=[row for record in records for row in _metadatas(record)],
        )
        self._drop(set(_names(before.values())) - set(_names(records)))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete those memories of these keys that exist."""
        self._drop(set(_names(self.get(keys).values())))

    def prolong(self, records: Sequence[Record], expires: Sequence[float]) -> None:
        """Set when memories expire."""
        self.rows.update(
            ids=[row_id(record.key) for record in records], metadatas=[{EXPIRES: moment} for moment in expires]
        )

    def sweep(self, now: float) -> int:
        """Delete expired memories; return how many."""
        past: Any = {EXPIRES: {"$lte": now}}
        expired = self.rows.get(where=past, include=["metadatas"])
        records = self._records(expired["ids"], expired["metadatas"] or [])
        self._drop(set(_names(records)))
        return len(records)

    def _alive(self, now: float) -> Iterator[Record]:
        return (record for record in self.all() if record.alive(now))

    def _drop(self, ids: set[str]) -> None:
        if ids:
            self.rows.delete(ids=sorted(ids))

    def _records(self, ids: Sequence[str], rows: Sequence[Any]) -> list[Record]:
        named = zip(map(row_of, ids), rows, strict=True)
        return [Record.read(self.namespace, key, row) for (key, _), row in named if RECORD in row]


def _names(records: Iterable[Record]) -> Iterator[str]:
    return (identifier for record in records for identifier in record.ids())


def _metadatas(record: Record) -> list[Any]:
    return [record.row(), *({"of": record.key} for _ in record.ids()[1:])]


def _best(ids: Sequence[str], scores: Sequence[float], records: dict[str, Record], now: float) -> list[Scored]:
    """Keep the best row of each memory that is alive and indexed; rows are given best first."""
    best: dict[str, Scored] = {}
    for (key, number), score in zip(map(row_of, ids), scores, strict=True):
        record = records.get(key)
        if record and number < record.vectors and record.alive(now):
            best.setdefault(key, (score, record))
    return list(best.values())


def _nowhere(key: str, dimension: int) -> Vectors:
    """Invent a vector for what is not indexed: Chroma stores no row without one, and equal ones slow down its index."""
    place: Vectors = np.random.default_rng(zlib.crc32(key.encode())).standard_normal((1, dimension), dtype=np.float32)
    return place
