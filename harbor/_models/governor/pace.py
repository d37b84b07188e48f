"""The pace sets the start times of an account's calls, from given or learned limits and from pauses after refusals."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

MINUTE = 60.0  # seconds
USED_SHARE = 0.985  # of a given limit: calls that start evenly do not arrive evenly, so some room is left
CATCH_UP = 0.1  # seconds of a pace that are caught up after nothing started; more would be a burst


class GivenCalls:
    """Keeps an account's starts within the given calls per minute.

    No second has more than ceil(rate) starts, and no minute has more than the limit (below 1 per minute, the time for
    one call is longer). Every start counts, even if its call fails. Times are in seconds.
    """

    def __init__(self) -> None:
        self.per_minute: float | None = None
        self._starts = deque[float]()

    @property
    def rate(self) -> float | None:
        """Return the used part of the limit in calls per second."""
        return None if self.per_minute is None else USED_SHARE * self.per_minute / MINUTE

    def opens(self) -> float:
        """Return the time from which a call may start."""
        if self.per_minute is None or self.rate is None:
            return -math.inf
        in_a_minute, in_a_second = max(1, math.floor(self.per_minute)), math.ceil(self.rate)
        return max(
            self._has_fewer(in_a_minute, max(MINUTE, in_a_minute / self.rate)),
            self._has_fewer(in_a_second, in_a_second / self.rate),  # at least one second
        )

    def start(self, now: float) -> None:
        """Count a start; the last one is kept for limits below one per minute."""
        self._starts.append(now)
        while len(self._starts) > 1 and self._starts[0] < now - MINUTE / USED_SHARE:
            self._starts.popleft()

    def _has_fewer(self, most: int, seconds: float) -> float:
        """Return the time from which the last `seconds` have fewer than `most` starts."""
        return self._starts[-most] + seconds if len(self._starts) >= most else -math.inf


class GivenTokens:
    """A token bucket: estimates charge it, and answers correct the charge. Times are in seconds."""

    def __init__(self) -> None:
        self.per_minute: float | None = None
        self._due = -math.inf

    def opens(self) -> float:
        """Return the time from which a call may start."""
        return self._due

    def start(self, now: float, tokens: int) -> None:
        """Charge a call that starts."""
        if self.per_minute is not None:
            self._due = max(self._due, now - CATCH_UP)
            self.correct(tokens)

    def correct(self, tokens: int) -> None:
        """Charge tokens; a negative number gives them back."""
        if self.per_minute is not None:
            self._due += tokens / (USED_SHARE * self.per_minute / MINUTE)


NOISY = 5  # refusals at ever lower paces before noise is suspected: a pace that is too fast shows after fewer
SOON = 15  # calls accepted in a row: a pace that is low enough has at least as many before the next refusal
QUIET = 50  # calls accepted in a row: so many are unlikely if a few per cent of calls are refused at random
FEW = 3  # refusals in a row: a limit refuses more, because it goes on until its window is over


class Noise:
    """Distinguishes random refusals of a provider from refusals by its rate limit."""

    def __init__(self) -> None:
        self.is_on = False
        self._in_a_row = 0  # calls that were accepted
        self._too_early = 0  # refusals in a row at a pace that was accepted just before
        self._most = 0  # refusals without an answer between them, since the first of these

    def accepted(self) -> None:
        """Note a call that was accepted."""
        self._in_a_row += 1
        self.is_on = self.is_on and self._in_a_row < QUIET

    def refused(self, in_a_row: int) -> None:
        """Note a refusal; `in_a_row` counts the refusals since the last accepted call, including this one."""
        self._in_a_row = 0
        self._most = max(self._most, in_a_row)

    def lowered(self, was_held: bool, is_quick: bool) -> bool:
        """Note that the pace is lowered, and say whether refusals come at random instead.

        `was_held` says that the pace had not grown, and `is_quick` that the provider accepts calls again soon. A limit
        with a long window refuses lower paces too, until its window is over.
        """
        self._too_early = self._too_early + 1 if was_held or self._in_a_row < SOON else 0
        self._most = self._most if self._too_early else 0
        if self._too_early >= NOISY:
            self.is_on = self._most <= FEW and is_quick
            self._too_early = self._most = 0
        return self.is_on


WINDOW = 1.0  # seconds: the shortest window over which providers count
LONGEST_WINDOW = 60.0  # seconds: providers count per minute, and longer quotas are no pace
BELOW = 0.98  # of the refused rate: begin slightly below it
CAUTIOUS = 20  # calls: a rate is estimated over a window that holds as many, so that one more or less is 5 %
LEAST_KEPT, LEAST_KEPT_LONG = 0.7, 0.5  # of the rate, even if fewer calls were counted; the second for longer windows
MOST_KEPT = 1.02  # of the rate: a higher count by chance does not make the pace faster
OUTGROWN = 1.25  # times the last refused rate: above that, another limit was found
MOST_FOUND = 2  # doublings of the hold: a limit that is found again and again is held four times as long
SLOWEST = 1 / 60  # calls per second: providers count per minute
LONGEST_HOLD = 60.0  # seconds, before the doublings; limits change with the load of a provider
PAUSE_SHARE = 30  # times the pause that finding a limit cost: the pace is held for so long, so 3 % are lost
HELD_CALLS = 50  # calls: the shortest hold of a pace ...
SHORTEST_HOLD, LONGEST_SHORT_HOLD = 2.0, 20.0  # seconds: ... within these bounds
GROWTH, FASTER = 0.02, 10.0  # 2 % per second after the hold; the mean growth rises by 2 % every ten seconds
LARGEST_EXPONENT = 10.0  # keeps exp in bounds; the pace is forgotten long before
FORGOTTEN = 8.0  # times the refused rate: from there the limit counts as gone
LONGEST_STEP = 2.0  # intervals between calls: a longer idle time says nothing about the pace
KEPT = 64  # starts that are kept at least, to count slow paces


class LearnedPace:
    """Estimates the calls per second that a provider takes; times are in seconds.

    A refusal sets the rate slightly below the accepted rate. The rate is held, and then grows until the next refusal.
    """

    def __init__(self) -> None:
        self.window = WINDOW  # seconds over which the provider seems to count
        self._mark: float | None = None  # calls per second that the provider took at the last refusal
        self._accepted = deque[float]()  # starts of calls that were not refused
        self._grown = 0.0  # seconds of calls at this pace
        self._hold = 0.0  # seconds until it grows
        self._found = 0  # number of times that the same limit was found again

    @property
    def rate(self) -> float | None:
        """Return the calls per second, or None if nothing limits them."""
        return None if self._mark is None else self._mark * self._growth

    @property
    def is_held(self) -> bool:
        """Say whether the pace has not grown since the last refusal."""
        return self._grown < self._hold

    def opens(self, rate: float) -> float:
        """Return the time from which the last second has room for one more start at `rate`."""
        most = math.ceil(rate * WINDOW)
        return self._accepted[-most] + most / rate if len(self._accepted) >= most else -math.inf

    def start(self, now: float, rate: float | None) -> None:
        """Note a call that starts at `rate`; it counts as accepted unless it is taken back."""
        if rate is not None:
            if self._accepted:
                self._grown += min(now - self._accepted[-1], LONGEST_STEP / rate)
            if self._growth > FORGOTTEN:
                self._mark = None
        self._accepted.append(now)
        while len(self._accepted) > KEPT and self._accepted[0] < now - 2 * self.window:
            self._accepted.popleft()

    def take_back(self, started: float) -> None:
        """Remove a refused call from the accepted calls."""
        if self._accepted and started >= self._accepted[0]:
            self._accepted.remove(started)

    def learn(self, started: float, rate: float | None) -> None:
        """Set the pace from the accepted calls before the first refused one, which started at `rate`."""
        self.window = max(WINDOW, self.window / 2)
        window = self.window if rate is None else max(self.window, CAUTIOUS / rate)
        count = sum(started - window < start <= started for start in self._accepted)
        is_another = rate is None or self._mark is None or rate > OUTGROWN * self._mark
        self._found = 0 if is_another else min(MOST_FOUND, self._found + 1)
        if rate is not None:
            least = LEAST_KEPT if self.window == WINDOW else LEAST_KEPT_LONG
            self._mark = max(SLOWEST, least * rate, min(count / window, MOST_KEPT * rate))
        elif count > 1:
            self._mark = count / window
        self._grown = 0.0

    def hold(self, paused: float, refusing: float) -> None:
        """Hold the pace; finding its limit cost `paused` seconds, and the provider refused for `refusing` seconds."""
        self.window = min(LONGEST_WINDOW, max(self.window, refusing))
        of_calls = HELD_CALLS / self._mark if self._mark is not None else 0.0
        shortest = max(SHORTEST_HOLD, min(LONGEST_SHORT_HOLD, of_calls))
        self._hold = min(LONGEST_HOLD, max(shortest, PAUSE_SHARE * paused)) * 2**self._found

    def forget(self) -> None:
        """Drop the learned limit, because refusals did not come from the pace."""
        self._mark = None

    @property
    def _growth(self) -> float:
        """The pace now, as a share of the rate at the last refusal."""
        if self.is_held:
            return BELOW + (1 - BELOW) * self._grown / self._hold
        more = self._grown - self._hold
        return math.exp(min(LARGEST_EXPONENT, GROWTH * more * (1 + more / FASTER)))


SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 30.0  # seconds after one refusal, and after many
LONGEST_FIRST_PAUSE = 1.0  # seconds: slow paces begin with less than a whole interval
MOST_DOUBLINGS = 20  # keeps the power in bounds; the longest pause is reached before
BELIEVED = 2  # earlier refusals in a row up to which the provider's own pause is taken as enough
JITTER = 0.25  # random share of a pause, so that callers spread
LONGEST_TOLD_AFTER = 1.0  # seconds; after a pause others wait up to twice as long for a refusal of the first call


class Pace:
    """The times at which the calls of an account start; times and pauses are in seconds.

    Calls start evenly. Missed starts are caught up for at most a tenth of a second, without more starts per second than
    the pace. Refusals teach the pace and pause it. Given limits hold beside learned ones.
    """

    def __init__(self, jitter: Callable[[], float]) -> None:
        self.calls, self.tokens = GivenCalls(), GivenTokens()
        self._jitter = jitter  # a number from 0 to 1
        self._learned, self._noise = LearnedPace(), Noise()
        self._due = self._apart = -math.inf  # the next start by the pace, and by the spread of a crowd
        self._resumed = -math.inf  # the end of the pause
        self._told_after: float | None = None  # the next call is a probe: seconds until the provider would refuse it
        self._cuts = deque[float]()  # times of counted refusals since the start of the last accepted call
        self._cut = -math.inf  # the last counted refusal of all
        self._began = 0.0  # the start of the first refused call among `_cuts`
        self._paused = 0.0  # total pause in seconds because of `_cuts`

    @property
    def is_given(self) -> bool:
        """Say whether a limit on the pace is given."""
        return self.calls.per_minute is not None or self.tokens.per_minute is not None

    @property
    def rate(self) -> float | None:
        """Return the calls per second, or None if nothing limits them."""
        return min((rate for rate in (self.calls.rate, self._learned.rate) if rate is not None), default=None)

    def opens(self) -> float:
        """Return the time from which the next call may start."""
        opening = max(self._resumed, self._due, self._apart, self.calls.opens(), self.tokens.opens())
        rate = self.rate
        return opening if rate is None else max(opening, self._learned.opens(rate))

    def start(self, now: float, tokens: int) -> None:
        """Charge a call that starts."""
        rate = self.rate
        if rate is not None:
            self._due = max(self._due, now - CATCH_UP) + 1 / rate
        if self._told_after is not None:
            self._resumed, self._told_after = now + 2 * self._told_after, None
        self.calls.start(now)
        self.tokens.start(now, tokens)
        self._learned.start(now, rate)

    def spread(self, now: float, seconds: float) -> None:
        """Start the next call at least `seconds` after the call that started now."""
        self._apart = now + seconds

    def take_back(self, started: float) -> None:
        """Remove a refused call from the accepted calls; it still counts for the given limits."""
        self._learned.take_back(started)

    def accepted(self, started: float) -> None:
        """Note that the provider accepted a call: refusals before its start are over."""
        self._noise.accepted()
        while self._cuts and self._cuts[0] <= started:
            self._cuts.popleft()
        if not self._cuts:
            self._paused = 0.0

    def is_old(self, started: float) -> bool:
        """Say whether a call had started before the last refusal that counted."""
        return started < self._cut

    @property
    def is_refused(self) -> bool:
        """Say whether the provider has accepted no call that started since its last refusal for the pace."""
        return bool(self._cuts)

    def refuse(self, started: float, now: float, retry_after: float | None) -> None:
        """Slow down and pause after a refusal. A call that started before the last refusal says nothing new."""
        self._resumed = max(self._resumed, now + (retry_after or 0.0))
        if self.is_old(started):
            return
        if not self._cuts:
            self._began = started
            self._learn(started)
        pause = self._pause(retry_after)
        self._cuts.append(now)
        self._noise.refused(len(self._cuts))
        self._cut, self._told_after = now, min(LONGEST_TOLD_AFTER, now - started)
        self._paused += pause
        self._resumed = max(self._resumed, now + pause)
        self._learned.hold(self._paused, max(started - self._began, retry_after or 0.0))

    def _learn(self, started: float) -> None:
        """Lower the pace, unless refusals come at any pace."""
        if self._noise.is_on:
            return
        was_held = self._learned.is_held
        self._learned.learn(started, self.rate)
        if self._noise.lowered(was_held, self._learned.window <= 2 * WINDOW):
            self._learned.forget()

    def _pause(self, retry_after: float | None) -> float:
        """Return the seconds to pause: as the provider asks, or longer if that was not enough."""
        if retry_after is not None and len(self._cuts) <= BELIEVED:
            return retry_after
        shortest = max(SHORTEST_PAUSE, min(LONGEST_FIRST_PAUSE, 1 / (self.rate or math.inf)))
        growing = min(LONGEST_PAUSE, shortest * 2.0 ** min(len(self._cuts), MOST_DOUBLINGS))
        return max(retry_after or 0.0, growing * (1 - JITTER + JITTER * self._jitter()))
