"""What many callers ask of a store at the same moment goes to Chroma together, and harms nobody."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from chromadb import Collection
from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

from harbor._core.basics.errors import MemoryStoreError
from harbor.memory._store.chroma import PUTS_BESIDE_A_LOOP, ChromaStore
from harbor.memory._store.collection import KEPT_ROWS
from harbor.memory._store.embedding import Embedding

HERE = ("ann", "learnings")


@pytest.fixture
def calls(monkeypatch):
    """With how many rows or vectors each call of a kind went to Chroma."""
    made = {"upsert": [], "get": [], "query": []}

    def counted(name, of):
        def call(self, *given, **named):
            made[name].append(len(named.get(of) or ()))
            return real(self, *given, **named)

        real = getattr(Collection, name)
        monkeypatch.setattr(Collection, name, call)

    for name in made:
        counted(name, "query_embeddings" if name == "query" else "ids")
    return made


async def put(store, numbers, namespaces=1):
    await asyncio.gather(*(store.aput((f"user {n % namespaces}",), str(n), {"text": f"text {n}"}) for n in numbers))


async def test_puts_of_one_moment_are_one_upsert_per_namespace_and_of_no_more_than_a_loop_can_wait_for(calls):
    async with ChromaStore(fields=["text"]) as store:
        await put(store, range(60), namespaces=4)
        assert calls["upsert"] == [15] * 4
        await put(store, range(100, 150))
        assert calls["upsert"][4:] == [PUTS_BESIDE_A_LOOP, PUTS_BESIDE_A_LOOP, 10]


async def test_what_this_process_keeps_is_read_and_searched_without_chroma(calls):
    async with ChromaStore(fields=["text"]) as store:
        await put(store, range(40), namespaces=2)
        calls["get"].clear()
        users = [(f"user {n % 2}",) for n in range(40)]
        found = await asyncio.gather(*(store.aget(user, str(n)) for n, user in enumerate(users)))
        asked = (store.asearch(user, query=f"text {n}", limit=1) for n, user in enumerate(users))
        assert [item.value["text"] for [item] in await asyncio.gather(*asked)] == [item.value["text"] for item in found]
        assert calls["get"] == calls["query"] == []


async def test_gets_are_one_get_and_searches_queries_of_several_vectors_where_nothing_is_kept(calls, tmp_path):
    with ChromaStore(tmp_path / "memory", fields=["text"]) as store:
        store.batch([PutOp(HERE, str(n), {"text": f"text {n}"}) for n in range(KEPT_ROWS + 1)])
    async with ChromaStore(tmp_path / "memory", fields=["text"]) as store:
        calls["get"].clear()
        await asyncio.gather(*(store.aget(HERE, str(n)) for n in range(40)))
        assert calls["get"] == [40]
        found = await asyncio.gather(*(store.asearch(HERE, query=f"text {n}", limit=1) for n in range(0, 80, 10)))
        assert [items[0].value["text"] for items in found] == [f"text {n}" for n in range(0, 80, 10)]
        assert calls["query"] == [4, 4]


async def test_a_caller_that_is_cancelled_takes_nobody_with_it():
    async with ChromaStore(fields=["text"]) as store:
        tasks = [asyncio.create_task(store.aput(HERE, str(n), {"n": n})) for n in range(30)]
        await asyncio.sleep(0)
        for task in tasks[::3]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(one, asyncio.CancelledError) for one in ended] == [n % 3 == 0 for n in range(30)]
        kept = {item.key for item in await store.asearch(HERE, limit=50)}
        assert kept == {str(n) for n in range(30) if n % 3}


def test_a_loop_that_closes_with_operations_pending_leaves_the_store_as_it_was(caplog, capfd):
    async def leave(ticks: int):
        tasks = [asyncio.create_task(store.aput(HERE, f"{ticks} {n}", {"n": n})) for n in range(200)]
        for _ in range(ticks):
            await asyncio.sleep(0)
        return tasks

    with ChromaStore(fields=["text"]) as store:
        for ticks in range(4):
            asyncio.run(leave(ticks))
            loop = asyncio.new_event_loop()  # and one that cancels nothing
            tasks = loop.run_until_complete(leave(10 + ticks))
            loop.close()
            for task in tasks:
                task._log_destroy_pending = False
        asyncio.run(store.aput(HERE, "last", {"n": 0}))
        assert asyncio.run(store.aget(HERE, "last")).value == {"n": 0}
        assert all(item.value["n"] == int(item.key.split()[-1]) for item in store.search(HERE, limit=2000)[:-1])
    assert (caplog.records, capfd.readouterr().err) == ([], "")


STRANGE = [RuntimeError("no mood"), asyncio.CancelledError, SystemExit, StopIteration, KeyboardInterrupt]


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
async def test_an_embedding_that_fails_for_one_text_fails_its_callers_alone_and_never_ends_the_program(strange):
    def moody(texts):
        if any("bad" in text for text in texts):
            raise strange
        return [[1.0, 2.0]] * len(texts)

    async with ChromaStore(embedding=Embedding("moody", 2, moody), fields=["text"]) as store:
        asked = [store.aput(HERE, str(n), {"text": "bad" if n == 7 else "good"}) for n in range(20)]
        asked += [store.asearch(HERE, query="bad"), store.asearch(HERE, query="good", limit=50)]
        *puts, bad, good = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 20)
        assert [n for n, one in enumerate(puts) if one is not None] == [7]
        for error in (puts[7], bad):
            assert isinstance(error, MemoryStoreError)
            assert strange is not STRANGE[0] or "the embedding 'moody' failed: no mood" in str(error)
        assert {item.key for item in good} == {str(n) for n in range(20)} - {"7"}


@pytest.mark.parametrize("most", [0, 2_000])
async def test_what_could_not_be_written_fails_who_put_it_and_who_saw_it_and_nobody_sees_it_later(most, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harbor.memory._store.collection.KEPT_ROWS", most)
    async with ChromaStore(fields=["text"]) as store:
        await store.abatch([PutOp(HERE, str(n), {"n": n}, ttl=60) for n in range(3)])
        with monkeypatch.context() as full:
            full.setattr(Collection, "upsert", fail)
            asked = [store.aput(HERE, "new", {"n": 9}), store.asearch(HERE, query="9"), store.aget(HERE, "new")]
            asked += [store.aget(HERE, "1", refresh_ttl=True), store.aput(HERE, "later", {"n": 9})]
            before = store.aget(HERE, "2", refresh_ttl=False)
            two, *errors = await asyncio.gather(before, *asked, return_exceptions=True)
        assert two.value == {"n": 2}
        assert [(type(error), "make room" in str(error)) for error in errors] == [(MemoryStoreError, True)] * 5
        assert {item.key for item in await store.asearch(HERE)} == {"0", "1", "2"}
        await store.aput(HERE, "new", {"n": 3})
        assert (await store.aget(HERE, "new")).value == {"n": 3}


MISTAKES = {
    "a query that is no text": SearchOp(HERE, query=123),
    "paths that are no texts": PutOp(HERE, "k", {"text": "x"}, index=[5]),
    "one path for a list of them": PutOp(HERE, "k", {"text": "x"}, index="text"),
    "a value that is no JSON": PutOp(HERE, "c", {1, 2}),
    "a namespace that is no tuple": GetOp([*HERE], "k"),
    "a negative limit": SearchOp(HERE, limit=-3),
    "a filter that can't be compared": SearchOp(HERE, filter={"n": np.array([1, 2])}),
    "a depth in words": ListNamespacesOp(max_depth="1"),
    "minutes in words": PutOp(HERE, "k", {"text": "x"}, ttl="5"),
}


@pytest.mark.parametrize("wrong", MISTAKES.values(), ids=MISTAKES)
async def test_a_mistake_fails_the_caller_that_makes_it_and_leaves_nothing_of_its_batch(wrong):
    async with ChromaStore(fields=["text"]) as store:
        await store.aput(HERE, "a", {"text": "a boat", "n": 1})
        asked = [store.asearch(HERE, query="a boat"), store.abatch([PutOp(HERE, "half", {}), wrong])]
        asked += [store.aput(HERE, "b", {"text": "a bird"}), store.asearch(("ann",)), store.alist_namespaces()]
        before, error, put, after, names = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(error, Exception)
        assert ([item.key for item in before], put, names) == (["a"], None, [HERE])
        assert [item.key for item in after] == ["a", "b"]
        assert [item.key for item in await store.asearch(HERE)] == ["a", "b"]


@pytest.mark.parametrize("most", [0, 2_000])
async def test_order_is_as_if_one_had_come_after_the_other_and_stays_so(most, monkeypatch, tmp_path):
    monkeypatch.setattr("harbor.memory._store.collection.KEPT_ROWS", most)
    async with ChromaStore(tmp_path / "memory") as store:
        await asyncio.gather(*(store.aput(HERE, key, {}) for key in ("a", "old")))
        later = [("old", None), ("b", {}), ("old", {}), ("c", {}), ("a", {}), ("c", None)]
        await asyncio.gather(*(store.aput(HERE, key, value) for key, value in later))
        assert [item.key for item in await store.asearch(HERE)] == ["a", "b", "old"]
    with ChromaStore(tmp_path / "memory") as store:
        assert [item.key for item in store.search(HERE)] == ["a", "b", "old"]


async def test_what_is_pending_is_done_before_the_store_closes_and_seen_by_who_does_not_wait():
    store = ChromaStore()
    tasks = [asyncio.create_task(store.aput(HERE, str(n), {"n": n})) for n in range(5)]
    await asyncio.sleep(0)
    assert (store.get(HERE, "4").value, len(store.records())) == ({"n": 4}, 5)
    tasks.append(asyncio.create_task(store.aput(HERE, "last", {"n": 0})))
    await asyncio.sleep(0)
    store.close()
    assert await asyncio.gather(*tasks) == [None] * 6
    store.close()
    with pytest.raises(MemoryStoreError, match="is closed; open it again"):
        await store.aget(HERE, "1")


async def test_an_embedding_is_given_no_more_texts_than_it_can_take():
    sizes = []

    def embed(texts):
        sizes.append(len(texts))
        return [[1.0, 2.0]] * len(texts)

    async with ChromaStore(embedding=Embedding("small", 2, embed)) as store:
        await store.abatch([PutOp(HERE, str(n), {"n": n}) for n in range(1_200)])
    assert sizes == [1_000, 200]


async def test_what_is_kept_has_bounds_whatever_is_searched(monkeypatch):
    monkeypatch.setattr("harbor.memory._store.collection.KEPT_BYTES", 40_000)
    async with ChromaStore(fields=["text"]) as store:
        await put(store, range(100), namespaces=25)
        for _ in range(2):
            found = await store.asearch((), query="text 42", limit=100)
            assert (found[0].key, len(found)) == ("42", 100)
            assert 0 < sum(one.kept.size for one in store._collections.known.values() if one.kept) <= 40_000


@pytest.mark.parametrize("most", [0, 2_000])
async def test_no_caller_finds_anothers_memories_whatever_is_kept(most, monkeypatch):
    monkeypatch.setattr("harbor.memory._store.collection.KEPT_ROWS", most)
    users, random = [f"user {n}" for n in range(12)], Random(7)
    async with ChromaStore(fields=["text"]) as store:

        def work(user):
            yield store.aput((user, "x"), str(random.randrange(9)), {"text": f"{user}-canary {random.random()}"})
            yield store.asearch((user,), query=f"{random.choice(users)}-canary", limit=100)
            yield store.asearch((user, "x"), limit=100)
            yield store.asearch((user,), filter={"text": {"$ne": ""}}, query="canary", limit=100)

        for _ in range(3):
            asked = [(user, one) for user in users for one in work(user)]
            random.shuffle(asked)
            found = await asyncio.gather(*(one for _, one in asked))
            for (user, _), items in zip(asked, found, strict=True):
                seen = {(item.namespace, item.value["text"].split("-")[0]) for item in items or ()}
                assert seen <= {((user, "x"), user)}
        owners = {item.namespace for item in await store.asearch((), query="user 3-canary", limit=500)}
        assert owners == {(user, "x") for user in users}


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (170, 170))
from harbor.memory import ChromaStore

for writes in (True, True, False):
    with ChromaStore(sys.argv[1], fields=["text"]) as store:
        for n in range(45):
            if writes:
                store.put((f"user {n}",), "a", {"text": f"text {n}"})
            else:
                assert store.search((f"user {n}",), query="text")[0].value["text"] == f"text {n}"
        assert len(store.search((), limit=100)) == 45
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files to set")
def test_more_namespaces_than_files_may_be_open_are_searched(tmp_path):
    subprocess.run([sys.executable, "-c", FEW_FILES, str(tmp_path / "memory")], check=True)
