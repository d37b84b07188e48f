"""The suite for games finds each broken promise of a stranger's game, and says which it is."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import field_validator

from harbor._games.game import Game, Measures, Play
from harbor.events import BidderWithdrew
from harbor.games import Bid
from harbor.testing import check_game


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


def settling(module, change):
    return with_rules(module, settle=lambda self, *given: change(self, module.MyGame.settle(self, *given), *given))


def test_a_game_that_was_begun_a_moment_ago_keeps_its_promises(begun_game):
    check_game(begun_game.MY_GAME)


@pytest.mark.parametrize("part", [one.name for one in fields(Game) if "part" in one.metadata])
def test_a_missing_part_is_named(part, begun_game):
    broken(begun_game.MY_GAME, f"lacks {part}: ", **{part: None})


@pytest.mark.parametrize("part", [one.name for one in fields(Play) if "part" in one.metadata])
def test_a_missing_part_of_how_it_is_played_is_named(part, begun_game):
    broken(begun_game.MY_GAME, rf"lacks play\.{part}: ", **{f"play_{part}": None})


@pytest.mark.parametrize("part", ["parts", "standings", "items"])
def test_a_missing_measure_is_named(part, begun_game):
    broken(begun_game.MY_GAME, rf"lacks measures\.{part}: ", **{f"measures_{part}": None})


def test_what_is_no_game_is_named():
    with pytest.raises(AssertionError, match="is no game"):
        check_game(Measures())


def test_another_version_is_named(begun_game):
    broken(begun_game.MY_GAME, "is for version 2 of Harbor's extensions", api=2)


def test_settings_that_change_when_they_are_read_are_named(begun_game):
    class Growing(begun_game.MyGameRules):
        @field_validator("highest")
        @classmethod
        def _grow(cls, highest):
            return highest + 1

    with pytest.raises(AssertionError, match="settings that are written and read back differ"):
        check_game(replace(begun_game.MY_GAME, settings=Growing), {"highest": 10})


# ---------------------------------------------------------------- rules


def test_rules_that_toss_their_own_coin_are_named(begun_game):
    def toss(self, events, *_):
        return [replace(one, winner=str(random.random())) if hasattr(one, "winner") else one for one in events]

    broken(begun_game.MY_GAME, "give different events", build=settling(begun_game, toss))


def test_rules_for_which_the_order_of_answers_counts_are_named(begun_game):
    def first(self, events, wanted, actions, *_):
        return [replace(one, winner=next(iter(actions))) if hasattr(one, "winner") else one for one in events]

    broken(begun_game.MY_GAME, "the order in which answers arrive", build=settling(begun_game, first))


def test_rules_that_change_what_they_are_given_are_named(begun_game):
    def clear(self, events, wanted, actions, *_):
        actions.clear()
        return events

    broken(begun_game.MY_GAME, "settling changed its arguments", build=settling(begun_game, clear))


def test_rules_that_change_themselves_are_named(begun_game):
    def grow(self, events, *_):
        object.__setattr__(self, "highest", self.highest + 1)
        return events

    broken(begun_game.MY_GAME, "settling changed the rules", build=settling(begun_game, grow))


def test_rules_that_ask_otherwise_each_time_are_named(begun_game):
    numbers = count(1)

    def asks(self, wanted):
        now = next(numbers)
        return [one._replace(round=now) for one in begun_game.MyGame.asks(self, wanted)]

    broken(begun_game.MY_GAME, "asking twice in one state", build=with_rules(begun_game, asks=asks))


def test_rules_that_break_are_named(begun_game):
    broken(begun_game.MY_GAME, "fails with KeyError: 'nothing'", build=settling(begun_game, lambda *_: {}["nothing"]))


# ---------------------------------------------------------------- events


def test_an_event_that_it_does_not_list_is_named(begun_game):
    events = (begun_game.MyGameOpened,)
    broken(begun_game.MY_GAME, "lacks events: MyGameClosed; add it", events=events)


def test_an_opening_that_never_happens_is_named(begun_game):
    broken(begun_game.MY_GAME, "the log has no BidderWithdrew, which opens the game", opening=BidderWithdrew)


# ---------------------------------------------------------------- how it is played


@pytest.mark.parametrize("part", ["system", "prompt"])
@pytest.mark.parametrize("text", ["${facts}", "<facts>\n${facts}\n</facts> costs $5", "What of ${item}?"])
def test_a_prompt_that_can_not_be_filled_is_named(part, text, begun_game, tmp_path):
    (tmp_path / "prompt.md").write_text(text)
    broken(begun_game.MY_GAME, "has a prompt that can't be filled: ", **{f"play_{part}": tmp_path / "prompt.md"})


def test_a_prompt_that_is_not_there_is_named(begun_game):
    broken(begun_game.MY_GAME, "has a prompt that can't be read", play_prompt=Path("nowhere.md"))


def test_a_fact_that_no_prompt_explains_is_named(begun_game):
    facts = begun_game.MY_GAME.play.facts
    broken(begun_game.MY_GAME, r"in backticks: \['mood'\]", play_facts=lambda *given: {**facts(*given), "mood": 1})


def test_facts_that_come_from_elsewhere_are_named(begun_game):
    """As facts do that look into the rules, which know what was dealt to the others."""
    dealt, game = SimpleNamespace(seed=0), begun_game.MY_GAME

    def build(rules, config):
        dealt.seed = config.seed
        return game.build(rules, config)

    def facts(*given):
        return {**game.play.facts(*given), "highest": 20 + dealt.seed}

    broken(
        game, "facts come from elsewhere than from the events that the bidder has seen", build=build, play_facts=facts
    )


def test_facts_that_change_what_was_seen_are_named(begun_game):
    def facts(name, seen):
        known = begun_game.facts(name, seen)
        getattr(seen, "clear", lambda: None)()
        return known

    broken(begun_game.MY_GAME, "telling the facts changed the events that the bidder has seen", play_facts=facts)


def test_facts_that_break_are_named(begun_game):
    facts = "KeyError: 'nothing'"
    broken(begun_game.MY_GAME, f"fails in play.facts .{facts}", play_facts=lambda name, seen: {}["nothing"])


def test_an_answer_of_the_built_in_model_that_is_not_legal_is_named(begun_game):
    answer = {"reasons": "", "action": "bid", "amount": 999}
    broken(
        begun_game.MY_GAME, "the built-in model gives answers that are not legal", play_policy=lambda *_: dict(answer)
    )


def test_an_answer_of_the_rational_policy_that_is_not_legal_is_named(begun_game):
    broken(
        begun_game.MY_GAME,
        "the rational policy gives answers that are not legal",
        rational=lambda ask, seen: Bid(ask.maximum + 1),
    )


def test_a_rational_policy_that_breaks_is_named(begun_game):
    broken(begun_game.MY_GAME, "fails in rational .ZeroDivisionError", rational=lambda ask, seen: 1 / 0)


# ---------------------------------------------------------------- how it is measured


def test_standings_that_leave_a_bidder_out_are_named(begun_game):
    broken(
        begun_game.MY_GAME,
        "the standings do not name every bidder once",
        measures_standings=lambda entries: begun_game.standings(entries)[1:],
    )


@pytest.mark.parametrize("part", ["standings", "items"])
def test_measures_that_need_a_whole_log_are_named(part, begun_game):
    usual = getattr(begun_game.MY_GAME.measures, part)

    def needy(entries):
        return usual(entries) if len(entries) > 10 else [][0]

    broken(
        begun_game.MY_GAME,
        "breaks off after LogOpened is refused: .* failed .IndexError",
        **{f"measures_{part}": needy},
    )
