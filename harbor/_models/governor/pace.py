"""How fast the calls of an account may start: by the limits given, or learned from what the provider accepts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

_SAFE = 0.985
"""The share of a given limit that is used: calls that start evenly do not arrive evenly."""
_BELOW = 0.98
_CATCH_UP = 0.1
_WINDOW, _LONGEST_WINDOW = 1.0, 60.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 30.0
_PAUSE_SHARE = 30
"""A pace is held for so many times the pause that finding its limit has cost."""
_LONGEST_HOLD = 60.0
_SLOWEST = 1 / 60
_NOISY = 5
"""A pace that is too fast is found by fewer refusals; more of them at ever lower paces have nothing to do with it."""
_SOON = 15
"""A pace that was lowered far enough takes at least so many calls to the next refusal."""
_QUIET = 50
"""So many calls are accepted one after the other where refusals do not come at random."""


class Pace:
    """The times at which the calls of an account start; times and pauses are in seconds.

    Calls start evenly. What was missed is caught up up to a tenth of a second, without more starts in a second than the
    pace. A refusal sets the pace slightly below what was accepted; it is held, and then grows until the next refusal.
    """

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter  # a number from 0 to 1
        self.given: float | None = None  # calls per second
        self.given_tokens: float | None = None  # tokens per second
        self._due = self._tokens_due = self._resumed = self._apart = -math.inf
        self._cut = -math.inf  # of the last refusal that counted
        self._starts = deque[float]()  # those that were not refused
        self._mark: float | None = None  # calls per second that the provider took at the last refusal
        self._grown = 0.0
        self._hold = 0.0
        self._found = 0  # how often the same limit was found again
        self._cuts = deque[float]()  # the refusals that counted since the last call that was accepted had started
        self._too_early = 0  # refusals, one after the other, at a pace that was accepted just before
        self._most_refusals = 0  # without an answer between them, since the first of these
        self._at_random = False  # refusals come at any pace
        self._in_a_row = 0  # calls that were accepted
        self._probing = False  # the next call goes ahead of the others, as it may be refused
        self._told_after = 0.0  # how long the provider takes to refuse
        self._paused = 0.0
        self._window = _WINDOW  # over how long the provider seems to count
        self._began = 0.0  # the first of the last refusals

    @property
    def rate(self) -> float | None:
        """Give the calls per second, or None if nothing limits them."""
        rates = [] if self.given is None else [_SAFE * self.given]
        if self._mark is not None:
            rates.append(self._mark * _growth(self._grown, self._hold))
        return min(rates, default=None)

    def opens(self) -> float:
        """Give the time from which the next call may start."""
        opening = max(self._resumed, self._due, self._tokens_due, self._apart)
        rate = self.rate
        if rate is not None:
            most = math.ceil(rate * _WINDOW)
            if len(self._starts) >= most:
                opening = max(opening, self._starts[-most] + most / rate)
        return opening

    def start(self, now: float, tokens: int) -> None:
        """Charge a call that starts."""
        rate = self.rate
        if rate is not None:
            if self._starts:
                self._grown += min(now - self._starts[-1], 2 / rate)
            self._due = max(self._due, now - _CATCH_UP) + 1 / rate
            self._forget_an_outgrown_mark()
        if self.given_tokens is not None:
            self._tokens_due = max(self._tokens_due, now - _CATCH_UP)
            self.correct(tokens)
        if self._probing:
            self._probing = False
            self._resumed = now + 2 * self._told_after
        self._starts.append(now)
        while len(self._starts) > 64 and self._starts[0] < now - 2 * self._window:
            self._starts.popleft()

    def spread(self, now: float, seconds: float) -> None:
        """Keep the next call so far apart from the one that started now."""
        self._apart = now + seconds

    def correct(self, tokens: int) -> None:
        """Charge tokens, or give them back if there are fewer than 0."""
        if self.given_tokens is not None:
            self._tokens_due += tokens / (_SAFE * self.given_tokens)

    def take_back(self, started: float) -> None:
        """Take a call that was refused out of those that were accepted."""
        if self._starts and started >= self._starts[0]:
            self._starts.remove(started)

    def accepted(self, started: float) -> None:
        """Note that the provider accepted a call: refusals before its start are over."""
        self._in_a_row += 1
        self._at_random = self._at_random and self._in_a_row < _QUIET
        while self._cuts and self._cuts[0] <= started:
            self._cuts.popleft()
        if not self._cuts:
            self._paused = 0.0

    def is_old(self, started: float) -> bool:
        """Say whether a call had started before the last refusal that counted."""
        return started < self._cut

    @property
    def is_refused(self) -> bool:
        """Say whether the provider has accepted nothing that started since it last refused a call for the pace."""
        return bool(self._cuts)

    def refuse(self, started: float, now: float, retry_after: float | None) -> None:
        """Slow down and pause after a refusal; calls that had started before the last one say nothing new."""
        if self.is_old(started):
            self._resumed = max(self._resumed, now + (retry_after or 0))
            return
        if not self._cuts:
            self._began = started
            if not self._at_random:
                self._learn(started)
        self._in_a_row = 0
        pause = retry_after or 0.0
        if retry_after is None or len(self._cuts) > 2:  # what the provider asks for was not enough
            pause = max(pause, self._pause())
        self._cuts.append(now)
        self._most_refusals = max(self._most_refusals, len(self._cuts))
        self._probing, self._told_after = True, min(1.0, now - started)
        self._paused += pause
        self._cut, self._resumed = now, max(self._resumed, now + pause)
        self._window = min(_LONGEST_WINDOW, max(self._window, started - self._began, retry_after or 0))
        shortest = 2.0 if self._mark is None else max(2.0, min(20.0, 50 / self._mark))
        self._hold = min(_LONGEST_HOLD, max(shortest, _PAUSE_SHARE * self._paused)) * 2**self._found

    def _learn(self, started: float) -> None:
        """Set the pace by what was accepted before the first refusal."""
        self._window = max(_WINDOW, self._window / 2)
        rate = self.rate
        window = self._window if rate is None else max(self._window, 20 / rate)
        count = sum(started - window < start <= started for start in self._starts)
        is_early = self._grown < self._hold or self._in_a_row < _SOON
        self._too_early = self._too_early + 1 if is_early else 0
        self._most_refusals = self._most_refusals if self._too_early else 0
        outgrown = rate is None or self._mark is None or rate > 1.25 * self._mark
        self._found = 0 if outgrown else min(2, self._found + 1)
        if rate is not None:
            least = 0.7 if self._window == _WINDOW else 0.5
            self._mark = max(_SLOWEST, least * rate, min(count / window, 1.02 * rate))
        elif count > 1:
            self._mark = count / window
        self._grown = 0.0
        if self._too_early >= _NOISY:
            self._look_for_noise()

    def _look_for_noise(self) -> None:
        """Find out whether refusals come from no limit: that needs longer pauses, or is kept at a pace that is held."""
        self._at_random = self._most_refusals <= 3 and self._window <= 2 * _WINDOW
        self._too_early = self._most_refusals = 0
        if self._at_random:
            self._mark = None

    def _pause(self) -> float:
        shortest = max(_SHORTEST_PAUSE, min(1.0, 1 / (self.rate or math.inf)))
        return min(_LONGEST_PAUSE, shortest * 2.0 ** min(len(self._cuts), 20)) * (0.75 + self._jitter() / 4)

    def _forget_an_outgrown_mark(self) -> None:
        if self._mark is not None and _growth(self._grown, self._hold) > 8:
            self._mark = None


def _growth(grown: float, hold: float) -> float:
    """Give the pace after some seconds, as a share of the rate at the last refusal."""
    if grown < hold:
        return _BELOW + (1 - _BELOW) * grown / hold
    more = grown - hold
    return math.exp(min(10.0, 0.02 * more * (1 + more / 10)))
