"""This module opens the door to each agent. Two doors need no transport: those of a function and of an open seat.

A function gets a turn as a dict and returns the answer. At an open seat an agent asks for its turn, and answers by the
turn's number.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from traceback import walk_tb
from typing import Any

from harbor._config.agents import AgentCommand, AgentServer
from harbor._core.asking.asks import Unreadable
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.loops import running_seconds
from harbor._core.log.events import LogOpened
from harbor._doors.agent import is_chat_agent, is_runnable
from harbor._doors.door import LONGEST_ANSWER, Door, DoorBidder, Given, SeatTurns, Turn, answer_in
from harbor._house.auctioneer import answer_to, judged
from harbor._house.watchdog import PLACED, in_words


class FunctionDoor(Door):
    """Asks a plain or an async function.

    An async function runs in the event loop. A plain function runs in a new thread each turn, so that a slow one blocks
    nobody. Harbor stops waiting when the time is over, but it can't stop the thread.
    """

    def __init__(self, function: Callable[[dict[str, Any]], Any]) -> None:
        self._function = function
        call = getattr(function, "__call__", None)  # noqa: B004 - the `__call__` of an object may be async
        self._waits = iscoroutinefunction(function) or iscoroutinefunction(call)

    async def ask(self, turn: Turn) -> Given:
        """Call the function. Add a note to any error, with the line of the function's file.

        Raises:
            ConfigError: the function returned an agent, so it is no function of a turn.
        """
        try:
            answer = await self._call(turn.as_json())
        except Exception as error:
            _note_place(error)
            raise
        if is_chat_agent(answer) or is_runnable(answer):
            raise ConfigError(
                f"the function gave a {type(answer).__name__}, which is an agent and no answer; to have it make the"
                " agent of each bidder, name Agent(name=..., description=..., make=the function)"
            )
        return answer_in(answer, turn.ask)

    async def _call(self, told: dict[str, Any]) -> Any:
        given = self._function(told) if self._waits else await _in_thread(self._function, told)
        return await given if isawaitable(given) else given

    async def close(self) -> None:
        """Do nothing, as the door opened nothing."""


def _note_place(error: Exception) -> None:
    """Add a note with the line in the function's own file, not in a library that the function calls."""
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    theirs = [place for place in places if place[0] != __file__]
    if theirs:
        file, line = [place for place in theirs if place[0] == theirs[0][0]][-1]
        BaseException.add_note(error, f"{PLACED}{line} of {Path(file).name}")


async def _in_thread(call: Callable[[dict[str, Any]], Any], told: dict[str, Any]) -> Any:
    """Call in a daemon thread. A program would wait at its end for a thread of a pool."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call(told))
        except BaseException as error:  # the caller has to see every error
            failure.append(error)
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="harbor-agent", daemon=True).start()
    await ended.wait()
    if failure:
        raise failure[0]
    return outcome[0]


class OutOfTurn(HarborError):
    """An answer came to a turn that is not asked now."""


class OpenSeat(Door):
    """A door that any client may use. It holds one turn at a time, and takes the first answer to the turn.

    Nothing is kept per connection, so an agent may leave and come back. An agent that has not called since its last
    turn counts as gone: its next turn fails at once. It thus costs the sale one time-out, not one per turn.
    """

    def __init__(self) -> None:
        self._turn: Turn | None = None
        self._given: asyncio.Future[Given] | None = None
        self._asked_at = 0.0
        self._last = self._answered = -1
        self._called = asyncio.Event()
        self._changed = asyncio.Event()
        self._left = asyncio.Event()
        self.is_closed = False

    async def ask(self, turn: Turn) -> Given:
        """Hold a turn until it is answered.

        Raises:
            TimeoutError: no client has called for this seat since the last turn.
        """
        if not self._called.is_set():
            raise TimeoutError("no client has called for this seat since its last turn")
        self._called.clear()
        given: asyncio.Future[Given] = asyncio.get_running_loop().create_future()
        self._turn, self._given, self._asked_at, self._last = turn, given, running_seconds(), turn.number
        self._wake()
        try:
            return await given
        finally:
            self._turn = None

    async def close(self) -> None:
        """Close the seat: it asks nothing more."""
        self.is_closed = True
        self._wake()

    async def taken(self) -> None:
        """Wait until a client has called for this seat."""
        await self._called.wait()

    async def left(self) -> None:
        """Wait until the client has been told that the seat is closed.

        Return at once if no client has called since the last turn.
        """
        if self._called.is_set():
            await self._left.wait()

    @property
    def last_turn(self) -> int:
        """Number of the last turn, which equals the number of events its bidder had seen; 0 before the first turn."""
        return max(self._last, 0)

    @property
    def asked_for(self) -> float:
        """Seconds for which the turn has been held."""
        return running_seconds() - self._asked_at

    async def next_turn(self, seconds: float) -> Turn | None:
        """Wait for a turn and return it. Return None if the time is over or the seat is closed."""
        self._called.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._turn is None and not self.is_closed:
                    await self._changed.wait()
        self._called.set()  # the client was waiting when the turn came
        if self.is_closed:
            self._left.set()
        return self._turn

    def answer(self, number: int, given: object) -> str:
        """Answer the turn of this number with words or JSON. Return why the answer fails, or "" if it is valid.

        Raises:
            OutOfTurn: this turn is not asked now. The message says how to go on.
        """
        self._called.set()
        turn, waiting = self._turn, self._given
        if turn is None or waiting is None or waiting.done() or turn.number != number:
            raise OutOfTurn(self._why_not(number))
        if len(str(given)) > LONGEST_ANSWER:
            taken = Given(Unreadable(f"an answer of more than {LONGEST_ANSWER:,} characters is not read"))
        else:
            taken = answer_in(given, turn.ask)
        self._turn, self._answered = None, number
        waiting.set_result(taken)
        judgement = judged(turn.ask, answer_to(turn.ask, in_words(taken.answer, turn.ask)))
        return judgement if isinstance(judgement, str) else ""

    def _why_not(self, number: int) -> str:
        if number == self._answered:
            return f"turn {number} was answered before, and the first answer counts; call wait_for_turn for the next"
        if self.is_closed:
            return "the auction is over, and nothing more is asked"
        if self._turn is not None:
            return f"you are asked to answer turn {self._turn.number}, not {number}; call wait_for_turn to read it"
        if number <= self._last:
            return f"turn {number} is over, as its time ran out; call wait_for_turn for the next"
        return f"there is no turn {number} to answer now; call wait_for_turn, and answer the turn that it gives"

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def open_door(agent: Any) -> Door:
    """Return the door to an agent; an AutoGen chat agent needs none."""
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
    """Yield the players by bidder: chat agents unchanged, and all other agents behind doors.

    All doors are closed at the same time at the end. Their errors are ignored, so that no sale fails.
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
    """Return an ID of the seat that is unique over all runs and kept when a run is resumed. It is no secret."""
    return blake2b("\0".join((log.run, log.token, bidder)).encode(), digest_size=16).hexdigest()
