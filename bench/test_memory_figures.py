"""The required figures of the memory, measured. `make bench` prints them. Nothing here fails for being slow."""

from __future__ import annotations

import asyncio
import statistics
import time
from importlib.resources import files

import numpy as np
import psutil
import pytest
from langgraph.store.base import PutOp

from harbor import Auction
from harbor._config.auction import Bidder, ModelSettings, Simulated, read_settings
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Decided
from harbor.memory._store.chroma import ChromaStore
from harbor.memory._store.embedding import Embedding, as_embedding

HERE = ("ann", "episodes")
DIMENSION = 384
SEARCHES: dict[int, float] = {}
ITEMS = read_settings(files("harbor._config.presets") / "standard.toml", Auction).items


def scattered(texts):
    """Return vectors without any structure, the hardest case for an index. Text n always has the same vector."""
    return [np.random.default_rng(int(text)).standard_normal(DIMENSION, dtype=np.float32) for text in texts]


SCATTERED = Embedding("scattered", DIMENSION, scattered)


def milliseconds(work, times: int) -> list[float]:
    spent = []
    for number in range(times):
        started = time.perf_counter()
        work(number)
        spent.append(1000 * (time.perf_counter() - started))
    return sorted(spent)


def told(spent: list[float]) -> str:
    return f"median {statistics.median(spent):.1f}, p95 {spent[int(0.95 * len(spent))]:.1f}"


def memory(number: int) -> dict[str, object]:
    return {"text": str(number), "item": "Wren House", "price": 180_000 + number, "outcome": "sold to Ben", "round": 3}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with ChromaStore(tmp_path_factory.mktemp("figures") / "memory", embedding=SCATTERED, fields=["text"]) as opened:
        yield opened


@pytest.mark.parametrize("count", [10_000, 100_000])
def test_search(benchmark, figure, store, count):
    have = len(store.search(HERE, limit=200_000))
    started = time.perf_counter()
    for start in range(have, count, 1000):
        store.batch([PutOp(HERE, str(number), memory(number)) for number in range(start, start + 1000)])
    figure(
        f"filling up to {count:,} memories, ms each",
        "",
        f"{1000 * (time.perf_counter() - started) / (count - have):.2f}",
    )
    milliseconds(lambda number: store.search(HERE, query=str(number)), 20)
    spent = benchmark.pedantic(
        lambda: milliseconds(lambda number: store.search(HERE, query=str(number * 37)), 300), rounds=1
    )
    SEARCHES[count] = statistics.median(spent)
    figure(f"search among {count:,} memories, ms", "p95 10" if count == 100_000 else "", told(spent))
    found = [store.search(HERE, query=str(number * 37), limit=1)[0].key == str(number * 37) for number in range(100)]
    figure(f"of {count:,} memories, found by their own text", "", f"{np.mean(found):.0%}")
    if len(SEARCHES) == 2:
        figure("growth of a search from 10,000 to 100,000", "3x", f"{SEARCHES[100_000] / SEARCHES[10_000]:.2f}x")


@pytest.mark.parametrize(
    ("where", "embedding"), [("big", SCATTERED), ("new", SCATTERED), ("new", as_embedding("hashing"))]
)
def test_puts(benchmark, figure, store, tmp_path, where, embedding):
    opened = store if where == "big" else ChromaStore(tmp_path / "memory", embedding=embedding, fields=["text"])
    held = len(opened.search(HERE, limit=200_000))  # in the store that the searches fill, if they ran before
    name = f"{f'{held:,} memories' if where == 'big' else 'a new store'}, embedding {embedding.name}"
    numbers = iter(range(1_000_000, 2_000_000))

    def put_100(_):
        opened.batch([PutOp(HERE, str(number), memory(number)) for number, _ in zip(numbers, range(100), strict=False)])

    spent = milliseconds(lambda _: opened.put(HERE, str(number := next(numbers)), memory(number)), 200)
    figure(f"a put into {name}, ms", "8", told(spent))
    spent = benchmark.pedantic(lambda: milliseconds(put_100, 10), rounds=1)
    figure(f"100 puts in a batch into {name}, ms", "40", told(spent))
    if where == "new":
        opened.close()


@pytest.mark.parametrize("work", ["puts one by one", "100 puts in a batch", "searches"])
def test_event_loop_is_not_blocked(benchmark, figure, tmp_path, work):
    pauses: list[float] = []

    async def tick():
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.001)
            pauses.append(1000 * (time.perf_counter() - started) - 1)

    async def remember():
        async with ChromaStore(tmp_path / "memory", fields=["text"]) as store:
            await store.abatch([PutOp(HERE, str(number), memory(number)) for number in range(1000)])
            ticking = asyncio.create_task(tick())
            for number in range(50):
                if work == "searches":
                    await store.asearch(HERE, query=f"text {number}")
                elif work == "puts one by one":
                    await store.aput(HERE, f"new {number}", memory(number))
                elif number < 5:
                    await store.abatch([PutOp(HERE, f"new {number} {n}", memory(n)) for n in range(100)])
            ticking.cancel()

    benchmark.pedantic(lambda: asyncio.run(remember()), rounds=1)
    figure(f"event loop held up by {work}, ms", "10", f"{told(sorted(pauses))}, longest {max(pauses):.1f}")


def test_open_files(benchmark, figure, tmp_path):
    process, held = psutil.Process(), []

    def open_and_close():
        for _ in range(1000):
            with ChromaStore(tmp_path / "memory") as store:
                store.put(HERE, "a", {"text": "x"})
            held.append(process.num_fds())

    benchmark.pedantic(open_and_close, rounds=1)
    figure("open files after 10, 100 and 1,000 opens and closes", "flat", f"{held[9]}, {held[99]}, {held[999]}")
    figure("an open, a put and a close, ms", "", f"{1000 * benchmark.stats.stats.mean / 1000:.1f}")


EARLIER = 10
RUNS = 5


def sale(folder, memory: str, seed: int) -> Auction:
    """The standard sale under the yardstick's policy, of three bidders that all have memory, or none."""
    minds = {"bidding": "call"} | ({} if memory == "none" else {"memory": memory, "learning": True})
    seats = [Bidder(f"Bidder {number}", budget=20_000, **minds) for number in (1, 2, 3)]
    model = ModelSettings(simulated=Simulated(policy="minimum"))
    return Auction(seed=seed, items=ITEMS, bidders=seats, models={"simulated": model}, memory={"store": str(folder)})


async def held(auction: Auction, pauses: list[float] | None = None) -> tuple[float, int]:
    """Hold a sale. Return its milliseconds and decisions. Append the event loop's delays to `pauses`."""

    async def tick():
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            if pauses is not None:
                pauses.append(1000 * (time.perf_counter() - began) - 1)

    ticking = asyncio.create_task(tick())
    started = time.perf_counter()
    log = (await auction.arun()).log
    spent = 1000 * (time.perf_counter() - started)
    ticking.cancel()
    return spent, len(of_type(log, Decided))


def test_memory_of_a_whole_sale(benchmark, figure, tmp_path):
    """Measure the time per decision and the pauses that memories of ten earlier sales add, including the opening."""

    def measure(memory: str) -> tuple[list[float], list[float]]:
        for seed in range(EARLIER if memory != "none" else 1):
            asyncio.run(held(sale(tmp_path / memory, memory, seed)))
        pauses: list[float] = []
        runs = [asyncio.run(held(sale(tmp_path / memory, memory, 100 + seed), pauses)) for seed in range(RUNS)]
        return [spent / decisions for spent, decisions in runs], sorted(pauses)

    ways = ("none", "list", "retrieved", "episodes", "full")
    results = benchmark.pedantic(lambda: {memory: measure(memory) for memory in ways}, rounds=1)
    base = statistics.median(results["none"][0])
    for memory, (costs, pauses) in results.items():
        cost = statistics.median(costs)
        if memory != "none":
            figure(f"memory {memory} and learning, ms a decision", "5", f"{cost - base:+.2f} on top of {base:.2f}")
        figure(f"event loop of a sale held up, memory {memory}, ms", "10", f"{told(pauses)}, longest {pauses[-1]:.1f}")
