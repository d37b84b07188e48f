"""All games of a process share its governor, from any thread and event loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from threading import Lock

from harbor._core.basics.numbers import stream
from harbor._models.governor.account import Account
from harbor._models.governor.terms import (
    Answered,
    Asked,
    Failed,
    Request,
    Stopped,
    Ticket,
    TooLong,
    UnderWay,
    Verdict,
    Wait,
    Waits,
    warn_of_address,
)


@dataclass(eq=False, slots=True)
class _Call:
    """A call that waits or holds a ticket, with its event loop; `started` is the time of its start at the provider."""

    ticket: Ticket
    loop: asyncio.AbstractEventLoop
    entry: asyncio.Future[Ticket]
    request: Request
    started: float = 0.0

    def asked_at(self, now: float) -> Asked:
        return Asked(self.request.host, self.request.shown, now - self.started)

    def admit(self) -> None:
        if not self.entry.done():
            self.entry.set_result(self.ticket)

    def stop(self, error: Stopped | TooLong) -> None:
        if not self.entry.done():
            self.entry.set_exception(error)


class LocalGovernor:
    """Drives the accounts of calls: it has the clock, wakes calls in their event loops, and sets timers to check."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._numbers = count(1)
        self._accounts: dict[str, Account] = {}
        self._waiting: dict[int, _Call] = {}
        self._holding: dict[int, _Call] = {}
        self._alarms: dict[tuple[str, asyncio.AbstractEventLoop], asyncio.TimerHandle] = {}
        self._waits = Waits(clock)

    async def enter(self, request: Request) -> Ticket:
        """Wait until a call may start.

        Raises:
            Stopped: the first call of the same model was refused for good.
            TooLong: the provider asks for a longer pause than the call waits for.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            ticket = Ticket(request.account, next(self._numbers))
            call = _Call(ticket, loop, loop.create_future(), request)
            self._waiting[ticket.number] = call
            self._account(request.account).enter(ticket.number, request)
            self._free_the_dead()
            self._go_on(request.account)
        try:
            return await call.entry
        except asyncio.CancelledError:
            self.leave(ticket, Failed())
            raise

    def leave(self, ticket: Ticket, verdict: Verdict) -> None:
        """Report how a call ended. A call that still waits leaves the queue."""
        with self._lock:
            self._waiting.pop(ticket.number, None)
            call = self._holding.pop(ticket.number, None)
            if call is not None and isinstance(verdict, Answered):
                self._waits.reached(call.request.host)
            account = self._account(ticket.account)
            account.withdraw(ticket.number)
            account.leave(ticket.number, verdict, self._clock())
            self._go_on(ticket.account)

    def note(self, call: Hashable, wait: Wait | None) -> None:
        """Note the wait of a call (None: no longer). Warn at once if its host can't be reached and never answered."""
        with self._lock:
            unheard_of = self._waits.note(call, wait)
        if unheard_of is not None:
            warn_of_address(unheard_of)

    def spend(self, dollars: float | None) -> None:
        """Add the cost of a call in dollars; None if it is unknown."""
        with self._lock:
            self._waits.spend(dollars)

    def under_way(self) -> UnderWay:
        """Return the present state of the calls."""
        with self._lock:
            first = next(iter(self._holding.values()), None)  # calls are in the order of their starts
            longest = None if first is None else first.asked_at(self._clock())
            return UnderWay(self._waits.now(), len(self._holding), len(self._waiting), longest, self._waits.dollars)

    def _account(self, name: str) -> Account:
        if name not in self._accounts:
            self._accounts[name] = Account(stream(os.getpid(), "governor", name).random)
        return self._accounts[name]

    def _go_on(self, name: str) -> None:
        """Start the calls that may start; the caller holds the lock."""
        now = self._clock()
        step = self._accounts[name].step(now)
        for number in step.started:
            call = self._holding[number] = self._waiting.pop(number)
            call.started = now
            _in_its_loop(call.loop, call.admit)
        errors: dict[int, Stopped | TooLong] = {number: Stopped(words) for number, words in step.stopped}
        errors |= {number: TooLong(seconds) for number, seconds in step.too_long}
        for number, error in errors.items():
            call = self._waiting.pop(number)
            _in_its_loop(call.loop, call.stop, error)
        if step.again is not None:
            waiting = (call for call in self._waiting.values() if call.ticket.account == name)
            for loop in {call.loop for call in waiting}:
                _in_its_loop(loop, self._set_alarm, name, loop, step.again)

    def _set_alarm(self, name: str, loop: asyncio.AbstractEventLoop, at: float) -> None:
        """Look again at a time. Every loop with a waiting call has its own alarm, because any loop may end before."""
        earlier = self._alarms.pop((name, loop), None)
        if earlier is not None:
            earlier.cancel()
        self._alarms[name, loop] = loop.call_later(max(0.0, at - self._clock()), self._look, name, loop)

    def _look(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._alarms.pop((name, loop), None)
            self._go_on(name)

    def _free_the_dead(self) -> None:
        """Take back the tickets and places of calls whose event loop was closed; the caller holds the lock."""
        for key in [key for key in self._alarms if key[1].is_closed()]:
            del self._alarms[key]
        calls = (*self._waiting.values(), *self._holding.values())
        for loop in [loop for loop in {call.loop for call in calls} if loop.is_closed()]:
            for ticket in [call.ticket for call in calls if call.loop is loop]:
                self._waiting.pop(ticket.number, None)
                self._holding.pop(ticket.number, None)
                self._accounts[ticket.account].withdraw(ticket.number)
                self._accounts[ticket.account].leave(ticket.number, Failed(), self._clock())


def _in_its_loop(loop: asyncio.AbstractEventLoop, act: Callable[..., None], *words: object) -> None:
    """Call `act` in an event loop, at once if that loop runs here."""
    if asyncio._get_running_loop() is loop:
        act(*words)
        return
    with suppress(RuntimeError):  # the loop is closed: the next call that enters frees its tickets
        loop.call_soon_threadsafe(act, *words)


@cache
def governor() -> LocalGovernor:
    """Return the only governor of this process."""
    return LocalGovernor()


os.register_at_fork(after_in_child=governor.cache_clear)
