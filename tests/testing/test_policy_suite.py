"""The suite for scripted policies finds each broken promise."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from harbor.events import Signal
from harbor.games import Bid, Policy, ScriptedPolicy
from harbor.testing import check_policy
from support.plugins import parts

pytestmark = pytest.mark.usefixtures("stranger")  # keeps nothing of what these tests bring


class Least(Policy):
    """Bids the least it may."""

    def decide(self, ask, seen):
        return Bid(ask.minimum)


class Counting(Policy):
    calls = 0

    def decide(self, ask, seen):
        self.calls += 1
        return Bid(ask.minimum + self.calls // 3)


LEAST = ScriptedPolicy(name="least", description="bids the least", make=lambda table: Least(), games=("beauty",))
NUMBERS = count()


def deciding(decide):
    """Make a policy that decides so."""
    return lambda table: type("Odd", (Policy,), {"decide": decide})()


def changing(self, ask, seen):
    next(event for event in seen if isinstance(event, Signal)).values["Vase"] = 1
    return Bid(ask.minimum)


def otherwise(self, ask, seen):
    return Bid(ask.minimum + next(NUMBERS) % 2)


def test_a_policy_of_a_strangers_keeps_its_promises():
    check_policy(LEAST)
    check_policy(replace(LEAST, name="anywhere", games=()))


@pytest.mark.parametrize(
    ("promise", "changes"),
    [
        *((f"lacks {part}: ", {part: None}) for part in parts(ScriptedPolicy)),
        ("the name of the policy 'random' is taken by 'harbor-auctions'", {"name": "random"}),
        ("decides twice otherwise", {"make": deciding(otherwise)}),
        ("hangs on more than the ask and what it has seen", {"make": lambda table: Counting()}),
        ("changes what it is given", {"make": deciding(changing), "games": ("english",)}),
        ("the seat of 'Ann' failed: .*KeyError", {"make": deciding(lambda self, ask, seen: {}["nothing"])}),
        ("in the game 'chess' is refused: unknown game 'chess'", {"games": ("chess",)}),
        ("needs a game that reads overestimate; give it rule = 'rational'", {"needs": ("overestimate",)}),
    ],
)
def test_a_broken_promise_is_named(promise, changes):
    with pytest.raises(AssertionError, match=promise):
        check_policy(replace(LEAST, **changes))
