"""Opening: the one place that knows which door an agent is asked through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any

from harbor._config.agents import AgentCommand, AgentServer
from harbor._core.events import LogOpened
from harbor._doors.door import Door, DoorBidder
from harbor._doors.functions import FunctionDoor
from harbor._doors.makes import is_chat_agent, is_runnable
from harbor._doors.turn import SeatTurns


def open_door(agent: Any) -> Door:
    """Give the door to an agent of any make but a chat agent, which sits in the room itself."""
    if isinstance(agent, Door):
        return agent
    if isinstance(agent, AgentCommand):
        from harbor._doors.processes import ProcessDoor

        return ProcessDoor(agent)
    if isinstance(agent, AgentServer):
        from harbor._doors.servers import ServerDoor

        return ServerDoor(agent)
    if is_runnable(agent):
        from harbor._doors.runnables import RunnableDoor

        return RunnableDoor(agent)
    return FunctionDoor(agent)


@asynccontextmanager
async def opened(agents: Mapping[str, object], game: str, log: LogOpened) -> AsyncIterator[dict[str, object]]:
    """Give the agents by bidder as who plays: chat agents as they are, others as players behind doors.

    The doors are closed with the room, all at once, and what goes wrong there troubles no sale.
    """
    players, doors = dict(agents), list[Door]()
    try:
        for bidder, agent in agents.items():
            if not is_chat_agent(agent):
                doors.append(door := open_door(agent))
                players[bidder] = DoorBidder(door, SeatTurns(game, seat_of(log, bidder)))
        yield players
    finally:
        await asyncio.gather(*(door.close() for door in doors), return_exceptions=True)


def seat_of(log: LogOpened, bidder: str) -> str:
    """Give what tells a seat from all others in all runs: the same when a run is resumed. It is no secret."""
    return blake2b("\0".join((log.run, log.token, bidder)).encode(), digest_size=16).hexdigest()
