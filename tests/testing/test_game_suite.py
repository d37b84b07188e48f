"""The suite for games finds each broken promise of a stranger's game, and says which it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import field_validator

from harbor._games.game import Game, Measures, Play
from harbor.events import BidderWithdrew
from harbor.games import Bid
from harbor.testing import check_game
from support.plugins import parts


@pytest.fixture
def begun_game(stranger):
    """The module of a game that keeps its promises."""
    return stranger("my_game.game")


def broken(game, promise, **changes):
    """Check a game with a part changed; "play.facts" is called play_facts."""
    for name, value in changes.items():
        whole, _, part = name.partition("_")
        inner = {"play": game.play, "measures": game.measures}.get(whole) if part else None
        game = replace(game, **({whole: replace(inner, **{part: value})} if inner else {name: value}))
    with pytest.raises(AssertionError, match=promise) as told:
        check_game(game)
    assert "\n" not in str(told.value)


def with_rules(module, **methods):
    """Make the game's rules with these methods in place of theirs."""
    rules = type("Rules", (module.MyGame,), methods)
    return lambda settings, config: rules(tuple(one.name for one in config.bidders), settings.highest)


def growing(module):
    def settle(self, *given):
        object.__setattr__(self, "highest", self.highest + 1)
        return module.MyGame.settle(self, *given)

    return {"build": with_rules(module, settle=settle)}


def asking_otherwise(module):
    numbers = count(1)

    def asks(self, wanted):
        now = next(numbers)
        return [one._replace(round=now) for one in module.MyGame.asks(self, wanted)]

    return {"build": with_rules(module, asks=asks)}


def knowing_the_seed(module):
    """Tell facts that look into the rules, which know what was dealt to the others."""
    dealt, game = SimpleNamespace(seed=0), module.MY_GAME

    def build(rules, config):
        dealt.seed = config.seed
        return game.build(rules, config)

    return {"build": build, "play_facts": lambda *given: {**game.play.facts(*given), "highest": 20 + dealt.seed}}


def clearing(module):
    def facts(name, seen):
        known = module.facts(name, seen)
        getattr(seen, "clear", lambda: None)()
        return known

    return {"play_facts": facts}


def needing(part):
    """Measure a whole log alone."""

    def changes(module):
        usual = getattr(module.MY_GAME.measures, part)
        return {f"measures_{part}": lambda entries: usual(entries) if len(entries) > 10 else [][0]}

    return changes


ILLEGAL = {"reasons": "", "action": "bid", "amount": 999}
FROM_ELSEWHERE = "facts come from elsewhere than from the events that the bidder has seen"
BREAKS_OFF = "breaks off after LogOpened is refused: .* failed .IndexError"
BREAKS = {
    "another version": ("is for version 2 of Harbor's extensions", lambda _: {"api": 2}),
    "changed rules": ("settling changed the rules", growing),
    "other asks": ("asking twice in one state", asking_otherwise),
    "an unlisted event": ("lacks events: MyGameClosed; add it", lambda module: {"events": (module.MyGameOpened,)}),
    "no opening": ("the log has no BidderWithdrew, which opens the game", lambda _: {"opening": BidderWithdrew}),
    "no prompt": ("has a prompt that can't be read", lambda _: {"play_prompt": Path("nowhere.md")}),
    "an unexplained fact": (
        r"in backticks: \['mood'\]",
        lambda module: {"play_facts": lambda *given: {**module.facts(*given), "mood": 1}},
    ),
    "facts from elsewhere": (FROM_ELSEWHERE, knowing_the_seed),
    "facts that change": ("telling the facts changed the events that the bidder has seen", clearing),
    "facts that break": (
        "fails in play.facts .KeyError: 'nothing'", lambda _: {"play_facts": lambda name, seen: {}["nothing"]}
    ),
    "an illegal built-in answer": (
        "the built-in model gives answers that are not legal", lambda _: {"play_policy": lambda *_: dict(ILLEGAL)}
    ),
    "an illegal rational answer": (
        "the rational policy gives answers that are not", lambda _: {"rational": lambda ask, _: Bid(ask.maximum + 1)}
    ),
    "no rational answer": ("fails in rational .ZeroDivisionError", lambda _: {"rational": lambda ask, seen: 1 / 0}),
    "partial standings": (
        "the standings do not name every bidder once",
        lambda module: {"measures_standings": lambda entries: module.standings(entries)[1:]},
    ),
    "standings of a whole log": (BREAKS_OFF, needing("standings")),
    "items of a whole log": (BREAKS_OFF, needing("items")),
}  # fmt: skip


def test_a_game_that_was_begun_a_moment_ago_keeps_its_promises(begun_game):
    check_game(begun_game.MY_GAME)
    with pytest.raises(AssertionError, match="is no game"):
        check_game(Measures())


@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_promise_is_named(what, begun_game):
    promise, changes = BREAKS[what]
    broken(begun_game.MY_GAME, promise, **changes(begun_game))


@pytest.mark.parametrize(
    "part",
    [*parts(Game), *(f"play.{part}" for part in parts(Play)), "measures.parts", "measures.standings", "measures.items"],
)
def test_a_missing_part_is_named(part, begun_game):
    broken(begun_game.MY_GAME, f"lacks {part}: ", **{part.replace(".", "_"): None})


@pytest.mark.parametrize(("part", "text"), [
    ("system", "${facts}"), ("prompt", "<facts>\n${facts}\n</facts> costs $5"), ("prompt", "What of ${item}?"),
])  # fmt: skip
def test_a_prompt_that_can_not_be_filled_is_named(part, text, begun_game, tmp_path):
    (tmp_path / "prompt.md").write_text(text)
    broken(begun_game.MY_GAME, "has a prompt that can't be filled: ", **{f"play_{part}": tmp_path / "prompt.md"})


def test_settings_that_change_when_they_are_read_are_named(begun_game):
    class Growing(begun_game.MyGameRules):
        @field_validator("highest")
        @classmethod
        def _grow(cls, highest):
            return highest + 1

    with pytest.raises(AssertionError, match="settings that are written and read back differ"):
        check_game(replace(begun_game.MY_GAME, settings=Growing), {"highest": 10})
