"""What searches find in several namespaces: the nearest memories, those that fit, the namespaces themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest

from langgraph.store.base import ListNamespacesOp, SearchOp

from harbor.memory._store.callers import Job
from harbor.memory._store.collection import CollectionStore
from harbor.memory._store.kept import Query, Scored
from harbor.memory._store.matching import Namespace, has, named_by
from harbor.memory._store.records import Record


def nearest(collections: Sequence[CollectionStore], queries: Sequence[Query]) -> list[list[Scored]]:
    """Find the nearest memories of all these namespaces, for each query; what has no vector is like nothing."""
    found: list[list[Scored]] = [[] for _ in queries]
    told = [place for place, query in enumerate(queries) if query.vector.any() and query.wanted]
    for one in collections if told else ():
        for place, scored in zip(told, one.nearest([queries[place] for place in told]), strict=True):
            found[place] += scored
    return [nlargest(query.wanted, own, key=lambda one: one[0]) for query, own in zip(queries, found, strict=True)]


def fitting(job: Job, op: SearchOp, now: float) -> Callable[[Record], bool]:
    """Return what says which memories fit a search; a filter that can't be compared fails its own job alone."""
    wanted = op.filter or {}

    def fits(record: Record) -> bool:
        try:
            return record.alive(now) and (not wanted or has(record.content(), wanted))
        except Exception as error:
            job.error = job.error or error
            return False

    return fits


def filled(collections: Sequence[CollectionStore], op: ListNamespacesOp, now: float) -> list[Namespace]:
    """List the namespaces with memories that match the conditions."""
    conditions = op.match_conditions or ()
    named = [one for one in collections if all(named_by(condition, one.namespace) for condition in conditions)]
    found = {one.namespace[: op.max_depth] for one in named if any(record.alive(now) for record in one.all())}
    return sorted(found)[op.offset : op.offset + op.limit]
