"""What the calls of a process and its workers wait for: told by each call that has failed, and shown while it lasts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Wait:
    """A call that has failed and is made again, or a batch that is out.

    Times are in seconds from now, as clocks of machines differ: it has been so for `seconds`, it is tried for the rest
    that is `left` (None: no limit), and the provider asks to wait for `pause`. `tries` is how many have failed;
    `unconnected`: the last one found no server.
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
        """Give it as it is so many seconds later."""
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
    """How things stand: the waits, calls at providers, calls that wait for their start, and what was paid.

    `dollars` is that of this process and its workers; None: a price is unknown.
    """

    waits: tuple[Wait, ...] = ()
    calls: int = 0
    queued: int = 0
    longest: Asked | None = None
    dollars: float | None = 0.0


class Waits:
    """The waits of a process and its workers by call, and the dollars; whoever has it keeps threads apart."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._noted: dict[Hashable, tuple[float, Wait]] = {}
        self._reached = set[str]()  # hosts that have answered, or that were told of
        self.dollars: float | None = 0.0

    def note(self, call: Hashable, wait: Wait | None) -> Wait | None:
        """Note that a call waits (None: no longer); give the wait if its host is unheard of, which is told once."""
        if wait is None:
            self._noted.pop(call, None)
            return None
        self._noted[call] = (self._clock(), wait)
        known = wait.host in self._reached
        self._reached.add(wait.host)
        return None if known or not wait.unconnected else wait

    def reached(self, host: str) -> None:
        """Note that a host has answered: a connection that fails later is an outage, and no wrong address."""
        self._reached.add(host)

    def spend(self, dollars: float | None) -> None:
        """Add what a call has cost; None: nobody knows."""
        self.dollars = None if dollars is None or self.dollars is None else self.dollars + dollars

    def now(self) -> tuple[Wait, ...]:
        """Give the waits, the longest first; batches, which are in no trouble, come last."""
        now = self._clock()
        waits = [wait.later(now - noted) for noted, wait in self._noted.values()]
        return tuple(sorted(waits, key=lambda wait: (not wait.tries, -wait.seconds)))


def warn_of_address(wait: Wait) -> None:
    """Tell at once that a host can't be reached that has never answered: its address may be wrong."""
    until = "" if wait.left is None else f" until {datetime.now() + timedelta(seconds=wait.left):%H:%M:%S}"
    where = wait.status.replace("no connection", f"no connection to {wait.host}", 1)
    model = f" for model {wait.model!r}" if wait.model else ""
    warnings.warn(
        f"{where}{model}; it is tried again{until}. If the address is wrong, stop the run, and mend it", stacklevel=3
    )
