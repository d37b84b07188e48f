"""Servers of Harbor's tools on loopback, and MCP SDK clients that play in their auctions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client

from harbor._cli.shared.files import load, presets
from harbor._cli.shared.trust import named_by
from harbor._mcp.experiment_tools import ExperimentTools
from harbor._mcp.held_auctions import HeldAuctions
from harbor._mcp.host_tools import House, Purse
from harbor._mcp.serving import host_server, listening, seat_server, serve, web_app

KEY = "host-key-of-the-tests"
Told = dict[str, Any]
Decide = Callable[[Told], Any]


@dataclass
class Served:
    """The parts of a server, and the address of its web server if it has one."""

    held: HeldAuctions
    house: House
    hosts: Any
    bidders: Any
    url: str = ""


@dataclass
class Played:
    """The answers of all tools to a client, as text."""

    heard: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    async def call(self, client: Client, name: str, /, **arguments: Any) -> Told:
        """Call a tool and keep its answer."""
        result = await client.call_tool(name, arguments)
        text = "".join(part.text for part in result.content)
        (self.refused if result.is_error else self.heard).append(text)
        return result.structured_content or {}


@asynccontextmanager
async def tools(runs: Path, max_cost: float | None = None, trust: bool = False) -> AsyncIterator[Served]:
    """Make the servers for bidders and for hosts, which share their auctions."""
    house = House(runs, presets, load, named_by, trust, Purse(max_cost))
    held, experiments = HeldAuctions(runs), ExperimentTools(house)
    try:
        yield Served(held, house, host_server(held, house, experiments), seat_server(held))
    finally:
        await experiments.close()
        await held.close()


@asynccontextmanager
async def on_loopback(runs: Path) -> AsyncIterator[Served]:
    """Serve both servers over HTTP on a free port."""
    async with tools(runs) as served:
        door, stop = listening("127.0.0.1", 0), asyncio.Event()
        served.url = f"http://127.0.0.1:{door.getsockname()[1]}"
        serving = asyncio.ensure_future(
            serve(web_app(served.bidders, served.hosts, KEY, "127.0.0.1"), door, _wait(stop))
        )
        try:
            yield served
        finally:
            stop.set()
            await serving


async def play(client: Client, token: str, decide: Decide, played: Played | None = None) -> Played:
    """Play a seat to the end. `decide` returns the answer to a turn."""
    played = played or Played()
    while (turn := await played.call(client, "wait_for_turn", seat=token))["status"] != "over":
        if turn["status"] == "your_turn":
            await played.call(client, "answer", seat=token, turn=turn["turn"], answer=decide(turn))
    return played


def withdraw(_: Told) -> Told:
    """Withdraw from every item."""
    return {"action": "withdraw"}


def up_to(limit: int) -> Decide:
    """Return a decision function that bids the minimum up to a limit."""

    def decide(turn: Told) -> Told:
        least = turn["space"]["minimum"]
        return {"action": "bid", "amount": least} if least <= limit else {"action": "withdraw"}

    return decide


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()
