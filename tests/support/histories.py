"""Drives an account of the governor through a history: calls come, are cancelled and end, and time passes."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, floor
from random import Random

from harbor._models.governor.account import Account
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request

VERDICTS = (Answered(20), Answered(5), Busy(), Busy(0.5), Failed(), Refused("no"))
GIVEN = (0.5, 1, 1.5, 7, 10, 59, 60, 61, 90.5, 119, 120, 150, 600, 3600)
"""Limits in requests per minute: whole and fractional, below and above one per second."""


class Driven:
    """An account and its observed behaviour."""

    def __init__(self, limits: Limits) -> None:
        self.account, self.limits = Account(lambda: 0.5), limits
        self.now, self.number = 0.0, 0
        self.waiting: dict[int, Request] = {}
        self.inside: list[int] = []
        self.starts: list[float] = []
        self.again: float | None = None

    def look(self) -> None:
        """Start the calls that may start."""
        step = self.account.step(self.now)
        for number, _words in step.stopped:
            del self.waiting[number]
        for number in step.started:
            mine = self.waiting[number].model
            oldest = min((request.age, other) for other, request in self.waiting.items() if request.model == mine)
            assert oldest[1] == number
            del self.waiting[number]
            self.inside.append(number)
            self.starts.append(self.now)
        assert step.again is None or step.again > self.now
        self.again = step.again

    def act(self, what: int, which: int, seconds: float) -> None:
        """Let `seconds` pass. Then a call comes, is cancelled, or ends."""
        self.now += seconds
        if what < 5:
            self.number += 1
            self.waiting[self.number] = Request("account", "mn"[which % 2], (which,), 10, self.limits)
            self.account.enter(self.number, self.waiting[self.number])
        elif what < 6 and self.waiting:
            number = sorted(self.waiting)[which % len(self.waiting)]
            del self.waiting[number]
            self.account.withdraw(number)
        elif self.inside:
            self.account.leave(self.inside.pop(which % len(self.inside)), VERDICTS[which % len(VERDICTS)], self.now)
        self.look()

    def finish(self) -> None:
        """Answer calls until none is left."""
        for _ in range(10_000):
            if not self.waiting and not self.inside:
                return
            if self.inside:
                self.account.leave(self.inside.pop(0), Answered(10), self.now)
            elif self.again is not None:
                self.now = self.again
            self.look()
        raise AssertionError(f"never started: {self.waiting}")

    def excess(self) -> int:
        """Count the starts after which a second or a minute had more starts than its limit."""
        given = self.limits.requests_per_minute or 0
        return sum(
            self._within(start, 1) > ceil(given / 60) or self._within(start, 60) > max(1, floor(given))
            for start in self.starts
        )

    def _within(self, start: float, seconds: float) -> int:
        return bisect_left(self.starts, start + seconds) - bisect_left(self.starts, start)


def random_history(chance: Random) -> Driven:
    """Drive an account through a random history, and then on until no call is left."""
    driven = Driven(Limits(requests_per_minute=chance.choice(GIVEN), max_concurrent=chance.choice((None, 3))))
    pauses = chance.choice((0.02, 0.5, 2.0, 20.0))  # mean seconds between two acts
    for _ in range(80):
        driven.act(chance.randrange(10), chance.randrange(31), chance.choice((0, chance.expovariate(1 / pauses))))
    driven.finish()
    return driven
