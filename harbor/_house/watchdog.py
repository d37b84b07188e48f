"""Interrupts the code of a player that holds its thread for too long, such as `while True: pass`.

Agents and policies share a thread with every other seat, so one that never gives it back would end the sale. A thread
of its own looks at the steps that are open and raises `Overdue` in those that last too long. What runs in C, as
`time.sleep` does, can't be interrupted: it is overdue when it returns. The same thread looks at `running_seconds`, by
which all this is timed.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from harbor._core.running_time import look, look_away, running_seconds

T = TypeVar("T")
GRACE_SECONDS = 0.1
"""How long a player that ran out of time has to tidy up, and to record the calls that it has made."""
ROUND_SECONDS = 0.02
"""How often the steps that are open are looked at, and the clock."""
AGAIN_SECONDS = 1.0
"""When a step that swallowed its interruption is interrupted again."""
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)


class Overdue(BaseException):
    """A player's code has held its thread beyond the player's time."""


_OPEN: dict[int, Step] = {}
"""The innermost step that is open, by thread."""
_TIMED: set[object] = set()
"""What else is timed now."""
_SOME = threading.Event()


@contextmanager
def timed() -> Iterator[None]:
    """Keep `running_seconds` from counting pauses inside."""
    key = object()
    _TIMED.add(key)
    if not _SOME.is_set():
        _wake()
    try:
        yield
    finally:
        _TIMED.remove(key)


class Step:
    """A piece of a player's code that runs without giving the thread back, for `limit` seconds at most."""

    __slots__ = ("_interrupt_at", "_interrupted", "_interrupting", "_soonest", "_thread", "_until")

    def __init__(self, limit: float) -> None:
        if not _SOME.is_set():
            _wake()
        self._soonest = time.monotonic() + limit
        self._until = self._interrupt_at = running_seconds() + limit
        self._interrupted = self._interrupting = False

    @property
    def late(self) -> bool:
        """Whether it took too long."""
        if time.monotonic() <= self._soonest:  # the clock without pauses goes no faster, and costs more to read
            return self._interrupted
        return self._interrupted or running_seconds() > self._until

    def run(self, call: Callable[..., T], *arguments: Any) -> T:
        """Run the code.

        Raises:
            Overdue: it was interrupted and let that through.
        """
        thread = self._thread = threading.get_ident()
        outer = _OPEN.get(thread)
        try:
            _OPEN[thread] = self  # from here on it may be interrupted: nothing of ours takes a lock until it is closed
            return call(*arguments)
        finally:
            while True:  # an interruption may come as late as here, and then this begins again
                try:
                    if outer is None:
                        _OPEN.pop(thread, None)
                    else:
                        _OPEN[thread] = outer
                    if self._interrupting or self._interrupted:
                        self._take_back()
                    break
                except Overdue:
                    pass

    def _take_back(self) -> None:
        """Wait for an interruption that is on its way, and take it back if it has not come."""
        while self._interrupting:
            time.sleep(0)
        _raise_in(self._thread, ctypes.py_object())  # NULL

    def look(self, now: float) -> None:
        """Interrupt the step if it lasts too long."""
        if now < self._interrupt_at:
            return
        self._interrupt_at = now + AGAIN_SECONDS
        self._interrupting = True  # before it looks whether the step is open: `run` does these in the other order
        if _OPEN.get(self._thread) is self:
            self._interrupted = True
            _raise_in(self._thread, Overdue)
        self._interrupting = False


class _Watchdog(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="harbor-watchdog", daemon=True)

    def run(self) -> None:
        while True:
            _SOME.wait(AGAIN_SECONDS)  # and not for ever: the clearing below may come just as a step opens
            time.sleep(ROUND_SECONDS)
            if not (_OPEN or _TIMED):
                _rest()
                continue
            look(self.native_id or 0)
            for step in _OPEN.copy().values():
                step.look(running_seconds())


_dog = _Watchdog()


def _rest() -> None:
    look_away()
    _SOME.clear()
    if _OPEN or _TIMED:  # it began just now
        _wake()


def _wake() -> None:
    if _dog.ident is None:
        _dog.start()
    look(_dog.native_id or 0)
    _SOME.set()


def _renew() -> None:
    """Begin anew in a process that was forked: threads stay behind, and locks as they were."""
    global _dog, _SOME
    _dog, _SOME = _Watchdog(), threading.Event()
    _OPEN.clear()
    _TIMED.clear()
    look_away()


os.register_at_fork(after_in_child=_renew)
