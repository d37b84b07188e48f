from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from harbor._models.governor.account import Account
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request

UNKNOWN = Limits()


def half() -> float:
    return 0.5


def request(age: int = 0, model: str = "m", limits: Limits = UNKNOWN, tokens: int = 10) -> Request:
    return Request("account", model, (age,), tokens, limits)


def opened(limits: Limits = UNKNOWN, model: str = "m") -> Account:
    """An account whose model has answered once, at time 0."""
    account = Account(half)
    account.enter(0, request(model=model, limits=limits))
    assert account.step(0).started == (0,)
    account.leave(0, Answered(10), 0)
    return account


ACTS = some.lists(some.tuples(some.integers(0, 9), some.integers(0, 30), some.floats(0, 2)), max_size=80)
VERDICTS = (Answered(20), Answered(5), Busy(), Busy(0.5), Failed(), Refused("no"))


class Driven:
    """An account driven by drawn acts, and what it was seen to do."""

    def __init__(self, limits: Limits) -> None:
        self.account, self.limits = Account(half), limits
        self.now, self.number = 0.0, 0
        self.waiting: dict[int, Request] = {}
        self.inside: list[int] = []
        self.starts: list[float] = []
        self.again: float | None = None

    def look(self) -> None:
        step = self.account.step(self.now)
        for number, _words in step.stopped:
            del self.waiting[number]
        for number in step.started:
            oldest = min(
                (request.age, other)
                for other, request in self.waiting.items()
                if request.model == self.waiting[number].model
            )
            assert oldest[1] == number
            del self.waiting[number]
            self.inside.append(number)
            self.starts.append(self.now)
        assert step.again is None or step.again > self.now
        self.again = step.again

    def act(self, what: int, which: int, seconds: float) -> None:
        self.now += seconds
        if what < 5:
            self.number += 1
            self.waiting[self.number] = request(which, "mn"[which % 2], self.limits)
            self.account.enter(self.number, self.waiting[self.number])
        elif what < 6 and self.waiting:
            number = sorted(self.waiting)[which % len(self.waiting)]
            del self.waiting[number]
            self.account.withdraw(number)
        elif self.inside:
            self.account.leave(self.inside.pop(which % len(self.inside)), VERDICTS[which % len(VERDICTS)], self.now)
        self.look()

    def finish(self) -> None:
        for _ in range(10_000):
            if not self.waiting and not self.inside:
                return
            if self.inside:
                self.account.leave(self.inside.pop(0), Answered(10), self.now)
            elif self.again is not None:
                self.now = self.again
            self.look()
        raise AssertionError(f"never started: {self.waiting}")


@given(ACTS)
def test_there_are_never_more_calls_at_once_than_given_and_every_call_starts_in_the_end(acts):
    driven = Driven(Limits(max_concurrent=3))
    for act in acts:
        driven.act(*act)
        assert len(driven.inside) <= 3
    driven.finish()


@given(ACTS)
def test_no_second_has_more_starts_than_given_and_every_call_starts_in_the_end(acts):
    driven = Driven(Limits(requests_per_minute=120))
    for act in acts:
        driven.act(*act)
    driven.finish()
    for start in driven.starts:
        assert sum(start <= other < start + 1 for other in driven.starts) <= 2


@settings(deadline=None)
@given(ACTS)
def test_without_limits_the_oldest_call_of_a_model_starts_first_and_every_call_in_the_end(acts):
    driven = Driven(Limits())
    for act in acts:
        driven.act(*act)
    driven.finish()
    driven.account.enter(999, request(limits=Limits(max_concurrent=1)))
    assert driven.account.step(driven.now + 100).started == (999,), "a ticket has leaked"


def test_the_first_call_of_a_model_goes_alone_until_it_is_answered():
    account = Account(half)
    for number in range(1, 4):
        account.enter(number, request())
    assert account.step(0).started == (1,)
    account.leave(1, Failed(), 1)
    assert account.step(1).started == (2,)
    account.leave(2, Answered(1), 2)
    assert account.step(2).started == (3,)


def test_a_first_call_that_is_refused_for_good_stops_those_that_wait_for_it_and_the_next_one_tries_anew():
    account = Account(half)
    for number, model in enumerate("mmn"):
        account.enter(number, request(model=model))
    assert account.step(0).started == (0, 2)
    account.leave(0, Refused("wrong key"), 1)
    step = account.step(1)
    assert (step.started, step.stopped) == ((), ((1, "wrong key"),))
    account.enter(5, request())
    assert account.step(2).started == (5,)


def test_once_a_model_has_answered_a_call_that_is_refused_stops_no_other():
    account = opened(Limits(max_concurrent=1))
    for number in (1, 2):
        account.enter(number, request(limits=Limits(max_concurrent=1)))
    account.step(1)
    account.leave(1, Refused("this prompt is too long"), 1)
    assert account.step(1).started == (2,)


def test_of_two_limits_for_one_account_the_strictest_counts_until_nothing_is_left_of_it():
    account = Account(half)
    account.enter(1, request(model="m", limits=Limits(max_concurrent=1)))
    account.enter(2, request(model="n", limits=Limits(max_concurrent=9)))
    assert account.step(0).started == (1,)
    account.leave(1, Answered(1), 1)
    assert account.step(1).started == (2,)
    account.leave(2, Answered(1), 2)
    for number in (3, 4):
        account.enter(number, request(model="n", limits=Limits(max_concurrent=9)))
    assert account.step(3).started == (3, 4)


def test_starts_are_even_and_miss_no_more_than_a_tenth_of_a_second():
    limits = Limits(requests_per_minute=3000)
    account = opened(limits)
    for number in range(1, 100):
        account.enter(number, request(limits=limits))
    assert len(account.step(5).started) == 5
    assert len(account.step(5.021).started) == 1
    assert len(account.step(9).started) == 5


def test_tokens_are_charged_by_the_estimate_and_corrected_by_the_answer():
    limits = Limits(tokens_per_minute=6000)
    account = opened(limits)
    account.enter(1, request(limits=limits, tokens=1000))
    account.enter(2, request(limits=limits, tokens=1000))
    assert account.step(1).started == (1,)
    assert account.step(1).again > 10
    account.leave(1, Answered(100), 2)
    assert 1.9 < account.step(1).again < 2.1


def test_a_pause_that_the_provider_asks_for_stops_every_start_until_then():
    limits = Limits(requests_per_minute=60_000)
    account = opened(limits)
    for number in range(1, 9):
        account.enter(number, request(limits=limits))
    assert account.step(1).started
    account.leave(1, Answered(1), 1.1)
    for number in range(2, 9):
        account.leave(number, Answered(1), 1.2)
    account.enter(20, request(limits=limits))
    account.step(1.3)
    account.leave(20, Busy(7), 1.4)
    account.enter(20, request(limits=limits))
    assert account.step(1.5).again == 8.4
    assert account.step(8.4).started == (20,)
