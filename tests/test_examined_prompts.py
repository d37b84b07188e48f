"""What models read, examined: no prompt has a finding, and each check finds a prompt that was broken on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable

import pytest

from harbor._config.thinking import BUNDLES
from harbor._core.plugins.finding import find
from harbor._games.english.thoughts import PROMPTS as ENGLISH
from harbor._games.game import Game
from harbor.graphs._context.node import PROMPTS
from harbor.graphs._context.prompting import OPENING, told_with
from harbor.graphs._wiring.mind import usual_nodes
from support import examination
from support.asked import SESSIONS, Asked, asked_in, everything_asked, tables
from support.examination import BUDGETS, CHECKS, SCALES, examine

NOT_ASKED = {"system", "listen", "listener"}
"""Prompts that begin others, and those that hear an auctioneer who speaks plain English: they are no thoughts."""
TEXT = """Bid on the first of `items`. `estimate` is its estimate, and `priority` what your plan gave it: 3 you
want it most, 1 you give it up if need be. `budget` is what you have left.

<facts>
{"task":"bid","items":[{"item":"Vase","start":50,"estimate":80,"priority":3}],"budget":900}
</facts>"""
MESSAGES = ("You are a bidder in an auction.", TEXT)
KNOWN = frozenset({"task", "items", "estimate", "priority", "budget"})
FINE = Asked("english", "native", "bid", "english/Ann", MESSAGES, MESSAGES, known=KNOWN)


@pytest.fixture(scope="module")
def calls() -> Sequence[Asked]:
    return everything_asked()


@pytest.mark.parametrize("table", ["english", "harbor", "water of a paper"])
def test_nothing_is_found_in_the_prompts_of_a_game(table):
    assert ["\t".join(finding) for finding in examine(asked_in(table, tables()[table]))] == []


@pytest.mark.studies
def test_nothing_is_found_in_any_prompt(calls):
    assert ["\t".join(finding) for finding in examine(calls)] == []


@pytest.mark.studies
def test_every_protocol_with_every_game_that_it_knows_every_thought_every_scale_and_a_refusal_are_examined(calls):
    games = {"english", *SESSIONS}
    wanted = {(game, name) for name, bundle in BUNDLES.items() for game in bundle.games or games}
    assert {(call.game, call.protocol) for call in calls} == wanted
    assert {call.kind for call in calls} == set(BUDGETS)
    assert {*stems(PROMPTS), *stems(ENGLISH)} - NOT_ASKED <= set(BUDGETS)
    assert set(SCALES) <= {name for call in calls for name in call.told | call.reply}
    assert {call.game for call in calls if "refused" in call.told} == games


@pytest.mark.studies
def test_a_prompt_of_ones_own_may_name_every_fact_that_is_told(calls):
    for call in calls:
        if call.protocol == "native":
            game: Game = find("game", call.game)
            kind = game.name.replace("-", "_") if call.kind == "bid" and call.game != "english" else call.kind
            assert call.told <= told_with(game, usual_nodes(game), (kind, OPENING)), call.name


def stems(folder: Traversable) -> set[str]:
    return {file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md")}


@pytest.mark.studies
def test_sales_are_long_enough_that_items_are_summed_up_and_dear_enough_that_some_are_offered_again(calls):
    told = {name for call in calls if call.protocol == "native" and call.game == "english" for name in call.told}
    assert {"earlier_results", "later_items", "earlier_wins", "refused"} <= told
    limits = [call.facts for call in calls if call.seat == "english, offered again/Ann" and call.kind == "limit"]
    assert len({facts["minimum"] for facts in limits if facts["item"] == "Lot A"}) > 1


BROKEN = {
    "a fact that is not explained": ("`budget`", "That", "unexplained", "`budget`"),
    "a fact that has no sentence": ('"task":"bid"', '"task":"bid","day":3', "without a sentence", "`day`"),
    "a task that is a code name": ('"task":"bid"', '"task":"forge"', "without a sentence", "`task` 'forge'"),
    "a fact that is explained and absent": ("Bid on", "`leader` leads. Bid on", "explained and absent", "`leader`"),
    "a fact that is explained twice": (
        "Bid on", "`budget` is what is left of it. Bid on", "explained twice", "`budget`"),
    "a catalog without a profile": (
        '"task":"bid"', '"task":"bid","catalog":{"calm":"You wait."}', "of no use", "`catalog`"),
    "a scale with one end": (", 1 you give it up if need be", "", "scale without its ends", "`priority`"),
    "a word of code": ("Bid on", "Bid by lot_number on", "code name", "lot_number"),
    "a fact with the name of a node": ('"budget"', '"predict"', "code name", "`predict`"),
    "advice that is in no hint": (
        "Bid on", "You should keep money. Bid on", "advice outside hints", "You should keep money."),
    "a prompt that is too long": ("Bid on", "Bid here, and " * 700, "too long", "above 2,200 tokens"),
    "a text that is hard to read": (
        "Bid on the first of `items`.", f"{'Notwithstanding aforementioned considerations ' * 9}.", "hard to read",
        "LIX above 30"),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_the_examination_finds(broken):
    old, new, check, what = BROKEN[broken]
    assert old in TEXT
    messages = (FINE.messages[0], TEXT.replace(old, new))
    call = replace(FINE, messages=messages, unadvised=messages)  # whether hints are on or off
    assert (call.name, check, what) in examine([call])


def test_a_prompt_without_fault_has_no_finding_and_what_is_left_out_with_hints_off_is_a_hint_or_is_found():
    assert examine([FINE]) == []
    assert examine([replace(FINE, messages=(f"{FINE.messages[0]}\n{examination.hints()[-1]}", TEXT))]) == []
    call = replace(FINE, unadvised=(FINE.messages[0], TEXT.replace("Bid on the first of `items`. ", "")))
    found = "without its hints, the text is another than with hints off"
    assert [finding.what for finding in examine([call])] == [found]


def test_every_check_has_a_prompt_that_it_finds():
    assert {check for _, _, check, _ in BROKEN.values()} == set(CHECKS)
