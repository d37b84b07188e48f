"""The door to a function of this process: a turn goes in as a dict, and what it returns is the answer."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from traceback import walk_tb
from typing import Any

from harbor._core.errors import ConfigError
from harbor._doors.door import Door
from harbor._doors.given import Given, answer_in
from harbor._doors.makes import is_chat_agent, is_runnable
from harbor._doors.turn import Turn
from harbor._house.hearing import PLACED


class FunctionDoor(Door):
    """Asks a plain or an async function.

    An async one runs in the event loop. A plain one runs in a thread of its own per turn, so that one that blocks holds
    up nobody; when its time is over nobody waits for it, but it can't be stopped.
    """

    def __init__(self, function: Callable[[dict[str, Any]], Any]) -> None:
        self._function = function
        call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async one
        self._waits = iscoroutinefunction(function) or iscoroutinefunction(call)

    async def ask(self, turn: Turn) -> Given:
        """Call the function; what it raises has a note of where in its file.

        Raises:
            ConfigError: it gave an agent, so it is no function of a turn.
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
        """Do nothing: nothing was opened."""


def _note_place(error: Exception) -> None:
    """Note the line of the function's own file that the error came by, rather than one of a library that it calls."""
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    theirs = [place for place in places if place[0] != __file__]
    if theirs:
        file, line = [place for place in theirs if place[0] == theirs[0][0]][-1]
        BaseException.add_note(error, f"{PLACED}{line} of {Path(file).name}")


async def _in_thread(call: Callable[[dict[str, Any]], Any], told: dict[str, Any]) -> Any:
    """Call in a thread that keeps nobody from ending: not those of a pool, which a program waits for at its end."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call(told))
        except BaseException as error:  # whatever it is, it is the caller's to hear of
            failure.append(error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="harbor-agent", daemon=True).start()
    await ended.wait()
    if failure:
        raise failure[0]
    return outcome[0]
