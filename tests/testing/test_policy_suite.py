"""The suite for scripted policies finds each broken promise."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import count

import pytest

from harbor.events import Signal
from harbor.games import Bid, Policy, ScriptedPolicy
from harbor.testing import check_policy


class Least(Policy):
    """Bids the least it may."""

    def decide(self, ask, seen):
        return Bid(ask.minimum)


LEAST = ScriptedPolicy(name="least", description="bids the least", make=lambda table: Least(), games=("beauty",))


@pytest.fixture(autouse=True)
def _forgotten(stranger):
    """Keep nothing of what these tests bring."""


def broken(promise, **changes):
    with pytest.raises(AssertionError, match=promise):
        check_policy(replace(LEAST, **changes))


def deciding(decide):
    """Make a policy that decides so."""
    kind = type("Odd", (Policy,), {"decide": decide})
    return lambda table: kind()


def test_a_policy_of_a_strangers_keeps_its_promises():
    check_policy(LEAST)
    check_policy(replace(LEAST, name="anywhere", games=()))


@pytest.mark.parametrize("part", [one.name for one in fields(ScriptedPolicy) if "part" in one.metadata])
def test_a_missing_part_is_named(part):
    broken(f"lacks {part}: ", **{part: None})


def test_a_name_that_is_taken_is_named():
    broken("the name of the policy 'random' is taken by 'harbor-auctions'", name="random")


def test_a_policy_that_decides_otherwise_the_second_time_is_named():
    numbers = count()
    broken("decides twice otherwise", make=deciding(lambda self, ask, seen: Bid(ask.minimum + next(numbers) % 2)))


def test_a_policy_that_counts_its_own_calls_is_named():
    class Counting(Policy):
        calls = 0

        def decide(self, ask, seen):
            self.calls += 1
            return Bid(ask.minimum + self.calls // 3)

    broken("hangs on more than the ask and what it has seen", make=lambda table: Counting())


def test_a_policy_that_changes_what_it_has_seen_is_named():
    def decide(self, ask, seen):
        next(event for event in seen if isinstance(event, Signal)).values["Vase"] = 1
        return Bid(ask.minimum)

    broken("changes what it is given", make=deciding(decide), games=("english",))


def test_a_policy_that_breaks_is_named():
    broken("the seat of 'Ann' failed: .*KeyError", make=deciding(lambda self, ask, seen: {}["nothing"]))


def test_a_game_that_it_names_and_can_not_play_is_named():
    broken("in the game 'chess' is refused: unknown game 'chess'", games=("chess",))


def test_a_game_that_does_not_have_what_it_uses_is_named():
    broken("needs a game that reads overestimate; give it rule = 'rational'", needs=("overestimate",))
