"""The code of an agent step by step: what it runs between two waits, so that none of it can stop the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, TypeVar

from harbor._core.errors import told
from harbor._core.running_time import loop_seconds
from harbor._house.hearing import is_not_theirs
from harbor._house.watchdog import GRACE_SECONDS, Overdue, Step

T = TypeVar("T")


class _Held(threading.local):
    seconds = 0.0


_HELD = _Held()
"""How long the steps of all agents have held this thread."""


def run_quietly(call: Callable[[], object]) -> None:
    """Run code of an agent's that has a moment only, and whose errors trouble nobody."""
    try:
        Step(GRACE_SECONDS).run(call)
    except Overdue:
        pass
    except BaseException as error:
        if is_not_theirs(error):
            raise


class TurnTime:
    """The time that a seat has for a turn.

    Waits for its provider, what other agents' code takes and pauses of this process are not its own.

    Args:
        seconds: how much it has.
        waited: gives the seconds that it has waited for the provider of its model.
    """

    def __init__(self, seconds: float, waited: Callable[[], float]) -> None:
        self._clock = partial(loop_seconds, asyncio.get_running_loop())
        self._waited = waited
        self._own = 0.0
        self._given_up = False
        self._seconds = seconds
        self._until = self._clock() + seconds - waited() - _HELD.seconds

    def left(self) -> float:
        """Give the seconds that are left; below 0: it is over."""
        return self._until + self._waited() + _HELD.seconds - self._own - self._clock()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the code of an agent to its end.

        Raises:
            Overdue: it has held the thread beyond its time.
        """
        return await self._in_steps(work, lambda: max(self.left(), GRACE_SECONDS))

    async def suffices(self, thinking: asyncio.Future[Any]) -> bool:
        """Wait for an answer; false: the time is over."""
        while not thinking.done():
            if (left := self.left()) <= 0:
                return False
            # Not `wait_for`: that would go on waiting for an agent that swallows its cancellation.
            await asyncio.wait({thinking}, timeout=left)
        return True

    def give_up(self) -> None:
        """Run nothing more of it but its end: the next cancellation is not the agent's to swallow."""
        self._given_up = True

    @coroutine
    def _in_steps(self, work: Coroutine[Any, Any, T], limit: Callable[[], float]) -> Generator[Any, Any, T]:
        go_on: Callable[[], Any] = partial(work.send, None)
        while True:
            step = Step(limit())
            try:
                waits_for = self._one(step, go_on)
            except StopIteration as end:
                if step.late:
                    raise Overdue from None
                return end.value  # type: ignore[no-any-return]
            try:
                yield waits_for
                go_on = partial(work.send, None)
            except BaseException as error:  # such as a cancellation: the agent's to deal with
                if self._given_up:
                    run_quietly(work.close)
                    raise
                go_on = partial(work.throw, error)

    def _one(self, step: Step, go_on: Callable[[], Any]) -> Any:
        """Run one step; tasks that it starts run in steps too."""
        loop, began = asyncio.get_running_loop(), self._clock()
        factory = loop.get_task_factory()
        loop.set_task_factory(partial(self._start, factory or asyncio.Task))
        try:
            return step.run(go_on)
        finally:
            loop.set_task_factory(factory)
            took = self._clock() - began
            self._own += took
            _HELD.seconds += took

    def _start(self, task: Any, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **named: Any) -> Any:
        inside = self._in_background(work)
        return task(inside, loop=loop, **named) if task is asyncio.Task else task(loop, inside, **named)

    async def _in_background(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a task of an agent's.

        Raises:
            RuntimeError: it wants to end the program, which would end the event loop for everybody.
        """
        try:
            return await self._in_steps(work, lambda: self._seconds)
        except (SystemExit, KeyboardInterrupt) as error:
            if is_not_theirs(error):
                raise
            raise RuntimeError(told(error)) from error
