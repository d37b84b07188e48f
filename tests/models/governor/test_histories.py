"""The governor as a state machine: whatever happens, it keeps to the limits that it is given."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as some

from harbor._models.governor.terms import Limits, Request
from support.histories import GIVEN, Driven

SECONDS = some.floats(0, 2) | some.sampled_from((0.999, 1.0, 7.0, 70.0))
ACTS = some.lists(some.tuples(some.integers(0, 9), some.integers(0, 30), SECONDS), max_size=80)


@example(120, None, [(0, 0, 0), (0, 0, 0.5), (0, 1, 0), (6, 2, 0)])
@example(1.5, None, [(0, 0, 0)] * 3)
@settings(max_examples=200)
@given(some.sampled_from(GIVEN), some.sampled_from((None, 1, 3)), ACTS)
def test_no_second_and_no_minute_has_more_starts_than_given_nor_any_moment_more_calls_and_every_call_starts_in_the_end(
    given, most, acts
):
    driven = Driven(Limits(requests_per_minute=given, max_concurrent=most))
    for act in acts:
        driven.act(*act)
        assert len(driven.inside) <= (most or 1_000)
    driven.finish()
    assert not driven.excess()


@given(ACTS)
def test_without_limits_the_oldest_call_of_a_model_starts_first_and_every_call_in_the_end(acts):
    driven = Driven(Limits())
    for act in acts:
        driven.act(*act)
    driven.finish()
    driven.account.enter(999, Request("account", "m", (0,), 10, Limits(max_concurrent=1)))
    assert driven.account.step(driven.now + 100).started == (999,), "a ticket has leaked"
