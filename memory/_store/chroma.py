"""`ChromaStore`: a complete LangGraph long-term store on Chroma, for any LangGraph app."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from harbor._core.errors import MemoryStoreError
from harbor.memory._store.backend import open_collections, plain_errors
from harbor.memory._store.collection import CollectionStore, Scored
from harbor.memory._store.embedding import Embed, Embedding, as_embedding
from harbor.memory._store.index import Index
from harbor.memory._store.matching import Namespace, has, named_by
from harbor.memory._store.place import place_of
from harbor.memory._store.records import Record, check_op, json_text

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

PUTS_AT_ONCE = 1000  # Chroma accepts about 5,000 rows per call
PUTS_BESIDE_A_LOOP = 8  # Chroma holds the interpreter's lock while it writes; this many take about 10 ms
T = TypeVar("T")
Put = tuple[PutOp, str]  # with its value as JSON


class ChromaStore(BaseStore):
    """LangGraph's long-term store on Chroma; each namespace is its own collection.

    So no search can reach rows of another namespace, and none needs Chroma's slow `where`. `where` is None (in this
    process, isolated from every other store), a folder (one writer) or the address of a Chroma server
    (`http://localhost:8000`). `embedding` is a name, a LangChain `Embeddings` object, a function of texts or an
    `Embedding`; None takes the embedding of the existing memory, and a model that only a file names only if `trusted`
    names it too. The database in a folder that somebody sent is opened with `trust` alone, which marks it as yours.
    `fields` are the paths in a value whose texts are indexed; `$` is the whole value. `ttl` is LangGraph's.

    In a batch, reads see the state before the batch, and the last put to a key wins, as in LangGraph's own stores. A
    search by meaning finds only what is indexed. Close the store, or use it as a context manager.

    Raises: MemoryStoreError, in one line that names the place, the value and the remedy.
    """

    supports_ttl = True

    def __init__(
        self,
        where: str | Path | None = None,
        *,
        embedding: Embedding | Embeddings | Embed | str | None = "hashing",
        trusted: str | None = None,
        trust: bool = False,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.place = place_of(where)
        self.ttl_config = ttl
        self._clock = clock
        self._swept = clock()
        wanted = None if embedding is None else as_embedding(embedding)
        self._collections, self.embedding = open_collections(where, wanted, trusted, trust)
        self._index = Index(self.embedding, tuple(fields))
        # One thread does all work: Chroma needs one writer, and reads queue behind writes, so they see them.
        self._worker = ThreadPoolExecutor(1, "memory")
        with ExitStack() as stack:
            stack.push(self._collections.closing)  # closed only if the repair fails
            self._submit(self._repair).result()
            stack.pop_all()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations as one batch and return their results in order."""
        return self._submit(partial(self._do, list(ops), PUTS_AT_ONCE)).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations as one batch without blocking the event loop; return their results in order."""
        return await asyncio.wrap_future(self._submit(partial(self._do, list(ops), PUTS_BESIDE_A_LOOP)))

    def sweep_ttl(self) -> int:
        """Delete expired memories and return how many they were; `ttl` can set an interval for this."""
        return self._submit(self._sweep).result()

    def records(self, prefix: Namespace = ()) -> list[Record]:
        """Return all memories under a prefix as they are stored, with times and indexed paths."""
        return self._submit(lambda: [*self._fitting(SearchOp(prefix))]).result()

    def restore(self, records: Iterable[Record]) -> None:
        """Store memories as `records` returned them, with their times; what was indexed is embedded again."""
        self._submit(partial(self._restore, list(records))).result()

    def close(self) -> None:
        """Finish pending work and release files, connections and the folder; closing twice is no error."""
        self._worker.shutdown()
        with plain_errors(self.place):
            self._collections.closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        def done() -> T:
            with plain_errors(self.place):
                return work()

        try:
            return self._worker.submit(done)
        except RuntimeError:
            raise MemoryStoreError(f"{self.place} is closed; open it again") from None

    def _do(self, ops: Sequence[Op], at_once: int) -> list[Result]:
        """Check every operation before the first is done, so that a mistake leaves nothing half done."""
        for op in ops:
            check_op(op)
        written = [op for op in ops if isinstance(op, PutOp)]
        puts = {(op.namespace, op.key): (op, json_text(op) if op.value is not None else "") for op in written}
        self._sweep_if_due()
        results = [self._read(op) for op in ops]
        self._write(puts.values(), at_once)
        return results

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        return None

    def _get(self, op: GetOp) -> Item | None:
        collection = self._collections.at(op.namespace)
        record = collection.get([op.key]).get(op.key) if collection else None
        if record is None or not record.alive(self._clock()):
            return None
        self._prolong([record] if op.refresh_ttl else [])
        return record.item()

    def _search(self, op: SearchOp) -> list[SearchItem]:
        end = op.offset + op.limit
        found = self._by_meaning(op, end) if op.query else [(None, one) for one in islice(self._fitting(op), end)]
        page = found[op.offset :]
        self._prolong([record for _, record in page] if op.refresh_ttl else [])
        return [record.found(score) for score, record in page]

    def _by_meaning(self, op: SearchOp, wanted: int) -> Sequence[tuple[float | None, Record]]:
        query = self._index.query(op.query or "")
        if not query.any():
            return []
        scored: list[Scored] = []
        for one in self._collections.under(op.namespace_prefix):
            scored += one.ranked(query, self._live(one, op)) if op.filter else one.nearest(query, wanted, self._clock())
        return nlargest(wanted, scored, key=lambda one: one[0])

    def _fitting(self, op: SearchOp) -> Iterator[Record]:
        for collection in self._collections.under(op.namespace_prefix):
            yield from self._live(collection, op)

    def _live(self, collection: CollectionStore, op: SearchOp) -> Iterator[Record]:
        now, wanted = self._clock(), op.filter or {}
        for record in collection.all():
            if record.alive(now) and (not wanted or has(record.content(), wanted)):
                yield record

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        now, conditions = self._clock(), op.match_conditions or ()
        found = self._collections.under()
        named = [one for one in found if all(named_by(condition, one.namespace) for condition in conditions)]
        filled = {one.namespace[: op.max_depth] for one in named if any(record.alive(now) for record in one.all())}
        return sorted(filled)[op.offset : op.offset + op.limit]

    def _write(self, puts: Iterable[Put], at_once: int) -> None:
        grouped: dict[Namespace, list[Put]] = defaultdict(list)
        for put in puts:
            grouped[put[0].namespace].append(put)
        for namespace, own in grouped.items():
            gone = [op.key for op, _ in own if op.value is None]
            kept = [put for put in own if put[0].value is not None]
            if gone and (collection := self._collections.at(namespace)):
                collection.delete(gone)
            for start in range(0, len(kept), at_once):
                self._put(self._collections.made(namespace), kept[start : start + at_once])

    def _put(self, collection: CollectionStore, puts: Sequence[Put]) -> None:
        before, now = collection.get([op.key for op, _ in puts]), self._clock()
        vectors = self._index.vectors([op for op, _ in puts])
        records = [
            Record(
                collection.namespace,
                op.key,
                value,
                created=old.created if (old := before.get(op.key)) and old.alive(now) else now,
                updated=now,
                vectors=len(own),
                ttl_minutes=op.ttl,
                expires=now + 60 * op.ttl if op.ttl is not None else None,
                paths=self._index.paths(op),
            )
            for (op, value), own in zip(puts, vectors, strict=True)
        ]
        collection.put(records, vectors, before)

    def _restore(self, records: Iterable[Record]) -> None:
        own = list(records)
        for record in own:
            check_op(record.put())
        for namespace, group in _by_namespace(own):
            self._rebuild(self._collections.made(namespace), group)

    def _repair(self) -> None:
        """Rebuild the index of each collection that a killed process left without a whole one."""
        for collection in self._collections.torn(self.embedding.dimension):
            self._rebuild(collection, list(collection.all()))

    def _rebuild(self, collection: CollectionStore, records: Sequence[Record]) -> None:
        for start in range(0, len(records), PUTS_AT_ONCE):
            some = records[start : start + PUTS_AT_ONCE]
            vectors = self._index.vectors([one.put() for one in some])
            kept = [replace(one, vectors=len(own)) for one, own in zip(some, vectors, strict=True)]
            collection.put(kept, vectors, collection.get([one.key for one in some]))

    def _prolong(self, records: Sequence[Record]) -> None:
        for namespace, own in _by_namespace(record for record in records if record.ttl_minutes is not None):
            if collection := self._collections.at(namespace):
                collection.prolong(own, [self._clock() + 60 * (record.ttl_minutes or 0) for record in own])

    def _sweep(self) -> int:
        self._swept = self._clock()
        return sum(collection.sweep(self._swept) for collection in self._collections.under())

    def _sweep_if_due(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and self._clock() >= self._swept + 60 * minutes:
            self._sweep()


def _by_namespace(records: Iterable[Record]) -> Iterable[tuple[Namespace, list[Record]]]:
    grouped: dict[Namespace, list[Record]] = defaultdict(list)
    for record in records:
        grouped[record.namespace].append(record)
    return grouped.items()
