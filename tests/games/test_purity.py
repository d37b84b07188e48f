"""Rules of a stranger's that are not pure are refused before anything is run; one line names the package."""

from __future__ import annotations

import sys

import pytest

from harbor import Auction, Bidder
from harbor._core.basics.errors import ConfigError
from support.plugins import install, installed

GAME = """
import random
from dataclasses import replace
from decimal import Decimal

from support.third_price import THIRD, Third, ThirdRules, drawn

BUILT = []

class Rules(ThirdRules):
    game: str = "{name}"

class Changed(Third):
    def settle(self, run, actions, rng):
        first, *more = super().settle(run, dict(actions), rng)
        return [replace(first, price=Decimal({number})) if run else first, *more]

def build(rules, config):
    BUILT.append(config.name)
    return Changed(drawn(rules, config))

GAME = replace(THIRD, name="{name}", settings=Rules, build=build)
"""
NUMBERS = {
    "pure": "rng.randrange(99)", "coin": "random.randrange(10**9)", "race": "list(actions).index('Ann')",
    "crash": "1 / 0", "taker": "len(actions.popitem())",
}  # fmt: skip


@pytest.fixture
def games(tmp_path):
    """A package for each of these games."""
    for name, number in NUMBERS.items():
        text = GAME.format(name=name, number=number)
        install(tmp_path, f"strange-{name}", {f"{name}_game.py": text}, {"harbor.games": {name: f"{name}_game:GAME"}})
    with installed(tmp_path):
        yield


def play(name, **settings):
    bidders = [Bidder("Ann", rule="rational"), Bidder("Ben", rule="random")]
    return Auction(bidders=bidders, rules={"game": name}).run(**settings)


@pytest.mark.parametrize(("name", "why"), [
    ("coin", "equal states, actions and ties give different events"),
    ("race", "the order in which answers arrive makes a difference"),
    ("crash", "ZeroDivisionError: division by zero"),
    ("taker", "settling changed its arguments"),
])  # fmt: skip
def test_rules_that_are_not_pure_are_refused_in_one_line(name, why, games, tmp_path):
    for _ in range(2):
        with pytest.raises(ConfigError) as refused:
            play(name, out=tmp_path / "run")
        said = f"package 'strange-{name}' 0.1: the game '{name}' has rules that can't be relied on"
        assert str(refused.value).startswith(said)
        assert why in str(refused.value)
        assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_pure_rules_are_tried_once_in_a_process_and_not_those_of_the_run(games):
    play("pure")
    play("pure")
    assert len(sys.modules["pure_game"].BUILT) == 3  # for either run, and for the rehearsal
