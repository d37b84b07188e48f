"""Whatever is done to it, ChromaStore answers as LangGraph's own InMemoryStore does, apart from ties in ranking."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp, get_text_at_path
from langgraph.store.memory import InMemoryStore

from harbor.memory._store.chroma import ChromaStore
from harbor.memory._store.embedding import HASHING_DIMENSION, as_embedding

HASHING = as_embedding("hashing")
FIELDS = ["text", "notes[*]"]
NAMESPACES = st.sampled_from([
    ("ann",), ("ann", "learnings"), ("ann", "episodes"), ("ben", "learnings"), ("é", "x", "y"),
])  # fmt: skip
PREFIXES = st.sampled_from([(), ("ann",), ("ann", "learnings"), ("ben",), ("nobody",)])
KEYS = st.sampled_from(["a", "b", "0:a", "1:a", "ключ"])
TEXTS = st.sampled_from(
    ["a garden by the sea", "an old office", "cheap late in the sale", "Ben overbids", "slate roof"]
)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3)
NESTED = st.recursive(SCALARS, lambda one: st.lists(one, max_size=2) | st.dictionaries(st.text(max_size=2), one))
NUMBER = st.integers(-3, 3)
VALUES = st.fixed_dictionaries({"n": NUMBER}, optional={
    "text": TEXTS, "notes": st.lists(TEXTS, max_size=3), "any": NESTED,
    "of": st.fixed_dictionaries({"x": SCALARS, "y": SCALARS}),
})  # fmt: skip
INDEXES = st.sampled_from([None, False, ["text"], ["of.x"], ["notes[0]", "text"]])
PUTS = st.builds(PutOp, NAMESPACES, KEYS, st.none() | VALUES, INDEXES, ttl=st.none())
COMPARED = st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), NUMBER, max_size=2)
FILTERS = st.fixed_dictionaries({}, optional={
    "n": NUMBER | COMPARED, "notes": st.lists(TEXTS, max_size=2),
    "of": st.fixed_dictionaries({"x": SCALARS | st.fixed_dictionaries({"$ne": SCALARS})}),
})  # fmt: skip


def seen(items):
    return [(item.namespace, item.key, repr(item.value)) for item in items]


class Oracle(InMemoryStore):
    """LangGraph's store, less a quirk: vectors there outlive their texts."""

    def put_one(self, op: PutOp) -> None:
        self._vectors[op.namespace].pop(op.key, None)
        super().batch([op])

    def filled(self):
        return sorted(namespace for namespace, items in self._data.items() if items)


READS = st.one_of(
    st.tuples(NAMESPACES, KEYS).map(lambda asked: GetOp(*asked)),
    st.tuples(PREFIXES, FILTERS).map(lambda asked: SearchOp(*asked, 100)),
    st.tuples(PREFIXES, FILTERS, st.integers(1, 8), st.integers(0, 2), TEXTS).map(lambda asked: SearchOp(*asked)),
    st.just(ListNamespacesOp()),
)
ROOM = {"everything": (2_000, 2**26), "no small namespace": (0, 2**26), "few": (3, 2**26), "one": (2_000, 1_000)}
"""The most rows of a namespace that is kept, and the bytes of all that are."""


class Stores(RuleBasedStateMachine):
    """The same operations on both, however much the process keeps."""

    @initialize(room=st.sampled_from([*ROOM]))
    def open(self, room):
        rows, size = ROOM[room]
        self.patched = ExitStack()
        self.patched.enter_context(patch("harbor.memory._store.collection.KEPT_ROWS", rows))
        self.patched.enter_context(patch("harbor.memory._store.collection.KEPT_BYTES", size))
        self.chroma = ChromaStore(fields=FIELDS)
        embed = lambda texts: HASHING.vectors(texts).tolist()  # noqa: E731
        self.own = Oracle(index={"dims": HASHING_DIMENSION, "embed": embed, "fields": FIELDS})

    def teardown(self):
        self.chroma.close()
        self.patched.close()

    @rule(ops=st.lists(PUTS, min_size=1, max_size=6))
    def put(self, ops):
        assert self.chroma.batch(ops) == [None] * len(ops)
        for op in {(op.namespace, op.key): op for op in ops if not self.is_beyond(op)}.values():
            self.own.put_one(op)
        for op in ops:  # what the oracle can't take is taken back
            if self.is_beyond(op):
                self.chroma.delete(op.namespace, op.key)
                self.own.delete(op.namespace, op.key)

    @rule(callers=st.lists(st.lists(PUTS | READS, min_size=1, max_size=4), min_size=2, max_size=8))
    def many_callers_at_once(self, callers):
        callers = [[op for op in ops if not self.is_beyond(op)] for ops in callers]

        async def ask():
            return await asyncio.gather(*(self.chroma.abatch(ops) for ops in callers))

        for ops, results in zip(callers, asyncio.run(ask()), strict=True):
            assert [*map(self.told, ops, results)] == [self.told(op, self.read(op)) for op in ops]
            for op in {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values():
                self.own.put_one(op)

    def is_beyond(self, op):
        """What the oracle can't take: equal texts in one value, and texts that are like nothing."""
        texts = self.texts(op) if isinstance(op, PutOp) else []
        return len(set(texts)) != len(texts) or not HASHING.vectors(texts).any(axis=1).all()

    def read(self, op):
        for namespace in set(self.own._data) - set(self.own.filled()):
            del self.own._data[namespace]
        return None if isinstance(op, PutOp) else self.own.batch([op])[0]

    def told(self, op, result):
        if isinstance(op, SearchOp) and op.query:
            return [round(item.score, 3) for item in result if item.score is not None]
        if isinstance(op, SearchOp):
            return sorted(seen(result))
        return result if isinstance(op, ListNamespacesOp) else seen([result] if result else [])

    def texts(self, op):
        paths = FIELDS if op.index is None else op.index or []
        return [text for path in paths for text in get_text_at_path(op.value, path)] if op.value else []

    @rule(op=READS)
    def read_alone(self, op):
        assert self.told(op, self.chroma.batch([op])[0]) == self.told(op, self.read(op))

    @rule(prefix=PREFIXES, wanted=FILTERS, limit=st.integers(0, 8), offset=st.integers(0, 3))
    def search(self, prefix, wanted, limit, offset):
        every = [sorted(seen(store.search(prefix, filter=wanted, limit=100))) for store in (self.chroma, self.own)]
        assert every[0] == every[1]
        page = seen(self.chroma.search(prefix, filter=wanted, limit=limit, offset=offset))
        assert page == seen(self.chroma.search(prefix, filter=wanted, limit=100))[offset : offset + limit]

    @rule(prefix=PREFIXES, wanted=FILTERS, query=TEXTS, limit=st.integers(1, 8), offset=st.integers(0, 3))
    def search_by_meaning(self, prefix, wanted, query, limit, offset):
        op = SearchOp(prefix, wanted, limit, offset, query)
        mine = self.chroma.batch([op])[0]
        own = [item for item in self.own.batch([op])[0] if item.score is not None]
        assert [round(item.score, 3) for item in mine] == [round(item.score, 3) for item in own]
        every = self.own.batch([SearchOp(prefix, wanted, 100, 0, query)])[0]
        known = {(item.namespace, item.key): item for item in every if item.score is not None}
        for item in mine:
            assert abs(known[item.namespace, item.key].score - item.score) < 1e-4
            assert repr(known[item.namespace, item.key].value) == repr(item.value)

    @rule(
        depth=st.none() | st.integers(1, 3), prefix=PREFIXES, suffix=st.sampled_from([(), ("learnings",), ("*", "y")])
    )
    def list_namespaces(self, depth, prefix, suffix):
        for namespace in set(self.own._data) - set(self.own.filled()):
            del self.own._data[namespace]
        asked = {"prefix": prefix or None, "suffix": suffix or None, "max_depth": depth}
        assert self.chroma.list_namespaces(**asked) == self.own.list_namespaces(**asked)

    @precondition(lambda self: self.own.filled())
    @rule(ops=st.lists(PUTS, max_size=3))
    def read_and_write_in_one_batch(self, ops):
        namespace = self.own.filled()[0]
        before = seen(self.chroma.search(namespace, limit=100))
        results = self.chroma.batch([SearchOp(namespace, limit=100), *ops, SearchOp(namespace, limit=100)])
        assert seen(results[0]) == seen(results[-1]) == before
        for op in {(op.namespace, op.key): op for op in ops}.values():
            self.chroma.delete(op.namespace, op.key)
            self.own.delete(op.namespace, op.key)


Stores.TestCase.settings = settings(max_examples=25, stateful_step_count=20, suppress_health_check=list(HealthCheck))
TestChromaAnswersAsLangGraphsOwnStore = Stores.TestCase
