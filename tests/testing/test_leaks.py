"""The suite for games finds what a game tells others, without being told the secrets: one broken game per kind."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from harbor.games import Amount, Bid, Measures
from harbor.testing import check_game
from support import third_price as good
from support.third_price import MOST, THIRD, Third, ThirdClosed, ThirdOpened, ThirdValue, drawn

NEXT = {"Ann": "Ben", "Ben": "Cho", "Cho": "Ann"}
SECRETS = {}
"""What planted code knows of the values and should not."""


def with_rules(build=None, **methods):
    """The game, with these methods in its rules."""
    rules = type("Rules", (Third,), methods)
    return replace(THIRD, build=build or (lambda settings, config: rules(drawn(settings, config))))


def told(settings, config):
    SECRETS.update(drawn(settings, config))
    return Third(SECRETS.copy())


def top(values):
    return max(value for own in values.values() for value in own)


def in_the_item(rules, run, winner, price):
    return ThirdClosed(f"run {run}, worth {rules.values['Ann'][run - 1]} to Ann", winner, price)


def to_the_next(rules, run):
    return [replace(event, bidder=NEXT[event.bidder]) for event in Third.tell(rules, run)]


def to_two(rules, run):
    return [*Third.tell(rules, run), *to_the_next(rules, run)]


def bounded(rules, name, run):
    return Third.ask(rules, name, run)._replace(space=Amount(Decimal(0), Decimal(MOST) + rules.values["Ann"][run - 1]))


def noted(rules, name, run):
    return Third.ask(rules, name, run)._replace(note="" if name == "Ann" else f"Ann has {rules.values['Ann'][run - 1]}; ")


def without_the_poor(rules, run):
    return [ask for ask in Third.asks(rules, run) if rules.values[ask.bidder][run - 1] > MOST / 3]


class Board:
    """A board that shows what planted code knows."""

    def note(self, event):
        pass

    def shown(self):
        from harbor.games import Shown

        return Shown(str(SECRETS))


LEAKS = {
    "a value in a public event's item": (with_rules(closed=in_the_item), "all are told what only 'Ann' should know"),
    "the greatest value in the opening": (
        with_rules(opened=lambda rules: ThirdOpened(tuple(rules.values), int(top(rules.values)))),
        "all are told what only '(Ann|Ben|Cho)' should know",
    ),
    "the greatest value, which the rules were built with": (
        with_rules(lambda settings, config: Third(values := drawn(settings, config), int(top(values)))),
        "all are told what only '(Ann|Ben|Cho)' should know",
    ),
    "a value told to another bidder": (with_rules(tell=to_the_next), "'Ben' alone is told what the rules keep for 'Ann'"),
    "a value told to another bidder as well": (with_rules(tell=to_two), "'Ben' alone is told what the rules keep for 'Ann'"),
    "a value in everyone's bounds": (with_rules(ask=bounded), "notices in its ask what only 'Ann' should know"),
    "a value in the note of another's ask": (with_rules(ask=noted), "notices in its ask what only 'Ann' should know"),
    "who is asked hangs on values": (with_rules(asks=without_the_poor), "all are told what only"),
    "facts of a prompt": (
        replace(with_rules(told), play=replace(THIRD.play, facts=lambda name, seen: {**good.facts(name, seen), "value": float(top(SECRETS))})),
        "the prompt of .* hangs on what it is not told",
    ),
    "a rational player": (
        replace(with_rules(told), rational=lambda ask, seen: Bid(top(SECRETS))),
        "the answer of .* hangs on what it is not told",
    ),
    "a board": (replace(with_rules(told), board=Board), "the page of .* hangs on what it is not told"),
}


@pytest.mark.parametrize("where", LEAKS)
def test_what_one_bidder_alone_is_told_is_found_where_another_can_see_it(where):
    broken, found = LEAKS[where]
    with pytest.raises(AssertionError, match=found) as said:
        check_game(broken)
    assert "\n" not in str(said.value)


def test_the_game_that_is_broken_here_keeps_its_promises():
    check_game(THIRD)
