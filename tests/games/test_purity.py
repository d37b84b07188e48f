"""Rules of a stranger's that are not pure are refused before anything is run; one line names the package."""

from __future__ import annotations

import sys

import pytest

from harbor import Auction, Bidder
from harbor._core.basics.errors import ConfigError
from support.plugins import install, installed

GAME = """
import random
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from harbor.events import LotClosed, PublicEvent
from harbor.games import Ask, Bid, Game, Measures, Number, Play, RuleSettings

BUILT = []

class {kind}Rules(RuleSettings):
    game: str = "{name}"

@dataclass(frozen=True, slots=True)
class {kind}Opened(PublicEvent):
    pass

@dataclass(frozen=True, slots=True)
class {kind}Over(LotClosed):
    number: float

@dataclass(frozen=True)
class {kind}:
    bidders: tuple
    def start(self):
        return 0
    def asks(self, state):
        return [Ask(name, "it", 1, Number(Decimal(0), Decimal(9))) for name in self.bidders if state == 1]
    def settle(self, state, actions, rng):
        return [{kind}Over("it", {number})] if state else [{kind}Opened()]
    def apply(self, state, event):
        return state + isinstance(event, {kind}Opened | {kind}Over)

def build(rules, config):
    BUILT.append(config.name)
    return {kind}(tuple(bidder.name for bidder in config.bidders))

(Path(__file__).parent / "{name}.md").write_text("<facts>\\n${{facts}}\\n</facts>\\n")
PROMPT = Path(__file__).parent / "{name}.md"
GAME = Game(
    name="{name}", description="a number", settings={kind}Rules, build=build,
    opening={kind}Opened, events=({kind}Opened, {kind}Over),
    play=Play(facts=lambda *_: {{}}, system=PROMPT, prompt=PROMPT, policy=lambda *_: {{}}, plan="None."),
    rational=lambda ask, seen: Bid(ask.maximum),
    measures=Measures("its", lambda entries: [], lambda entries: []),
)
"""
NUMBERS = {
    "pure": "rng.random()", "coin": "random.random()", "race": "float(list(actions).index('Ann'))", "crash": "1 / 0",
    "taker": "float(len(actions.popitem()))",
}  # fmt: skip


@pytest.fixture
def games(tmp_path):
    """A package for each of these games."""
    for name, number in NUMBERS.items():
        text = GAME.format(name=name, kind=name.title(), number=number)
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
        assert str(refused.value).startswith(
            f"package 'strange-{name}' 0.1: the game '{name}' has rules that can't be relied on"
        )
        assert why in str(refused.value)
        assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_pure_rules_are_tried_once_in_a_process_and_not_those_of_the_run(games):
    play("pure")
    play("pure")
    assert len(sys.modules["pure_game"].BUILT) == 3  # for either run, and for the rehearsal


def test_a_game_that_is_refused_costs_no_other(games):
    with pytest.raises(ConfigError):
        play("coin")
    assert play("pure").log
