"""Waiting times of many users of one store, beside raw Chroma and LangGraph's SQLite store, in one run.

LangGraph's store is not installed with Harbor: `make stores` fetches it and measures all three.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import numpy as np
import pytest

from harbor.memory import ChromaStore
from harbor.memory._store.backend import Collections
from harbor.memory._store.embedding import as_embedding

USERS, OF_A_USER = 100, 20
PUTS = USERS * OF_A_USER
HASHING = as_embedding("hashing")
GROWN = """
import sys, time
import numpy as np, psutil
from langgraph.store.base import PutOp
from harbor.memory import ChromaStore
from harbor.memory._store.embedding import Embedding
embed = lambda texts: [np.random.default_rng(int(text)).standard_normal(256, dtype=np.float32) for text in texts]
with ChromaStore(sys.argv[1], embedding=Embedding("scattered", 256, embed), fields=["text"]) as store:
    before = psutil.Process().memory_info().rss
    for start in range(0, 100_000, 1000):
        numbers = range(start, start + 1000)
        store.batch([PutOp(("all",), str(n), {"text": str(n), "outcome": "sold to Ben", "round": 3}) for n in numbers])
    for n in range(100):
        store.search(("all",), query=str(n * 37))
    print((psutil.Process().memory_info().rss - before) / 2**20)
"""


def user(number: int) -> tuple[str, str]:
    return ("user", str(number % USERS))


def value(number: int) -> dict[str, object]:
    return {"text": f"Item {number} was sold to Ben.", "price": number}


@asynccontextmanager
async def chroma(folder):
    async with ChromaStore(folder / "chroma", fields=["text"]) as store:
        yield store


@asynccontextmanager
async def sqlite(folder):
    """A store without an index: many Pythons can't load the extension for one, so it searches nothing by meaning."""
    module = pytest.importorskip("langgraph.store.sqlite.aio", reason="run make stores")
    async with module.AsyncSqliteStore.from_conn_string(str(folder / "sqlite.db")) as store:
        await store.setup()
        yield store


async def seconds(*work) -> float:
    began = time.perf_counter()
    await asyncio.gather(*work)
    return time.perf_counter() - began


def puts(store):
    return (store.aput(user(n), str(n), value(n)) for n in range(PUTS))


def mixed(store):
    gets = (store.aget(user(n), str(n)) for n in range(PUTS))
    searches = (store.asearch(user(n), query=f"Item {n}", limit=5) for n in range(PUTS))
    every = [*puts(store), *gets, *searches]
    random.Random(1).shuffle(every)
    return every


def raw_upserts(folder) -> float:
    """Return the time for the same rows by Chroma alone: one upsert for each user, into new collections."""
    with ChromaStore(folder / "raw", fields=["text"]) as store:
        collections: Collections = store._collections
        vectors = HASHING.vectors([str(value(n)["text"]) for n in range(PUTS)])
        began = time.perf_counter()
        for number in range(USERS):
            mine = range(number, PUTS, USERS)
            collections.made(user(number)).rows.upsert(
                ids=[str(n) for n in mine],
                embeddings=np.stack([vectors[n] for n in mine]),
                metadatas=[{"record": str(value(n)), "expires": None} for n in mine],
            )
        return time.perf_counter() - began


@pytest.mark.parametrize("opened", [chroma, sqlite], ids=["ChromaStore", "AsyncSqliteStore"])
def test_many_callers(benchmark, figure, tmp_path, opened):
    HASHING.vectors(["What it needs is loaded with the first text."])

    async def measure() -> dict[str, float]:
        (tmp_path / "mixed").mkdir()
        async with opened(tmp_path) as store:
            found = {f"{PUTS:,} puts of {USERS} users at once, s": await seconds(*puts(store))}
            found["2,000 searches in 100 namespaces at once, s"] = await seconds(
                *(store.asearch(user(n), query=f"Item {n}") for n in range(PUTS))
            )
            prefix = sorted([await seconds(store.asearch(("user",), query="Item 7")) for _ in range(9)])
            found["a search of 100 namespaces of 20, ms"] = 1000 * prefix[4]
            alone = sorted([await seconds(store.aput(user(n), "more", value(n))) for n in range(100)])
            found["a put alone, ms"] = 1000 * alone[50]
        async with opened(tmp_path / "mixed") as store:
            found["6,000 mixed operations at once, s"] = await seconds(*mixed(store))
        return found

    found = benchmark.pedantic(lambda: asyncio.run(measure()), rounds=1)
    aims = {"a search of": "25", "a put alone": "10", "6,000 mixed": "3"} if opened is chroma else {}
    name = "ChromaStore" if opened is chroma else "AsyncSqliteStore"
    for what, one in found.items():
        figure(
            f"{name}: {what}", next((aim for begin, aim in aims.items() if what.startswith(begin)), ""), f"{one:.3g}"
        )
    if opened is chroma:
        raw = raw_upserts(tmp_path)
        ratio = found[f"{PUTS:,} puts of {USERS} users at once, s"] / raw
        figure("2,000 puts at once to one raw upsert per namespace", "1.3", f"{ratio:.2f} (raw {raw:.2f} s)")


def test_event_loop_beside_many_callers(benchmark, figure, tmp_path):
    """Measure callers that arrive in turn, so that the store holds the loop, and not the number of callers."""
    pauses: list[float] = []

    async def tick():
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            pauses.append(1000 * (time.perf_counter() - began) - 1)

    async def use(store, number):
        for n in range(number, 10 * USERS, USERS):
            await store.aput(user(n), str(n), value(n))
            await store.asearch(user(n), query=f"Item {n}")

    async def measure():
        async with chroma(tmp_path) as store:
            ticking = asyncio.create_task(tick())
            await asyncio.gather(*(use(store, number) for number in range(USERS)))
            ticking.cancel()

    benchmark.pedantic(lambda: asyncio.run(measure()), rounds=1)
    median, p95 = np.percentile(pauses, [50, 95])
    told = f"median {median:.1f}, p95 {p95:.1f}, longest {max(pauses):.1f}"
    figure("event loop held up by 100 users, ms", "10", told)


def test_memory_of_100_000_memories(benchmark, figure, tmp_path):
    command = [sys.executable, "-c", GROWN, str(tmp_path / "memory")]
    grown = benchmark.pedantic(
        lambda: float(subprocess.run(command, capture_output=True, text=True, check=True).stdout), rounds=1
    )
    figure("100,000 memories of 256 dimensions, MB", "500", f"{grown:.0f}")
