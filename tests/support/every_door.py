"""The steady policy behind each kind of door."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypedDict

from harbor import Agent
from harbor._config.agents import AgentCommand, AgentServer
from harbor._doors.door import Door, Given, Turn
from harbor._doors.open_doors import OpenSeat
from support import steady
from support.steady import decide

Policy = Callable[[dict[str, Any]], dict[str, Any]]
STEADY = (sys.executable, steady.__file__)


async def decide_later(turn: dict[str, Any]) -> dict[str, Any]:
    """Decide after other tasks have run."""
    await asyncio.sleep(0)
    return decide(turn)


@contextmanager
def server() -> Iterator[AgentServer]:
    """Run a web server in a new process."""
    process = subprocess.Popen((*STEADY, "serve"), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield AgentServer(url=f"http://127.0.0.1:{int(process.stdout.readline())}/")
    finally:
        process.terminate()
        process.communicate()


def chain(policy: Policy = decide) -> Any:
    """Make a LangChain chain."""
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(policy)


def graph() -> Any:
    """Make a LangGraph graph."""
    from langgraph.graph import StateGraph

    class State(TypedDict, total=False):
        bidder: str
        item: str
        round: int
        space: dict[str, Any]
        action: str
        amount: float | None

    made = StateGraph(State)
    made.add_node("decide", lambda state: {"amount": None, **decide(state)})
    made.set_entry_point("decide")
    made.set_finish_point("decide")
    return made.compile()


def speaker(policy: Policy = decide) -> Agent:
    """Make AutoGen agents."""

    def make(bidder: str) -> Any:
        from support.speaker import Speaker

        return Speaker(bidder, policy)

    return Agent(name="speaker", description="It says what it decides.", make=make)


class ClientDoor(Door):
    """A seat of a server on loopback. A client of the MCP SDK plays it."""

    def __init__(self, bidder: str, policy: Policy) -> None:
        self._bidder, self._policy = bidder, policy
        self._seat = OpenSeat()
        self._playing: asyncio.Task[None] | None = None

    async def ask(self, turn: Turn) -> Given:
        """Ask the client, which connects at the first turn."""
        if self._playing is None:
            self._playing = asyncio.create_task(self._play())
            await self._seat.taken()
        return await self._seat.ask(turn)

    async def close(self) -> None:
        """Wait until the client has been told of the end."""
        await self._seat.close()
        if self._playing is not None:
            await self._playing

    async def _play(self) -> None:
        from harbor._mcp.held_auctions import ClientSeat, HeldAuction
        from support.mcp_clients import on_loopback

        nowhere: Any = None
        async with on_loopback(Path("nowhere")) as served:
            held = HeldAuction("held", nowhere, Path("nowhere"), begun=True)
            served.held._seats["seat-1"] = ClientSeat("seat-1", self._bidder, self._seat, 120, held)
            await steady.play(f"{served.url}/mcp", "seat-1", self._policy)


def client(policy: Policy = decide) -> Agent:
    """Make seats that clients play."""
    return Agent(name="client", description="A client of MCP.", make=lambda bidder: ClientDoor(bidder, policy))


DOORS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "an async function": lambda: nullcontext(decide_later),
    "a chain": lambda: nullcontext(chain()),
    "a graph": lambda: nullcontext(graph()),
    "an AutoGen agent": lambda: nullcontext(speaker()),
    "a program": lambda: nullcontext(AgentCommand(command=STEADY)),
    "a server": server,
    "an MCP client": lambda: nullcontext(client()),
}
"""An agent behind each door but that of a plain function. Each exists while its context is open."""
