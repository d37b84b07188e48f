"""A provider with quotas, and games that call it, in simulated time: thousands of calls take milliseconds."""

from __future__ import annotations

import asyncio
import selectors
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random

from harbor._models.governor.account import Account, Step
from harbor._models.governor.terms import Answered, Busy, Governor, Limits, Request, Verdict


@dataclass
class Provider:
    """Refuses calls beyond `cap` at once, beyond `most` in any `window` seconds, and a `share` at random."""

    cap: int | None = None
    most: int | None = None
    window: float = 1.0
    retry_after: float | None = None
    latency: tuple[float, float] = (0.05, 0.05)
    counts_refused: bool = False
    share: float = 0.0
    chance: Random = field(default_factory=lambda: Random(1))
    requests: int = 0
    busy: int = 0
    inside: int = 0
    accepted: deque[float] = field(default_factory=deque)

    def call(self, now: float) -> bool:
        """Accept a call, which has to `end`, or refuse it."""
        self.requests += 1
        while self.accepted and self.accepted[0] <= now - self.window:
            self.accepted.popleft()
        free = self.most is None or len(self.accepted) < self.most
        room = self.cap is None or self.inside < self.cap
        if free and (room or self.counts_refused):
            self.accepted.append(now)
        if not (free and room) or self.chance.random() < self.share:
            self.busy += 1
            return False
        self.inside += 1
        return True

    def end(self) -> None:
        self.inside -= 1


@dataclass
class Played:
    seconds: float
    requests_per_call: float
    order: list[tuple[int, ...]]


@dataclass
class Oracle:
    """A governor that knows the provider's state. No governor with this order of games takes less time."""

    provider: Provider
    waiting: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    inside: int = 0
    starts: deque[float] = field(default_factory=deque)

    def enter(self, number: int, request: Request) -> None:
        heappush(self.waiting, (request.age, number))

    def leave(self, number: int, verdict: Verdict, now: float) -> None:
        self.inside -= 1

    def step(self, now: float) -> Step:
        started, provider = [], self.provider
        again = None
        while self.waiting and (provider.cap is None or self.inside < provider.cap):
            if provider.most and len(self.starts) >= provider.most:
                again = self.starts[-provider.most] + provider.window + 0.002
                if again > now:
                    break
                again = None
            self.starts.append(now)
            self.inside += 1
            started.append(heappop(self.waiting)[1])
        return Step(tuple(started), (), again)


def least(provider: Provider, games: int = 100, calls: int = 20) -> float:
    """Return the seconds that the games take if the quota is known and fully used."""
    return play(provider, Limits(), games, calls, governor=Oracle(provider)).seconds


def play(
    provider: Provider,
    limits: Limits,
    games: int = 100,
    calls: int = 20,
    governor: Account | Oracle | None = None,
) -> Played:
    """Play all games at the same time. Each game makes its calls in turn."""
    chance = Random(1)
    account = governor or Account(chance.random)
    events: list[tuple[float, int, str, int]] = []
    left, game_of = dict.fromkeys(range(games), calls), dict[int, int]()
    numbers, ties = count(1), count()
    order, looks = [], []

    def ask(game: int) -> None:
        game_of[number := next(numbers)] = game
        account.enter(number, Request("a", "m", (game,), 100, limits))

    def look(now: float) -> None:
        step = account.step(now)
        for number in step.started:
            heappush(events, (now + chance.uniform(0.0005, 0.002), next(ties), "arrives", number))
            order.append((game_of[number],))
        if step.again is not None and not (looks and looks[0] <= step.again + 0.002):
            at = step.again + chance.uniform(0, 0.002)
            heappush(events, (at, next(ties), "look", 0))
            looks.append(at)
            looks.sort()

    for game in range(games):
        ask(game)
    now = 0.0
    look(now)
    while events:
        now, _, what, number = heappop(events)
        if what == "arrives":
            taken = provider.call(now)
            wait = chance.uniform(*provider.latency) if taken else 0.001
            heappush(events, (now + wait, next(ties), "answered" if taken else "busy", number))
            continue
        if what == "answered":
            provider.end()
            heappush(events, (now + chance.uniform(0.0005, 0.002), next(ties), "told", number))
            continue
        if what == "told":
            account.leave(number, Answered(100), now)
            game = game_of[number]
            left[game] -= 1
            if left[game]:
                ask(game)
        elif what == "look":
            looks.pop(0)
        elif what == "busy":
            account.leave(number, Busy(provider.retry_after), now)
            ask(game_of[number])
        look(now)
    assert not any(left.values()), "calls never started"
    return Played(now, provider.requests / (games * calls), order)


async def play_for_real(
    provider: Provider, governor: Governor, limits: Limits, games: int = 100, calls: int = 20, first: int = 0
) -> None:
    """Let games call the provider in the running event loop, by its clock."""
    loop = asyncio.get_running_loop()
    chance = Random(first)

    async def game(age: int) -> None:
        answered = 0
        while answered < calls:
            ticket = await governor.enter(Request("a", "m", (age,), 100, limits))
            taken = provider.call(loop.time())
            if taken:
                await asyncio.sleep(chance.uniform(*provider.latency))
                provider.end()
            answered += taken
            governor.leave(ticket, Answered(100) if taken else Busy(provider.retry_after))

    await asyncio.gather(*(game(age) for age in range(first, first + games)))


class TimelessLoop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: its clock jumps to the next timer when no task is ready."""

    def __init__(self) -> None:
        super().__init__(_Hasty(self))
        self.now = 0.0

    def time(self) -> float:
        return self.now


class _Hasty(selectors.DefaultSelector):
    def __init__(self, loop: TimelessLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0 if timeout is not None else None)
        if not found and timeout:
            self._loop.now += timeout
        return found
