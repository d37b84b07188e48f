"""Does the operations of many callers together: fewer calls of Chroma, with the same results as one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import islice

from httpx import TransportError
from langgraph.store.base import GetOp, Item, ListNamespacesOp, PutOp, SearchOp

from harbor.memory._store.backend import Collections, plain_errors
from harbor.memory._store.callers import Job, as_error
from harbor.memory._store.collection import CollectionStore, Query, Scored, Shelf, Stored
from harbor.memory._store.embedding import Vectors
from harbor.memory._store.records import Index, Namespace, Record, check_op, expiry, has, json_text, named_by


def nearest(collections: Sequence[CollectionStore], queries: Sequence[Query]) -> list[list[Scored]]:
    """Return the nearest memories of all these namespaces for each query. A query whose vector is zero finds none."""
    found: list[list[Scored]] = [[] for _ in queries]
    told = [place for place, query in enumerate(queries) if query.vector.any() and query.wanted]
    for one in collections if told else ():
        for place, scored in zip(told, one.nearest([queries[place] for place in told]), strict=True):
            found[place] += scored
    return [nlargest(query.wanted, own, key=lambda one: one[0]) for query, own in zip(queries, found, strict=True)]


def fitting(job: Job, op: SearchOp, now: float) -> Callable[[Record], bool]:
    """Return the test that a memory must pass in a search. If the filter can't be compared, only its job fails."""
    wanted = op.filter or {}

    def fits(record: Record) -> bool:
        try:
            return record.alive(now) and (not wanted or has(record.content(), wanted))
        except Exception as error:
            job.error = job.error or error
            return False

    return fits


def filled(collections: Sequence[CollectionStore], op: ListNamespacesOp, now: float) -> list[Namespace]:
    """Return the namespaces with memories that match the conditions, sorted and cut to the page that `op` asks for."""
    conditions = op.match_conditions or ()
    named = [one for one in collections if all(named_by(condition, one.namespace) for condition in conditions)]
    found = {one.namespace[: op.max_depth] for one in named if any(record.alive(now) for record in one.all())}
    return sorted(found)[op.offset : op.offset + op.limit]


Read = tuple[Job, int, SearchOp | ListNamespacesOp]  # the int is the place of the result in the job
Found = Sequence[tuple[float | None, Record]]
Made = tuple[CollectionStore, str, Stored | None]  # collection, key, and memory (None: delete)


@dataclass(slots=True)
class Together:
    """Jobs that are done together. Puts are staged and written at the end: one upsert per namespace.

    A search waits until a put reaches its namespaces, or to the end. So all searches of a namespace go to Chroma as
    one.

    `broken` has the error of each namespace that could not be written. `longer` has memories with a new expiry.
    """

    place: str
    collections: Collections
    index: Index
    clock: Callable[[], float]
    shelf: Shelf
    at_once: int
    waiting: dict[Namespace, list[Read]] = field(default_factory=lambda: defaultdict(list))
    used: dict[Namespace, CollectionStore] = field(default_factory=dict)
    broken: dict[Namespace, Exception] = field(default_factory=dict)
    longer: dict[Namespace, dict[str, Record]] = field(default_factory=lambda: defaultdict(dict))
    is_fresh: bool = False

    def do(self, jobs: Sequence[Job]) -> Iterator[list[Job]]:
        """Do jobs in order, and yield the finished ones. A read sees the puts of earlier jobs, not of its own job."""
        try:
            for job in jobs:
                with self._failing([job]):
                    _check(job)
            self._embed([job for job in jobs if not job.error])
            self._fetch([job for job in jobs if not job.error])
            for job in jobs:
                with self._failing([job]):
                    self._do(job)
            self._answer([*self.waiting])
            yield [job for job in jobs if not job.leans_on]
            self._save_all()
            for job in (one for one in jobs if one.leans_on):
                broken = (self.broken[namespace] for namespace in job.leans_on if namespace in self.broken)
                job.error = job.error or next(broken, None)
            yield [job for job in jobs if job.leans_on]
        finally:
            for one in self.used.values():
                if one.staged:
                    one.abandon()
                one.fetched.clear()
            self.shelf.use([*self.used.values()])

    @contextmanager
    def _failing(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Report an error inside the block to these jobs, and to no other."""
        try:
            with plain_errors(self.place):
                yield
        except BaseException as error:
            for job in jobs:
                job.error = job.error or as_error(error)

    # ---------------------------------------------------------------- before the first job

    def _embed(self, jobs: Sequence[Job]) -> None:
        """Embed all texts in one call. After an error, embed the texts of each job alone."""
        try:
            self._embed_at_once(jobs)
        except BaseException:
            for job in jobs:
                with self._failing([job]):
                    self._embed_at_once([job])

    def _embed_at_once(self, jobs: Sequence[Job]) -> None:
        searches = ((job, place, op) for job in jobs for place, op in enumerate(job.ops) if isinstance(op, SearchOp))
        asked = [(job, place, op.query) for job, place, op in searches if op.query]
        kept = {job: [op for op, _ in job.puts.values() if op.value is not None] for job in jobs}
        vectors = iter(self.index.vectors([op for own in kept.values() for op in own]))
        queries = iter(self.index.queries([text for _, _, text in asked]))
        for job, own in kept.items():
            job.vectors = list(islice(vectors, len(own)))
        for job, place, _ in asked:
            job.queries[place] = next(queries)

    def _fetch(self, jobs: Sequence[Job]) -> None:
        """Read in one call per namespace all memories that its gets and puts need."""
        asking: dict[Namespace, list[tuple[Job, str]]] = defaultdict(list)
        for job in jobs:
            for op in job.ops:
                if isinstance(op, GetOp | PutOp):
                    asking[op.namespace].append((job, op.key))
        for namespace, own in asking.items():
            with self._failing([job for job, _ in own]):
                if collection := self._at(namespace):
                    collection.fetch(dict.fromkeys(key for _, key in own))

    def _at(self, namespace: Namespace) -> CollectionStore | None:
        if namespace not in self.collections.known:
            self._refresh()
        if found := self.collections.known.get(namespace):
            self.used[namespace] = found
        return found

    def _refresh(self) -> None:
        """Look once per batch for namespaces that other processes have added."""
        if self.collections.shared and not self.is_fresh:
            self.collections.look_again()
            self.is_fresh = True

    # ---------------------------------------------------------------- job after job

    def _do(self, job: Job) -> None:
        if job.error:
            return
        job.results = [None] * len(job.ops)
        looks = list[Namespace]()
        for place, op in enumerate(job.ops):
            if isinstance(op, GetOp):
                job.results[place] = self._get(job, op)
            elif isinstance(op, SearchOp | ListNamespacesOp):
                looks.append(op.namespace_prefix if isinstance(op, SearchOp) else ())
                self.waiting[looks[-1]].append((job, place, op))
        if job.puts:  # reads see the state before the job's puts, and a failed read prevents the puts
            self._answer(looks)
        if not job.error:
            vectors = iter(job.vectors)
            puts = ((op, value, next(vectors) if op.value is not None else None) for op, value in job.puts.values())
            for collection, key, stored in filter(None, [self._made(*one) for one in puts]):
                self._put(job, collection, key, stored)

    def _get(self, job: Job, op: GetOp) -> Item | None:
        collection = self._at(op.namespace)
        if collection is None:
            return None
        if op.key in collection.staged or op.namespace in self.broken:
            job.leans_on.add(op.namespace)
        record = collection.get(op.key)
        if record is None or not record.alive(self.clock()):
            return None
        self._prolong(job, [record] if op.refresh_ttl else [])
        return record.item()

    def _made(
        self, op: PutOp, value: str, vectors: Vectors | None
    ) -> tuple[CollectionStore, str, Stored | None] | None:
        """Return the memory to store, with its collection and key. None: there is nothing to delete."""
        collection = self._at(op.namespace)
        if vectors is None:
            return (collection, op.key, None) if collection else None
        self.used[op.namespace] = collection = collection or self.collections.made(op.namespace)
        old, now = collection.get(op.key), self.clock()
        record = Record(
            op.namespace,
            op.key,
            value,
            created=old.created if old and old.alive(now) else now,
            updated=now,
            vectors=len(vectors),
            ttl_minutes=op.ttl,
            expires=expiry(now, op.ttl) if op.ttl is not None else None,
            paths=self.index.paths(op),
        )
        return collection, op.key, (record, vectors)

    def _put(self, job: Job, collection: CollectionStore, key: str, stored: Stored | None) -> None:
        namespace = collection.namespace
        self._answer([namespace[:depth] for depth in range(len(namespace) + 1)])
        job.leans_on.add(namespace)
        self.longer[namespace].pop(key, None)
        if stored and collection.staged.get(key, stored) is None:
            self._save(collection)
        if namespace in self.broken:
            raise self.broken[namespace]
        collection.stage(key, stored)

    def _answer(self, prefixes: Iterable[Namespace]) -> None:
        """Answer the waiting reads under these prefixes."""
        for prefix in prefixes:
            if reads := self.waiting.pop(prefix, None):
                with self._failing([job for job, _, _ in reads]):
                    self._read(prefix, reads)

    def _read(self, prefix: Namespace, reads: Sequence[Read]) -> None:
        self._refresh()
        collections = self.collections.under(prefix)
        meant = [(job, place, op) for job, place, op in reads if isinstance(op, SearchOp) and op.query]
        for one in collections:
            self.used[one.namespace] = one
            if one.kept is None:
                self._save(one)
            if meant and not self.collections.shared:
                one.keep()
                self.shelf.use([one])
        unsaved = {one.namespace for one in collections if one.staged or one.namespace in self.broken}
        now = self.clock()
        queries = [
            Query(job.queries[place], op.offset + op.limit, fitting(job, op, now), bool(op.filter))
            for job, place, op in meant
        ]
        by_meaning = iter(nearest(collections, queries))
        for job, place, op in reads:
            job.leans_on |= unsaved
            with self._failing([job]):
                if isinstance(op, ListNamespacesOp):
                    job.results[place] = filled(collections, op, now)
                    continue
                end, fits = op.offset + op.limit, fitting(job, op, now)
                every = ((None, one) for collection in collections for one in collection.all() if fits(one))
                found: Found = next(by_meaning) if op.query else list(islice(every, end))
                page = found[op.offset : end]
                self._prolong(job, [record for _, record in page] if op.refresh_ttl else [])
                job.results[place] = [record.found(score) for score, record in page]

    def _prolong(self, job: Job, records: Iterable[Record]) -> None:
        for record in records:
            if record.ttl_minutes is not None:
                longer = replace(record, expires=expiry(self.clock(), record.ttl_minutes))
                self.longer[record.namespace][record.key] = longer
                job.leans_on.add(record.namespace)

    def _save(self, one: CollectionStore) -> None:
        """Write the staged memories and the new expiries. Memories that can't be written are dropped."""
        try:
            with plain_errors(self.place):
                if one.staged:
                    one.commit(self.at_once)
                if longer := self.longer.pop(one.namespace, None):
                    one.prolong([*longer.values()])
        except BaseException as error:
            self.broken[one.namespace] = as_error(error)

    def _save_all(self) -> None:
        """Save all namespaces. Do not ask again after a lost connection, as each attempt takes long."""
        for one in self.used.values():
            gone = [error for error in self.broken.values() if isinstance(error.__cause__, TransportError)]
            if gone and one.staged:
                self.broken[one.namespace] = gone[0]
            else:
                self._save(one)


def _check(job: Job) -> None:
    """Check all operations of a job before the first is done. The last put to a key wins."""
    for op in job.ops:
        check_op(op)
    puts = [op for op in job.ops if isinstance(op, PutOp)]
    job.puts = {(op.namespace, op.key): (op, json_text(op) if op.value is not None else "") for op in puts}
