"""An account knows which calls wait, are at the provider, or may start; it has neither clock nor randomness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeVar

from harbor._models.governor.pace import Pace
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request, Verdict

FIRST = 16  # calls at once at the start of an account with unknown limits; while all are answered, this doubles
UNBOUNDED = 1 << 30  # calls: more than a machine can have open
MOST_PATIENCE = 50  # most rounds of answers before more calls are tried: 2 % of the rounds find the same cap again
KEPT = 64  # most answers remembered per number of calls at once: six refusals halve these to one
LARGE = 16  # least cap for which starts are spread; fewer calls at once look like no burst to a provider
SPREAD_SHARE = 0.5  # of the latency: starts are spread over half of it, so that no call waits for long


class Crowd:
    """Learns the number of concurrent calls that an account takes (the cap).

    After a full round of answers it tries one more call, then two, four and so on. If it finds the cap again, it waits
    twice as many rounds before the next try.
    """

    def __init__(self) -> None:
        self.era = 0  # counts the changes of the cap
        self._cap: int | None = None
        self._trial = -1  # the era that began when more calls were tried
        self._before = 0  # the cap before `_trial`
        self._found = 0  # the cap at the last refusal
        self._step = FIRST
        self._patience = 1
        self._answers = 0
        self._accepted: dict[int, float] = defaultdict(float)  # by the number of calls already there

    def cap(self, given: int | None, paced: bool) -> int:
        """Return the limit of concurrent calls; `given` is the user's limit.

        An account with a given pace needs no slow start, because its pace alone keeps calls few.
        """
        if self._cap is None and given is None and not paced:
            self._cap, self._trial = FIRST, self.era
        return min(self._cap or UNBOUNDED, given or UNBOUNDED)

    def spacing(self, latency: float) -> float:
        """Return the seconds between two starts that spread a learned crowd over half the latency; 0 for a small one.

        A provider that counts by the second takes calls that start together for too many at once.
        """
        return SPREAD_SHARE * latency / self._cap if self._found >= LARGE and self._cap else 0.0

    def answered(self, beside: int, era: int, full: bool) -> None:
        """Note an accepted call beside `beside` others; `full` says that more calls wait for its place."""
        self._accepted[beside] = min(KEPT, self._accepted[beside] + 1)
        self._answers += era == self.era
        if full and self._cap is not None and self._answers >= self._patience * self._cap:
            self._try_more(self._cap)

    def is_cause(self, beside: int, era: int, again: bool) -> bool:
        """Say whether the number of concurrent calls caused a refusal beside `beside` others.

        It did if more calls were just tried. Otherwise the pace is the cause if the provider has accepted as many calls
        at once before. Those accepted calls then count half, so that a lowered cap is recognised after a few refusals,
        but not if the refusal comes `again` before any other call was accepted.
        """
        if era == self._trial and beside >= max(1, self._before):
            return True
        levels = [level for level in self._accepted if level >= beside]
        if beside and sum(self._accepted[level] for level in levels) < 1:
            return True
        for level in [] if again else levels:
            self._accepted[level] /= 2
        return False

    def lower(self, beside: int) -> None:
        """Lower the cap to the number of calls that the provider had when it refused one more."""
        if self._cap is not None and beside >= self._cap:
            return
        if self.era == self._trial:
            self._patience = min(MOST_PATIENCE, 2 * self._patience)
        self._step = 1
        self._found = beside
        self._change(beside)

    def _try_more(self, cap: int) -> None:
        self._before = cap
        self._change(min(cap + self._step, UNBOUNDED))
        self._trial = self.era
        if cap > self._found:
            self._patience = 1
            self._step *= 2

    def _change(self, cap: int) -> None:
        self._cap = cap
        self._answers = 0
        self.era += 1


T = TypeVar("T", int, float)
LATENCIES = 10  # answers in the mean of the latency, so that it follows a provider that slows down within seconds


@dataclass(frozen=True, slots=True)
class Step:
    """The next actions: calls that start, calls that are stopped with the reason, and the time to look again.

    `too_long` holds calls that wait no more, with the rest of the provider's pause in seconds.
    """

    started: tuple[int, ...]
    stopped: tuple[tuple[int, str], ...]
    again: float | None
    too_long: tuple[tuple[int, float], ...] = ()


@dataclass(slots=True)
class _Flight:
    request: Request
    order: int
    started: float
    era: int
    peers: int  # calls at the provider when this one started, without refused ones


@dataclass(slots=True)
class _Model:
    queue: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    answered: bool = False
    trial: int | None = None  # the only call that is out until there is an answer


class Account:
    """A state machine: report each event with its time, then ask for the next `step`. Numbers of calls ascend."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._crowd = Crowd()
        self._pace = Pace(jitter)
        self._models: dict[str, _Model] = {}
        self._waiting: dict[int, Request] = {}
        self._flights: dict[int, _Flight] = {}
        self._stopped: list[tuple[int, str]] = []
        self._given: dict[str, Limits] = {}
        self._most: int | None = None
        self._starts = 0
        self._latency = 0.0  # seconds until an answer, on average
        self._asked_until = 0.0  # the end of the longest pause that the provider has asked for

    def enter(self, number: int, request: Request) -> None:
        """Put a call in the queue."""
        if not self._waiting and not self._flights:
            self._given.clear()  # limits of earlier runs no longer count
        if self._given.get(request.model) != request.limits:
            self._given[request.model] = request.limits
            self._tighten()
        self._waiting[number] = request
        heappush(self._models.setdefault(request.model, _Model()).queue, (request.age, number))

    def withdraw(self, number: int) -> None:
        """Remove a waiting call."""
        self._waiting.pop(number, None)

    def leave(self, number: int, verdict: Verdict, now: float) -> None:
        """Note how a call ended."""
        flight = self._flights.pop(number, None)
        if flight is None:
            return
        model = self._models[flight.request.model]
        on_trial, model.trial = model.trial == number, None if model.trial == number else model.trial
        match verdict:
            case Answered(tokens):
                model.answered = True
                self._accept(flight, tokens, now)
            case Busy(retry_after):
                self._reject(flight, now, retry_after)
            case Refused(words) if on_trial:
                self._stop(flight.request.model, words)
            case Refused() | Failed():
                pass

    def step(self, now: float) -> Step:
        """Start the calls that may start, and return all next actions."""
        too_long = self._give_up(self._asked_until - now)
        started = []
        again = None
        while (model := self._next()) is not None and len(self._flights) < self._cap():
            opens = self._pace.opens()
            if opens > now:
                again = opens
                break
            started.append(self._start(model, now))
        stopped, self._stopped = tuple(self._stopped), []
        return Step(tuple(started), stopped, again, too_long)

    def _give_up(self, seconds: float) -> tuple[tuple[int, float], ...]:
        """Remove the calls that do not wait for the rest of the provider's pause, `seconds`."""
        if seconds <= 0:
            return ()
        too_long = [number for number, request in self._waiting.items() if request.patience < seconds]
        for number in too_long:
            del self._waiting[number]
        return tuple((number, seconds) for number in too_long)

    def _start(self, model: _Model, now: float) -> int:
        _, number = heappop(model.queue)
        request = self._waiting.pop(number)
        self._starts += 1
        model.trial = None if model.answered else number
        self._flights[number] = _Flight(request, self._starts, now, self._crowd.era, len(self._flights))
        self._pace.start(now, request.tokens)
        self._pace.spread(now, self._crowd.spacing(self._latency))
        return number

    def _next(self) -> _Model | None:
        """Find the model with the oldest call, among models that wait for no first answer; None if there is none."""
        for model in self._models.values():
            while model.queue and model.queue[0][1] not in self._waiting:
                heappop(model.queue)
        free = [model for model in self._models.values() if model.queue and model.trial is None]
        return min(free, key=lambda model: model.queue[0], default=None)

    def _accept(self, flight: _Flight, tokens: int, now: float) -> None:
        self._latency += (now - flight.started - self._latency) / (LATENCIES if self._latency else 1)
        full = bool(self._waiting) and len(self._flights) + 1 >= self._cap()
        self._crowd.answered(flight.peers, flight.era, full)
        self._pace.accepted(flight.started)
        self._pace.tokens.correct(tokens - flight.request.tokens)

    def _reject(self, flight: _Flight, now: float, retry_after: float | None) -> None:
        for later in self._flights.values():
            later.peers -= later.order > flight.order
        self._asked_until = max(self._asked_until, now + (retry_after or 0.0))
        self._pace.take_back(flight.started)
        self._pace.tokens.correct(-flight.request.tokens)
        beside = max(flight.peers, len(self._flights))  # calls that started together may arrive in another order
        if not self._pace.is_old(flight.started) and self._crowd.is_cause(beside, flight.era, self._pace.is_refused):
            self._crowd.lower(beside)
        else:
            self._pace.refuse(flight.started, now, retry_after)

    def _stop(self, name: str, words: str) -> None:
        """Stop the calls that wait for the first answer of a model; the next call tries anew."""
        for _, number in self._models.pop(name).queue:
            if self._waiting.pop(number, None):
                self._stopped.append((number, words))

    def _cap(self) -> int:
        return self._crowd.cap(self._most, self._pace.is_given)

    def _tighten(self) -> None:
        """Apply the strictest of different limits for the account."""
        given = self._given.values()
        self._most = _least(each.max_concurrent for each in given)
        self._pace.calls.per_minute = _least(each.requests_per_minute for each in given)
        self._pace.tokens.per_minute = _least(each.tokens_per_minute for each in given)


def _least(limits: Iterable[T | None]) -> T | None:
    return min((each for each in limits if each is not None), default=None)
