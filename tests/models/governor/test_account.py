from __future__ import annotations

from typing import Any

from harbor._models.governor.account import Account, Step
from harbor._models.governor.terms import Answered, Busy, Failed, Limits, Refused, Request

UNKNOWN, ONE = Limits(), Limits(max_concurrent=1)


def request(
    age: int = 0, model: str = "m", limits: Limits = UNKNOWN, tokens: int = 10, patience: float = 600
) -> Request:
    return Request("account", model, (age,), tokens, limits, patience)


def opened(limits: Limits = UNKNOWN) -> Account:
    """Make an account whose model has answered once, at time 0."""
    account = Account(lambda: 0.5)
    account.enter(0, request(limits=limits))
    assert account.step(0).started == (0,)
    account.leave(0, Answered(10), 0)
    return account


def enter(account: Account, *numbers: int, **asked: Any) -> Account:
    """Let equal calls of these numbers come to an account."""
    for number in numbers:
        account.enter(number, request(**asked))
    return account


def test_the_first_call_of_a_model_goes_alone_until_it_is_answered():
    account = enter(Account(lambda: 0.5), 1, 2, 3)
    for number, verdict in ((1, Failed()), (2, Answered(1))):
        assert account.step(number - 1).started == (number,)
        account.leave(number, verdict, number)
    assert account.step(2).started == (3,)


def test_a_first_call_that_is_refused_for_good_stops_those_that_wait_for_it_and_the_next_one_tries_anew():
    account = Account(lambda: 0.5)
    for number, model in enumerate("mmn"):
        account.enter(number, request(model=model))
    assert account.step(0).started == (0, 2)
    account.leave(0, Refused("wrong key"), 1)
    step = account.step(1)
    assert (step.started, step.stopped) == ((), ((1, "wrong key"),))
    account.enter(5, request())
    assert account.step(2).started == (5,)
    answering = enter(opened(ONE), 1, 2, limits=ONE)  # once it has answered no other is stopped
    answering.step(1)
    answering.leave(1, Refused("this prompt is too long"), 1)
    assert answering.step(1).started == (2,)


def test_of_two_limits_for_one_account_the_strictest_counts_until_nothing_is_left_of_it():
    account = enter(enter(Account(lambda: 0.5), 1, limits=ONE), 2, model="n", limits=Limits(max_concurrent=9))
    for number in (1, 2):
        assert account.step(number - 1).started == (number,)
        account.leave(number, Answered(1), number)
    enter(account, 3, 4, model="n", limits=Limits(max_concurrent=9))
    assert account.step(3).started == (3, 4)


def test_starts_are_even_and_miss_no_more_than_a_tenth_of_a_second():
    limits = Limits(requests_per_minute=3000)
    account = enter(opened(limits), *range(1, 100), limits=limits)
    assert [len(account.step(now).started) for now in (5, 5.021, 9)] == [5, 1, 5]


def test_tokens_are_charged_by_the_estimate_and_corrected_by_the_answer():
    limits = Limits(tokens_per_minute=6000)
    account = enter(opened(limits), 1, 2, limits=limits, tokens=1000)
    assert account.step(1).started == (1,)
    assert account.step(1).again > 10
    account.leave(1, Answered(100), 2)
    assert 1.9 < account.step(1).again < 2.1


def paused(seconds: float) -> Account:
    """Make an account with a pause from time 0 on, and calls that wait up to a minute and an hour."""
    account = opened(ONE)
    for number, patience in ((1, 600.0), (2, 60.0), (3, 3_600.0)):
        enter(account, number, limits=ONE, patience=patience)
    assert account.step(0).started == (1,)
    account.leave(1, Busy(seconds), 0)
    return account


def test_a_pause_that_is_longer_than_a_call_waits_is_told_to_it_at_once_and_others_wait_for_its_end():
    account = paused(1_000)
    assert account.step(0) == Step((), (), 1_000, ((2, 1_000),))
    assert account.step(999).started == ()
    assert account.step(1_000).started == (3,)
    many = enter(opened(), 1, 2)
    assert many.step(0).started == (1, 2)
    many.leave(2, Busy(7_200), 1)  # it seemed to be one too many at once
    assert enter(many, 3).step(1).too_long == ((3, 7_200),)


def test_whoever_comes_later_is_told_how_long_the_rest_of_the_pause_is_until_it_is_short_enough():
    account = paused(7_200)
    assert account.step(0).too_long == ((2, 7_200), (3, 7_200))
    enter(account, 4, limits=ONE)
    assert account.step(6_000).too_long == ((4, 1_200),)
    enter(account, 5, limits=ONE)
    assert account.step(6_600) == Step((), (), 7_200)
    assert account.step(7_200).started == (5,)
    account.leave(5, Answered(10), 7_201)
    enter(account, 6, limits=ONE, patience=0)
    assert account.step(7_300).started == (6,)


def test_a_pause_that_the_provider_has_not_asked_for_ends_no_call():
    account = enter(opened(ONE), 1, 2, limits=ONE, patience=0)
    account.step(0)
    account.leave(1, Busy(), 0)
    step = account.step(0)
    assert (step.started, step.too_long) == ((), ())
    assert account.step(step.again).started == (2,)
