"""The required figures of the governor: 100 games of 20 calls against a provider with quotas."""

from __future__ import annotations

import asyncio
import pickle
import sys
import time
from pathlib import Path
from random import Random

import pytest

from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.remote import GovernorAddress, RemoteGovernor, serving
from harbor._models.governor.terms import Answered, Busy, Limits, Request
from support.quotas import Provider, least, play

HERE = Path(__file__).resolve()
GIVEN, LEARNED = "<= 1.02 requests a call, >= 95 % used", "<= 1.10 requests a call, >= 95 % used"
QUOTAS = {
    "4 at once, given": (Limits(max_concurrent=4), {"cap": 4}, GIVEN),
    "60 a second, given": (Limits(requests_per_minute=3600), {"most": 60}, GIVEN),
    "4 at once, learned": (Limits(), {"cap": 4}, LEARNED),
    "60 a second, learned": (Limits(), {"most": 60}, LEARNED),
    "60 a second, Retry-After 1, learned": (Limits(), {"most": 60, "retry_after": 1.0}, LEARNED),
    "16 at once and 60 a second, learned": (Limits(), {"cap": 16, "most": 60}, LEARNED),
    "600 a minute, learned": (Limits(), {"most": 600, "window": 60.0}, LEARNED),
}
LATENCIES = [(0.005, 0.005), (0.05, 0.05), (0.02, 0.2), (1.0, 1.0), (0.5, 2.0), (2.0, 2.0)]


def told(requests: float, used: float) -> str:
    return f"{requests:.3f}, {100 * used:.1f} %"


@pytest.mark.parametrize("quota", QUOTAS)
def test_in_simulated_time(benchmark, figure, quota):
    limits, provider, aim = QUOTAS[quota]

    def measure() -> None:
        for latency in LATENCIES:
            played = play(Provider(**provider, latency=latency), limits)
            used = least(Provider(**provider, latency=latency)) / played.seconds
            figure(f"{quota}; {latency[0]} to {latency[1]} s", aim, told(played.requests_per_call, used))

    benchmark.pedantic(measure, rounds=1)


@pytest.mark.parametrize(
    "quota", ["4 at once, given", "60 a second, given", "4 at once, learned", "60 a second, learned"]
)
def test_two_worker_processes_for_real(benchmark, figure, quota):
    limits, kind, aim = QUOTAS[quota]
    latency = (0.05, 0.15)
    provider, calls = Provider(**kind, latency=latency), 10

    def measure() -> None:
        seconds = asyncio.run(drive(provider, limits, calls))
        ideal = least(Provider(**kind, latency=latency), calls=calls)
        figure(
            f"{quota}; two processes, 10 calls a game", aim, told(provider.requests / (100 * calls), ideal / seconds)
        )

    benchmark.pedantic(measure, rounds=1)


async def drive(provider: Provider, limits: Limits, calls: int) -> float:
    """Serve a governor and a provider to two processes. Return the seconds from first request to last answer."""
    times: list[float] = []
    chance = Random(1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            times.append(time.monotonic())
            taken = provider.call(times[-1])
            if taken:
                await asyncio.sleep(chance.uniform(*provider.latency))
                provider.end()
            writer.write(b"answered\n" if taken else b"busy\n")
        times.append(time.monotonic())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with serving(LocalGovernor()) as address:
        workers = []
        for first in (0, 50):
            given = pickle.dumps((address, server.sockets[0].getsockname()[1], limits, first, calls)).hex()
            workers.append(await asyncio.create_subprocess_exec(sys.executable, str(HERE), given))
        assert [await worker.wait() for worker in workers] == [0, 0]
    server.close()
    return max(times) - min(times)


async def work(address: GovernorAddress, port: int, limits: Limits, first: int, calls: int) -> None:
    """Play 50 games in a worker."""
    governor = RemoteGovernor(address)

    async def game(age: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answered = 0
        while answered < calls:
            ticket = await governor.enter(Request("account", "model", (age,), 100, limits))
            writer.write(b"call\n")
            taken = await reader.readline() == b"answered\n"
            answered += taken
            governor.leave(ticket, Answered(100) if taken else Busy())
        writer.close()

    await asyncio.gather(*(game(age) for age in range(first, first + 50)))


if __name__ == "__main__":
    asyncio.run(work(*pickle.loads(bytes.fromhex(sys.argv[1]))))
