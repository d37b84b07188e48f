"""Code that does not give its thread back is interrupted, and nothing else ever is."""

import ctypes
import re
import sys
import threading
import time
from contextlib import ExitStack, suppress
from decimal import Decimal
from random import Random

import pytest

from harbor._core.asking.asks import Amount, Ask, Bundle, Choice, Pause, Space, Words
from harbor._house import watchdog
from harbor._house.watchdog import Overdue, Step, timed, without_keys


def spin() -> None:
    while True:
        pass


def busy(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_a_step_that_never_ends_is_interrupted_also_in_another_thread():
    ended: list[bool] = []

    def hold() -> None:
        step = Step(0.05)
        with pytest.raises(Overdue):
            step.run(spin)
        ended.append(step.late)

    hold()
    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert ended == [True, True]


def test_a_step_gives_what_its_code_gives_and_raises_what_it_raises():
    step = Step(60)
    assert step.run(divmod, 7, 2) == (3, 1)
    assert not step.late
    with pytest.raises(ZeroDivisionError):
        Step(60).run(divmod, 7, 0)


def test_a_step_that_swallows_its_interruption_is_late_all_the_same():
    def stubborn() -> int:
        try:
            spin()
        except BaseException:
            return 3
        return 4

    step = Step(0.05)
    assert step.run(stubborn) == 3
    assert step.late


def test_an_outer_step_goes_on_when_an_inner_one_has_ended():
    def outer() -> None:
        with pytest.raises(Overdue):
            Step(0.02).run(spin)
        spin()

    with pytest.raises(Overdue):
        Step(0.3).run(outer)


@pytest.mark.slow
def test_no_interruption_ever_comes_after_the_end_of_its_step(monkeypatch):
    monkeypatch.setattr(watchdog, "ROUND_SECONDS", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    random, interrupted = Random(0), 0
    try:
        for _ in range(4_000):
            try:
                Step(0.0005).run(busy, 0.0005 + random.uniform(-2e-4, 2e-4))
            except Overdue:
                interrupted += 1
            sum(range(200))  # an interruption that came too late would come here
    finally:
        sys.setswitchinterval(interval)
    assert interrupted > 0


def test_code_in_c_that_works_and_keeps_pythons_lock_is_late_as_no_pause_is():
    step = Step(0.15)
    with suppress(Overdue):
        step.run(re.match, "(a+)+b", "a" * 24)
    assert step.late


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell how often a thread has waited")
def test_code_in_c_that_sleeps_and_keeps_pythons_lock_is_late_as_no_pause_is():
    step = Step(0.15)
    with suppress(Overdue):
        step.run(ctypes.PyDLL(None).usleep, 400_000)
    assert step.late


def test_a_turn_that_begins_as_the_watchdog_goes_to_rest_is_watched(monkeypatch):
    with ExitStack() as turns:
        monkeypatch.setattr(watchdog, "look_away", lambda: turns.enter_context(timed()))
        watchdog._rest()
        assert watchdog._SOME.is_set()


# ---------------------------------------------------------------- what is heard of words that contain a key


KEY = "hunter2hunter3xyzzy"
AMOUNT = Amount(Decimal(100), Decimal(99_999_999))
BELOW = Amount(Decimal(100), Decimal(900))
BUNDLE = Bundle((KEY, "Jug"), Decimal(900))


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.setenv("BIDDER_KEY", KEY)
    monkeypatch.setenv("BIDDER_TOKEN", "12345678")


@pytest.mark.parametrize(("space", "words", "heard"), [
    (AMOUNT, "I bid $120.", "I bid $120."), (AMOUNT, "I bid $12345678.", "I bid $12,345,678."),
    (BELOW, "I bid $12345678.", "I bid $12,345,678."), (AMOUNT, "I withdraw, sk-abcdefgh.", "I withdraw."),
    (AMOUNT, f"I bid $120. My key {KEY}", "I bid $120."),
    (AMOUNT, f"(unreadable) '{KEY}' is no answer", "(unreadable) '[redacted]' is no answer"),
    (BUNDLE, f'I bid $5 for "{KEY}".', f'I bid $5 for "{KEY}".'),
    (BUNDLE, f'I bid $5 for "the {KEY}".', 'I bid $5 for "the [redacted]".'),
    (Choice(("go", KEY)), KEY, f'I choose "{KEY}".'), (Words(100), f"My key is {KEY}.", "My key is [redacted]."),
])  # fmt: skip
def test_a_key_in_words_is_hidden_and_a_legal_answer_stands(space: Space, words, heard, keys):
    ask = Ask("Ann", "Vase", 1, space)
    assert without_keys(words, ask) == heard
    assert without_keys(heard, ask) == heard
    for none in (None, Pause("Ann")):  # where no answer is asked for
        assert without_keys(f"I am ready, {KEY}.", none) == "I am ready, [redacted]."
