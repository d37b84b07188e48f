"""The required figures of the doors, measured: Harbor's processor time for one turn through each."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from harbor._config.agents import AgentCommand
from harbor._core.asking.asks import Amount, Ask, Bid
from harbor._core.log.acts import Acted, Signal
from harbor._core.log.events import BidderSeated, Event
from harbor._doors.door import Door, SeatTurns
from harbor._doors.open_doors import OpenSeat, open_door
from harbor._mcp.held_auctions import ClientSeat, HeldAuction
from support.every_door import STEADY, chain, decide_later, graph, server
from support.mcp_clients import on_loopback
from support.steady import decide

WARM, TURNS, TIMES = 50, 100, 3
"""Warm-up turns, measured turns, and repeats. The least mean counts, because other processes use the machine too."""
ASK = Ask("Ann", "House 3", 1, Amount(Decimal(1_000), Decimal(20_000)))
SEATED = BidderSeated("Ann", Decimal(20_000), {}, "profit")
SIGNAL = Signal("Ann", {f"House {n}": Decimal(2_000) for n in range(10)}, noisy=True)
FUNCTION, APART, CLIENT = "<= 1 ms", "<= 5 ms", "<= 15 ms"
"""Targets after some 50 events, and for a function after each of `LENGTHS`, as a turn carries all its seat's events."""
LENGTHS = (50, 500, 2_000)
"""Numbers of events that a seat has seen, in sales of three lengths."""


@asynccontextmanager
async def opened(agent: Any) -> AsyncIterator[Door]:
    """Open the door to an agent."""
    door = open_door(agent)
    try:
        yield door
    finally:
        await door.close()


@asynccontextmanager
async def served() -> AsyncIterator[Door]:
    """Ask a web server in a new process."""
    with server() as agent:
        async with opened(agent) as door:
            yield door


@asynccontextmanager
async def called() -> AsyncIterator[Door]:
    """Serve a seat over HTTP to an MCP client in a new process."""
    seat, nowhere = OpenSeat(), Path("nowhere")
    config: Any = None
    async with on_loopback(nowhere) as served:
        held = HeldAuction("held", config, nowhere, begun=True)
        served.held._seats["seat-1"] = ClientSeat("seat-1", "Ann", seat, 120, held)
        with subprocess.Popen((*STEADY, "mcp", f"{served.url}/mcp", "seat-1")) as client:
            await seat.taken()
            yield seat
            await seat.close()
            while client.poll() is None:
                await asyncio.sleep(0.01)


DOORS: dict[str, tuple[str, Callable[[], Any]]] = {
    "a function": (FUNCTION, lambda: opened(decide)),
    "an async function": (FUNCTION, lambda: opened(decide_later)),
    "a chain of LangChain's": ("none set", lambda: opened(chain())),
    "a graph of LangGraph's": ("none set", lambda: opened(graph())),
    "a program over stdio": (APART, lambda: opened(AgentCommand(command=STEADY))),
    "a server over HTTP": (APART, served),
    "a client of MCP over HTTP": (CLIENT, called),
}


async def milliseconds(door: Door, events: int = WARM) -> float:
    """Measure the milliseconds to write a turn, send it and read the answer, without the agent's own time elsewhere.

    Args:
        door: door to the agent.
        events: number of events that its seat has seen at the first measured turn.
    """
    means = []
    for number in range(TIMES + 1):
        turns, seen = SeatTurns("english", "s1"), [SEATED, SIGNAL, *map(bid, range(2, events))]
        turns.of(ASK, seen)
        many = TURNS if number else WARM
        began = time.process_time()
        for _ in range(many):
            seen.append(bid(len(seen)))
            await door.ask(turns.of(ASK, seen))
        means.append(1_000 * (time.process_time() - began) / many)
    return min(means[1:])


def bid(place: int) -> Event:
    """Return an event of a sale."""
    return Acted("Ben", "House 3", Bid(Decimal(1_000 + place)), place)


@pytest.mark.parametrize("door", DOORS)
def test_own_processor_time_of_a_turn(benchmark, figure, door):
    aim, make = DOORS[door]

    async def measured() -> float:
        async with make() as opened:
            return await milliseconds(opened)

    def measure() -> None:
        figure(f"a turn through the door to {door}: processor time", aim, f"{asyncio.run(measured()):.2f} ms")

    benchmark.pedantic(measure, rounds=1)


@pytest.mark.parametrize("events", LENGTHS)
def test_own_processor_time_of_a_turn_after_many_events(benchmark, figure, events):
    async def measured() -> float:
        async with opened(decide) as door:
            return await milliseconds(door, events)

    def measure() -> None:
        name = f"a turn through the door to a function, after {events:,} events"
        figure(name, FUNCTION, f"{asyncio.run(measured()):.2f} ms")

    benchmark.pedantic(measure, rounds=1)
