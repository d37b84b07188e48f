"""Harbor's overhead over a provider's package: processor time of a call, and wall-clock time of a chain of calls.

The variants of a figure take turns in one process, over one loopback server in its own process, so their ratios also
hold on a busy machine.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from itertools import count
from operator import truediv
from typing import Any

from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from test_figures import LATENCY_SECONDS, STANDARD
from test_provider_figures import elsewhere

from harbor import Auction, Simulated
from harbor._config.models import ModelSettings
from support.providers import provider

ROUNDS, WALL_ROUNDS = 15, 3
KEY = "none"
Body = dict[str, Any]


def sale(latency: float = 0.0, **model: Any) -> Auction:
    """Return the first items of the standard sale, on the built-in model or on another."""
    settings = ModelSettings(**model) if model else ModelSettings(simulated=Simulated(latency_seconds=latency))
    bidders = tuple(bidder.model_copy(update={"model": "mine", "bidding": "call"}) for bidder in STANDARD.bidders)
    return STANDARD.model_copy(
        update={"items": STANDARD.items[:3], "bidders": bidders, "models": {"mine": settings}, "seed": 0}
    )


def over_the_wire(url: str) -> Auction:
    """Return the same sale over OpenAI's wire format."""
    return sale(use="openai:model", base_url=url)


def bodies_of_a_sale() -> list[Body]:
    """Return the requests of the sale, as they are on the wire."""
    with provider() as server:
        over_the_wire(server.openai_url).run()
        return [heard.body for heard in server.requests]


async def bare(url: str, bodies: list[Body]) -> None:
    """Send requests one after another by OpenAI's package alone."""
    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
        for body in bodies:
            await client.chat.completions.create(**body)


async def bare_at_once(url: str, bodies: list[Body], chain: int) -> None:
    """Send requests by OpenAI's package alone, with the concurrency of a sale with this chain."""
    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
        for step in range(chain):
            now = bodies[len(bodies) * step // chain : len(bodies) * (step + 1) // chain]
            await asyncio.gather(*(client.chat.completions.create(**body) for body in now))


async def by_langchain(url: str, bodies: list[Body]) -> None:
    """Send requests one after another by LangChain's model, to which each tool is bound once."""
    async with DefaultAsyncHttpxClient() as http:
        chat, bound = ChatOpenAI(model="model", base_url=url, api_key=KEY, max_retries=0, http_async_client=http), {}
        for body in bodies:
            name = body["tool_choice"]["function"]["name"]
            bound[name] = bound.get(name) or chat.bind_tools(body["tools"], tool_choice=body["tool_choice"])
            await bound[name].ainvoke(body["messages"])


def test_processor_time_of_a_call(benchmark, figure, tmp_path):
    bodies, folders, spent = bodies_of_a_sale(), count(), defaultdict(list)

    def measure() -> None:
        with elsewhere(latency=0.0, limits={}) as (url, _):
            kinds: dict[str, Callable[[], Awaitable[object]]] = {
                "bare SDK": lambda: bare(url, bodies),
                "LangChain": lambda: by_langchain(url, bodies),
                "built-in model": lambda: sale().arun(out=tmp_path / str(next(folders))),
                "over the wire": lambda: over_the_wire(url).arun(out=tmp_path / str(next(folders))),
            }
            for number in range(1 + ROUNDS):
                for kind, run in kinds.items():
                    began = time.process_time()
                    asyncio.run(run())
                    if number:  # the first round is a warm-up
                        spent[kind].append(1000 * (time.process_time() - began) / len(bodies))

    benchmark.pedantic(measure, rounds=1)
    medians, least = ({kind: of(each) for kind, each in spent.items()} for of in (statistics.median, min))
    figure("processor time of a call, ms", "", "; ".join(f"{kind} {one:.1f}" for kind, one in medians.items()))
    ratio = statistics.median(map(truediv, spent["over the wire"], spent["bare SDK"]))  # of rounds next to each other
    of_least = least["over the wire"] / least["bare SDK"]
    figure("processor time of a call over the wire to bare SDK", "2", f"{ratio:.2f} (of minima {of_least:.2f})")


def test_wall_clock_of_a_chain(benchmark, figure, tmp_path):
    bodies, folders, took = bodies_of_a_sale(), count(), defaultdict(list)
    chain = sale().run().metrics().calls.chain

    def measure() -> None:
        with elsewhere(latency=LATENCY_SECONDS, limits={}) as (url, _):
            kinds: dict[str, Callable[[], Awaitable[object]]] = {
                "bare SDK": lambda: bare(url, bodies[:chain]),
                "bare SDK, as many at once": lambda: bare_at_once(url, bodies, chain),
                "built-in model": lambda: sale(LATENCY_SECONDS).arun(out=tmp_path / str(next(folders))),
                "over the wire": lambda: over_the_wire(url).arun(out=tmp_path / str(next(folders))),
            }
            for _ in range(WALL_ROUNDS):
                for kind, run in kinds.items():
                    began = time.perf_counter()
                    asyncio.run(run())
                    took[kind].append((time.perf_counter() - began) / (LATENCY_SECONDS * chain))

    benchmark.pedantic(measure, rounds=1)
    walls = {kind: min(each) for kind, each in took.items()}
    figure(
        f"wall clock to latency x chain of {chain}", "", "; ".join(f"{kind} {one:.3f}" for kind, one in walls.items())
    )
    wire = walls["over the wire"]
    figure("wall clock of a sale to bare calls in a row", "1.08", f"{wire / walls['bare SDK']:.3f}")
    figure(
        "wall clock of a sale to bare calls, as many at once", "", f"{wire / walls['bare SDK, as many at once']:.3f}"
    )
