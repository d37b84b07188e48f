"""The bundles of the papers: which facts each prompt tells, in which order, and how it is answered."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, Item
from harbor._config.thinking import BUNDLES
from harbor._core.basics.errors import ConfigError
from harbor._core.prompts.prompts import BLANK, chosen, facts_in, unfillable
from harbor.graphs._context.node import PROMPTS
from support.folders import calls

PAPERS = sorted(set(BUNDLES) - {"native"})
ITEMS = [Item(name=name, start=1_000, true_value=2_000, listing="An old clock.") for name in ("Clock", "Watch")]
WHO = ["give_reasons", "you", "relative_objective", "objective"]
MONEY = ["initial_budget", "your_wins"]
PLANNED = ["task", *MONEY, "items"]
STANDING = ["starting_price", "bids", "withdrawn", "highest_bid", "leader", "increment"]
ACTING = [*WHO[:2], "personas", *WHO[2:]]
RATED = ["catalog", *ACTING]
PLAYING = ["rules", *WHO[:2]]
MEETING = ["rules", "you"]
RUN = ["run", "runs_left", "past", "your_results"]
SEALED = ["task", "game", "answer_keys", "players", "value", "assets", "value_is_above_assets", *RUN]
TOLD: dict[str, dict[str, list[list[str]]]] = {
    "aucarena": {
        "plan": [WHO, ["task", "budget", "items"]],
        "bid": [WHO, PLANNED, ["task", "in_words", *STANDING]],
        "believe": [WHO, ["task", "history", "results", "belief"]],
        "replan": [WHO, ["task", "budget", "profits", "wins", "plan", "items"]],
        "learn": [WHO, ["task", "history", "results", "profits", "learnings"]],
    },
    "harbor": {
        "plan": [ACTING, ["task", "budget", "items"]],
        "strategize": [ACTING, ["task", *MONEY, "plan", "items", *STANDING]],
        "bid": [ACTING, PLANNED, ["task", "in_words", *STANDING, "strategy", "strategy_reasons"]],
        "believe": [ACTING, ["task", "history", "results", "belief"]],
        "profile": [RATED, ["task", "bidder", "item", "bids", "declined_at", "won", "profile"]],
        "mirror": [RATED, ["task", "items", "profiles_of_you"]],
        "replan": [RATED, ["task", "budget", "profits", "wins", "plan", "items", "initial_budget", "rivals"]],
    },
    "econarena": {
        "beauty": [MEETING, ["task", "game", "answer_keys", "players", "bound", "fraction", *RUN]],
        "second_price": [MEETING, SEALED],
        "first_price": [MEETING, [*SEALED[:4], "prior", *SEALED[4:]]],
    },
    "alympics": {
        "water": [PLAYING, ["task", "game", "in_words", "past", "residents", "today", "days_left", "supply_today"]]
    },
}
"""By bundle and prompt: what is told of who asks, and then in each turn, up to the first call of its kind."""


STAYING = ["rules", "bidders", "initial_budget", "all_items", "give_reasons", "you", "personas", "objective"]
DESCRIBED = [*STAYING, "catalog"]
NOW = ["item", "budget"]
GOING_BY = [*NOW, "plan", "priorities"]
CALLED = [*GOING_BY, "forecasts", "increment", "bids", "leader", "withdrawn", "minimum"]
NATIVE: dict[str, tuple[list[str], list[str], list[str]]] = {
    "plan": (STAYING, [], NOW),
    "predict": (DESCRIBED, ["results"], ["rivals", *NOW]),
    "strategize": (DESCRIBED, ["results"], ["rivals", *CALLED]),
    "bid": (STAYING, ["results"], [*CALLED, "strategy", "strategy_reasons"]),
    "fused": (DESCRIBED, ["results"], ["rivals", *CALLED]),
    "limit": (STAYING, ["results"], [*GOING_BY, "forecasts", "increment", "minimum"]),
    "believe": (STAYING, ["results"], ["belief", "over"]),
    "profile": (DESCRIBED, ["results", "bidding"], ["bidder", "item", "went_up_to", "ended", "declined_at", "shares"]),
    "mirror": (DESCRIBED, ["results", "bidding"], ["your_bidding", "shares_of_you"]),
    "rivals": (DESCRIBED, ["results", "bidding"], ["how_far", "rivals", "next_item", "budget"]),
    "replan": (DESCRIBED, ["results"], ["rivals", *GOING_BY, "earned"]),
    "learn": (STAYING, ["results"], ["your_highest_bids", "profits", "learnings"]),
}
"""By prompt of Harbor's own: the facts that stay the same, those that are added to, and those that change."""


def auctions(bundle: str) -> Iterator[Auction]:
    """Give small auctions in which every prompt of a bundle is used."""
    mind: dict[str, Any] = {"protocol": bundle}
    if bundle == "aucarena":
        yield Auction(items=ITEMS, bidders=[Bidder("Ann", learning=True, **mind), Bidder("Ben", **mind)])
    elif bundle == "harbor":
        mind |= {"theory_of_mind": "second", "strategy": "on", "persona": "downsizing"}
        yield Auction(items=ITEMS, bidders=[Bidder("Ann", **mind), Bidder("Ben", rule="minimum-raise")])
    for game in BUNDLES[bundle].games if bundle in ("alympics", "econarena") else ():
        length, names = ({"days": 3}, ("Alex", "Bob")) if game == "water" else ({"runs": 2}, ("Ann", "Ben"))
        yield Auction(bidders=[Bidder(name, **mind) for name in names], rules={"game": game, **length})


@pytest.fixture(scope="module", params=PAPERS)
def made(request, tmp_path_factory) -> tuple[str, list[dict[str, Any]]]:
    """Give the calls of auctions under a bundle."""
    folder = tmp_path_factory.mktemp(request.param)
    for number, auction in enumerate(auctions(request.param)):
        auction.run(out=folder / str(number))
    return request.param, calls(folder)


def test_each_prompt_tells_its_facts_in_the_order_of_the_paper(made):
    bundle, calls = made
    told: dict[str, Any] = {}
    for call in calls:
        if call["purpose"] not in told:
            told[call["purpose"]] = [list(facts_in(said)) for said in (call["prompt"][0], *call["prompt"][1::2])]
    expected = TOLD[bundle]
    assert {purpose: told[purpose] for purpose in expected} == expected
    if bundle == "harbor":  # a strategy reads the profiles before its plan
        last = [call["prompt"] for call in calls if call["purpose"] == "strategize"][-1]
        later = ["task", *MONEY, "rivals", "plan", "items", *STANDING]
        assert [list(facts_in(said)) for said in last[:2]] == [RATED, later]


def test_no_call_hands_over_the_least_bid_or_the_money_left(made):
    bids = [call for call in made[1] if call["purpose"] in ("bid", "strategize", "water", "beauty", "second_price")]
    told = {name for call in bids for name in facts_in("\n".join(call["prompt"]))}
    assert "items" in told or "players" in told or "residents" in told
    assert not told & {"minimum", "maximum", "budget"}


@pytest.fixture(scope="module")
def native(tmp_path_factory) -> dict[str, list[str]]:
    """Give of each prompt of Harbor's own in the ascending auction the one that tells most."""
    folder, found = tmp_path_factory.mktemp("native"), dict[str, list[str]]()
    ways = {"strategy": "on"}, {"strategy": "fused"}, {"bidding": "limit"}, {"rivals": "together"}
    for number, way in enumerate(ways):
        mind = {"theory_of_mind": "second", "persona": "downsizing", "learning": True, **way}
        bidders = [Bidder("Ann", **mind), Bidder("Ben", rule="minimum-raise")]
        Auction(items=ITEMS, bidders=bidders).run(out=folder / str(number))
    for call in sorted(calls(folder), key=lambda call: sum(len(facts_in(said)) for said in call["prompt"])):
        found[call["purpose"]] = call["prompt"]
    return found


def test_harbors_own_prompts_tell_first_what_stays_then_what_is_added_to_then_what_changes(native):
    assert native.keys() == NATIVE.keys()
    for kind, (stays, added, changes) in NATIVE.items():
        system, asked = native[kind]
        assert (kind, list(facts_in(system)), list(facts_in(asked))) == (kind, stays, [*added, *changes, "task"])


TEXTS = sorted((paper, file.name) for paper in PAPERS for file in (PROMPTS / paper).iterdir())


@pytest.mark.parametrize(("paper", "name"), TEXTS)
def test_every_text_can_be_filled_with_facts_that_have_sentences(paper, name):
    file = PROMPTS / paper / name
    sentences = tomllib.loads((files("harbor._core") / "sentences.toml").read_text())
    assert unfillable(file) == ""
    assert set(chosen(file.read_text()) or ()) <= {key.rstrip("[]{}") for key in sentences}
    assert name == "system.md" or file.read_text().partition("\n")[2].startswith(BLANK)  # what is asked comes last


def prompt_of_a_bid(folder: Path, **settings: Any) -> str:
    """Give the whole prompt of the first bid of a bidder of AucArena with other settings."""
    Auction(items=ITEMS[:1], bidders=[Bidder("Ann", protocol="aucarena", **settings)]).run(out=folder)
    return "\n".join(next(call["prompt"] for call in calls(folder) if call["purpose"] == "bid"))


def test_a_setting_that_is_given_goes_before_that_of_the_bundle(tmp_path):
    as_the_paper = prompt_of_a_bid(tmp_path / "paper")
    for setting, value, wording in (
        ("hints", False, "the starting price or a bit more"),
        ("relative_objective", False, "come out\nahead of them"),
        ("reply", "tool", "How to answer in plain words"),
        ("context", "fresh", "This is a dialogue"),
        ("bounds", "told", "The increment is"),
        ("planning", "none", "Go by your plan"),
    ):
        assert wording in as_the_paper
        assert wording not in prompt_of_a_bid(tmp_path / setting, **{setting: value})


@pytest.mark.parametrize(("bundle", "game"), [("aucarena", "water"), ("alympics", "beauty"), ("econarena", "english")])
def test_a_bundle_is_refused_for_a_game_that_it_does_not_know(bundle, game):
    with pytest.raises(ConfigError) as told:
        Auction(bidders=[Bidder("Alex", protocol=bundle), Bidder("Bob")], rules={"game": game}).run()
    assert str(told.value).startswith(f"bidder 'Alex': protocol {bundle!r} does not know the game {game!r}, only")
    assert "\n" not in str(told.value)
