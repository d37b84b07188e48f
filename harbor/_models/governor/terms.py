"""Calls and the governor exchange requests, tickets, verdicts, and the waits of failed calls."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from harbor._core.basics.errors import HarborError


@dataclass(frozen=True, slots=True)
class Wait:
    """A failed call that is retried, or a batch that is out.

    Times are seconds relative to now, because clocks of machines differ. The wait has lasted `seconds`. The call is
    retried for `left` more seconds (None: no limit). The provider asks for a `pause`. `tries` counts the failed tries.
    `unconnected` says that the last try found no server.
    """

    host: str
    model: str
    status: str
    seconds: float = 0.0
    left: float | None = None
    tries: int = 0
    pause: float = 0.0
    unconnected: bool = False

    def later(self, seconds: float) -> Wait:
        """Return the same wait so many seconds later."""
        left = None if self.left is None else max(0.0, self.left - seconds)
        return replace(self, seconds=self.seconds + seconds, left=left, pause=max(0.0, self.pause - seconds))


@dataclass(frozen=True, slots=True)
class Asked:
    """The call that has been at a provider for longest."""

    host: str
    model: str
    seconds: float


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The present state: the waits, calls at providers, calls that wait for their start, and the cost so far.

    `dollars` is the cost of this process and its workers; None if a price is unknown.
    """

    waits: tuple[Wait, ...] = ()
    calls: int = 0
    queued: int = 0
    longest: Asked | None = None
    dollars: float | None = 0.0


class Waits:
    """The waits of a process and its workers by call, and their cost; the owner locks it against other threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._noted: dict[Hashable, tuple[float, Wait]] = {}
        self._reached = set[str]()  # hosts that have answered, or that a call has waited for
        self.dollars: float | None = 0.0

    def note(self, call: Hashable, wait: Wait | None) -> Wait | None:
        """Note a call's wait (None: it is over); return it if it is the first sign of a host that can't be reached."""
        if wait is None:
            self._noted.pop(call, None)
            return None
        self._noted[call] = (self._clock(), wait)
        known = wait.host in self._reached
        self._reached.add(wait.host)
        return None if known or not wait.unconnected else wait

    def reached(self, host: str) -> None:
        """Note that a host has answered. A later failure to connect is an outage, and no wrong address."""
        self._reached.add(host)

    def spend(self, dollars: float | None) -> None:
        """Add the cost of a call; None if it is unknown."""
        self.dollars = None if dollars is None or self.dollars is None else self.dollars + dollars

    def now(self) -> tuple[Wait, ...]:
        """Return the waits, the longest first. Batches come last, because they have not failed."""
        now = self._clock()
        waits = [wait.later(now - noted) for noted, wait in self._noted.values()]
        return tuple(sorted(waits, key=lambda wait: (not wait.tries, -wait.seconds)))


def warn_of_address(wait: Wait) -> None:
    """Warn that a host that has never answered can't be reached, because its address may be wrong."""
    until = "" if wait.left is None else f" until {datetime.now() + timedelta(seconds=wait.left):%H:%M:%S}"
    where = wait.status.replace("no connection", f"no connection to {wait.host}", 1)
    model = f" for model {wait.model!r}" if wait.model else ""
    warnings.warn(
        f"{where}{model}; it is tried again{until}. If the address is wrong, stop the run, and mend it", stacklevel=3
    )


class Stopped(HarborError):
    """A call may not start any more, because the first call of its model was refused for good."""


class Gone(Stopped):
    """A call may not start any more, because the process with the governor is gone."""


class TooLong(HarborError):
    """A call may not wait for its start, because the provider's pause lasts `seconds` more."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the provider asks to wait for {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a provider and key, above 0; None is unknown and will be learned."""

    max_concurrent: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants to start.

    Attributes:
        account: the account of the limits: provider, address and a digest of the key, never the key.
        model: names the exact model and its settings within the account.
        age: the place of the call's game in the order of starts; the lowest goes first.
        tokens: the estimated tokens, input and output together.
        limits: the user's limits for the account.
        patience: the longest pause asked by the provider for which the call still waits, in seconds.
        host: the server's host name for display.
        shown: the model's name for display.
    """

    account: str
    model: str
    age: tuple[int, ...]
    tokens: int
    limits: Limits = Limits()
    patience: float = math.inf
    host: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to make one call; its holder has to give it back."""

    account: str
    number: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The provider answered, and charged so many tokens."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Busy:
    """The provider refused the call because of too many calls; `retry_after` is its wanted wait in seconds, or None."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call failed, or was given up, in a way that says nothing about limits."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The provider refused the call for good, in these words."""

    words: str


Verdict = Answered | Busy | Failed | Refused


class Governor(Protocol):
    """Decides when calls start."""

    async def enter(self, request: Request) -> Ticket:
        """Wait until a call may start.

        Raises:
            Stopped: the first call of the same model was refused for good.
            TooLong: the provider asks for a longer pause than the call waits for.
        """

    def leave(self, ticket: Ticket, verdict: Verdict) -> None:
        """Report how a call ended. Every ticket comes back, also from a call that was given up (`Failed`)."""

    def note(self, call: int, wait: Wait | None) -> None:
        """Tell the governor that the call of this number in this process waits; None: it waits no longer."""

    def spend(self, dollars: float | None) -> None:
        """Report the cost of a call in dollars; None if its price is unknown."""
