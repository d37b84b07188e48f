"""The same mind in every game: six of Harbor's own, and two of strangers."""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from collections import Counter
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from pydantic import BaseModel

from harbor import Auction, Bidder, houses, resume, run_series, use
from harbor._audit.auditing import audited
from harbor._config.auction import AuctionConfig, MemorySettings, Series
from harbor._core.asking.asks import Bid
from harbor._core.basics.errors import CodeError, ConfigError
from harbor._core.log.acts import HOUSE, Acted, Allocated, Paid
from harbor._core.log.events import (
    AuctionHeld,
    BiddersAsked,
    Event,
    LotClosed,
    ModelCalled,
    PrivateEvent,
    PublicEvent,
    SeatFailed,
    ThoughtFailed,
    WorthTold,
)
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import (
    Believed,
    Decided,
    DecidedInWords,
    Expected,
    Learned,
    Mirrored,
    Planned,
    Predicted,
    Profiled,
    Recalled,
    Remembered,
    Strategized,
)
from harbor._games.bidder_view import View
from harbor._games.water.rules import DayClosed
from harbor._models.simulated.chat_model import read_facts
from harbor.graphs import ThoughtNode
from harbor.personas._catalog.traits import foremost, shares
from harbor.testing._playing import equal
from support.cases import crossed, some
from support.folders import ROOT, halve
from support.plugins import forgetting_modules, remembering
from support.thoughts import thought

NAMES = ("Ann", "Ben", "Cho")


class Musing(BaseModel):
    """What a bidder mused."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Mused(PrivateEvent):
    """What a bidder mused."""

    text: str


RESIDENTS = {name: {"need": 9, "salary": 100} for name in NAMES}
GAMES: dict[str, dict[str, Any]] = {
    "english": {"items": houses(2, 1)},
    "second-price": {"rules": {"game": "second-price", "runs": 2}},
    "first-price": {"rules": {"game": "first-price", "runs": 2}},
    "english-private": {"rules": {"game": "english-private", "runs": 2}},
    "water": {"rules": {"game": "water", "days": 3, "residents": RESIDENTS}},
    "beauty": {"rules": {"game": "beauty", "runs": 2}},
    "dutch": {"rules": {"game": "dutch"}, "items": houses(2, 1)},
    "bundles": {"rules": {"game": "bundles", "items": ["north", "east"]}},
}
WHOLE = {"theory_of_mind": "second", "strategy": "on", "memory": "full", "learning": True}
EVENTS: dict[str, tuple[type[Event], ...]] = {
    "recall": (Recalled,), "plan": (Planned,), "profile": (Profiled,), "mirror": (Mirrored,), "predict": (Predicted,),
    "strategize": (Strategized,), "bid": (Decided, DecidedInWords), "believe": (Believed, Expected),
    "learn": (Learned,), "remember": (Remembered,),
}  # fmt: skip
LEFT_OUT = {  # what switches each node off, and which nodes go with it
    "recall": ({"memory": "none"}, {"recall"}),
    "plan": ({"planning": "none"}, {"plan"}),
    "profile": ({"theory_of_mind": "true"}, {"profile", "mirror"}),
    "mirror": ({"theory_of_mind": "inferred"}, {"mirror"}),
    "predict": ({"predict": False}, {"predict"}),
    "strategize": ({"strategy": "off"}, {"strategize"}),
    "believe": ({"believe": False}, {"believe"}),
    "learn": ({"learning": False}, {"learn"}),
    "remember": ({"memory": "none", "learning": False}, {"recall", "learn", "remember"}),
}

UNEXPECTED = {"dutch": {"believe"}, "bundles": {"believe", "predict"}}
"""The thoughts that a game has no use for: nothing is known of what follows."""


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    """The two example packages, as a user would name them."""
    with forgetting_modules(), remembering(monkeypatch):
        sys.path[:0] = [str(ROOT / "examples" / place) for place in ("plugin", "bundles")]
        use(import_module("clock_auction.game").DUTCH)
        use(import_module("bundle_auction.game").BUNDLES)
        yield


def game(name: str, seed: int = 1, **mind: Any) -> Auction:
    """A game of one mind and two that only bid."""
    plain = [Bidder(one, planning="none", believe=False) for one in NAMES[1:]]
    return Auction(bidders=[Bidder("Ann", **{"bidding": "call", **mind}), *plain], seed=seed, **GAMES[name])


def had(log: list[Entry]) -> set[str]:
    """The thoughts that Ann has had, by what she concluded."""
    concluded = {type(entry.event) for entry in log if getattr(entry.event, "bidder", "") == "Ann"}
    return {name for name, kinds in EVENTS.items() if concluded & {*kinds}}


def prompts(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """The tasks and the facts of Ann's prompts."""
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    return [(call["purpose"], read_facts("\n".join(call["prompt"]))) for call in calls if call["bidder"] == "Ann"]


# ---------------------------------------------------------------- every thought, everywhere


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Finished games of a whole mind, by name, each held once: log and folder."""

    @cache
    def held(name: str) -> tuple[list[Entry], Path]:
        folder = tmp_path_factory.mktemp("whole") / "run"
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".* shows nothing of what they do")
            return game(name, **WHOLE).run(out=folder).log, folder

    return held


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_mind_has_every_thought_in_every_game_and_tells_later_thoughts_what_it_found_out_of_rivals(name, whole):
    log, folder = whole(name)
    assert not of_type(log, SeatFailed) + of_type(log, ThoughtFailed)
    assert had(log) == EVENTS.keys() - UNEXPECTED.get(name, set())
    later = [facts for _, facts in prompts(folder) if facts.get("profiles") or facts.get("rivals")]
    assert any("truthful" in json.dumps(facts) or "catalog" in facts for facts in later)


@pytest.mark.parametrize(("left_out", "name"), crossed([*LEFT_OUT], [*GAMES]))
def test_a_thought_that_is_left_out_is_not_had_and_the_others_are(name, left_out):
    settings, gone = LEFT_OUT[left_out]
    log = game(name, **WHOLE | settings).run().log
    assert not of_type(log, SeatFailed) + of_type(log, ThoughtFailed)
    assert had(log) == EVENTS.keys() - gone - UNEXPECTED.get(name, set())


@pytest.mark.parametrize(("name", "moment"), [("second-price", "run"), ("beauty", "run"), ("water", "today")])
def test_forecasts_are_told_of_what_is_coming_alone_and_after_the_last_run_no_next_one(name, moment, whole):
    asked = [(task, facts) for task, facts in prompts(whole(name)[1]) if facts["you"] == "Ann"]
    assert any("interests" in facts for _, facts in asked)
    assert all(facts["interests"]["item"] == facts[moment] for _, facts in asked if "interests" in facts)
    assert not [task for task, facts in asked if task in ("contest_believe", "learn") and "forecasts" in facts]
    assert [moment in facts for task, facts in asked if task == "learn"] == [False]


@pytest.mark.parametrize("name", GAMES)
def test_nobody_else_is_told_what_a_mind_found_out(name, whole):
    calls = [json.loads(line) for line in (whole(name)[1] / "calls.jsonl").read_text().splitlines()]
    others = "".join("".join(call["prompt"]) for call in calls if call["bidder"] != "Ann")
    assert others
    notes, facts = {"profiles", "profiles_of_you", "interests", "memories"}, {"catalog", "shares", "shares_of_you"}
    assert not [fact for fact in notes | facts | {"forecasts"} if f'"{fact}":' in others]


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["second-price", "first-price", "water", "beauty"], ["second-price", "water"]))
def test_nothing_crosses_between_whole_minds_of_any_game(name):
    auction = game(name, theory_of_mind="second", strategy="on")
    found = audited(auction, ("thoughts", "bid", "value"))
    assert found.leaks == []


@pytest.mark.parametrize("name", some([one for one in GAMES if one not in ("dutch", "bundles")], ["english", "beauty"]))
def test_a_run_that_was_killed_in_the_middle_resumes_with_all_thoughts(name, whole, tmp_path):
    log, folder = whole(name)
    copytree(folder, tmp_path / "run")
    halve(tmp_path / "run/events.jsonl")
    again = resume(tmp_path / "run").log
    assert again[0].event == log[0].event
    equal(log, again)


def calls_of(log: list[Entry]) -> Counter[str]:
    """How often Ann's model was asked for each thought."""
    return Counter(call.purpose for call in of_type(log, ModelCalled) if call.bidder == "Ann")


# ---------------------------------------------------------------- what rivals are like


TYPES = {"Over": "overbidding", "Shade": "shading", "True": "truthful"}


def planted(seed: int, rules: dict[str, Any], **mind: Any) -> Auction:
    """A mind that profiles three rivals, each of another type."""
    quiet: dict[str, Any] = {"planning": "none", "believe": False}
    rivals = [Bidder(name, persona=kind, **quiet) for name, kind in TYPES.items()]
    return Auction(bidders=[Bidder("Ann", theory_of_mind="inferred", **quiet, **mind), *rivals], rules=rules, seed=seed)


def test_shown_values_tell_the_types_at_once():
    log = planted(3, {"game": "second-price", "runs": 2, "show": "actions and values"}).run().log
    assert {one.rival: foremost(one.weights) for one in of_type(log, Profiled)} == TYPES


def test_true_types_are_told_where_a_bidder_is_to_know_them(tmp_path):
    auction = planted(1, {"game": "second-price", "runs": 2}, predict=True)
    bidders = [auction.bidders[0].model_copy(update={"theory_of_mind": "true"}), *auction.bidders[1:]]
    log = auction.model_copy(update={"bidders": tuple(bidders)}).run(out=tmp_path / "run").log
    assert not of_type(log, Profiled)
    told = next(facts["profiles"] for task, facts in prompts(tmp_path / "run") if task == "predict")
    assert {name: foremost(weights) for name, weights in told.items()} == TYPES


def test_profiles_stay_uniform_where_nothing_is_shown_and_a_warning_says_so_before():
    with pytest.warns(UserWarning, match="Ann profiles rivals, and the game 'second-price' shows nothing"):
        log = planted(1, {"game": "second-price", "runs": 3, "show": "nothing"}).run().log
    for one in of_type(log, Profiled):
        assert set(shares(one.weights, one.weights).values()) == {1 / 3}


# ---------------------------------------------------------------- memories


def test_a_run_recalls_what_another_game_taught_only_if_it_is_asked_to(tmp_path):
    store = {"store": str(tmp_path / "memories")}
    taught = game("second-price", memory="list", learning=True)
    taught.model_copy(update={"memory": MemorySettings(**store)}).run()

    def recalled(**memory: Any) -> list[str]:
        auction = game("water", memory="list").model_copy(update={"memory": MemorySettings(**store, **memory)})
        return [one.text for event in of_type(auction.run().log, Recalled) for one in event.memories]

    assert recalled() == []
    assert any(text.startswith("In second-price, ") for text in recalled(games=("second-price",)))


def test_a_game_that_is_named_by_reference_remembers_under_its_name():
    name = "clock_auction.game:DUTCH"
    use(name)
    bidders = (Bidder("Ann", memory="list", learning=True), Bidder("Ben"))
    rules = {**GAMES["dutch"]["rules"], "game": name}
    config = AuctionConfig(bidders=bidders, series=Series(auctions=2), items=houses(2, 1), rules=rules)
    first, second = run_series(config).auctions
    assert not of_type(second.log, SeatFailed)
    assert {one.text for event in of_type(second.log, Recalled) for one in event.memories} == {
        text for event in of_type(first.log, Learned) for text in event.learnings
    }


def test_a_series_of_any_game_ranks_by_outcomes_and_one_that_tells_no_profits_has_no_ranks():
    def series(**rules: Any) -> Any:
        return run_series(AuctionConfig(bidders=(Bidder("Ann"), Bidder("Ben")), rules=rules, series=Series(auctions=2)))

    held = of_type(series(game="first-price", runs=2).log, AuctionHeld)
    assert [(one.auction, set(one.ranks)) for one in held] == [(1, {"Ann", "Ben"}), (2, {"Ann", "Ben"})]
    residents = {name: {"need": 9, "salary": 100} for name in ("Ann", "Ben")}
    assert series(game="water", days=2, residents=residents).metrics().mean_ranks == {}


def test_whoever_is_out_of_the_game_is_neither_profiled_nor_predicted():
    dear = {name: {"need": 12, "salary": 50 if name == "Ben" else 200} for name in NAMES}
    rules = {"game": "water", "days": 12, "supply": [12, 13], "residents": dear}
    bidders = game("water", theory_of_mind="inferred").bidders
    log = Auction(bidders=bidders, rules=rules, seed=1).run().log
    days = of_type(log, DayClosed)
    died = next(at for at, one in enumerate(days) if "Ben" in one.statuses and not one.statuses["Ben"].health)
    after = [one.item for one in days[died + 1 :]]
    assert after
    assert not [one for one in of_type(log, Profiled) if one.rival == "Ben" and one.closed in after]
    predicted = [(one.item, each.rival) for one in of_type(log, Predicted) for each in one.predictions]
    assert not {(item, "Ben") for item in after[1:]} & {*predicted}


# ---------------------------------------------------------------- the view


def asked(item: str, *bidders: str) -> BiddersAsked:
    return BiddersAsked(item, 1, 1, bidders or ("Ann", "Ben"))


def bid(bidder: str, item: str, amount: int) -> Acted:
    return Acted(bidder, item, Bid(Decimal(amount)))


def test_parts_that_are_under_way_side_by_side_are_kept_apart_and_a_name_that_comes_again_is_another_part():
    events = [asked("x"), bid("Ben", "x", 1), asked("y"), bid("Ben", "y", 2), bid("Cho", "x", 3)]
    x, y = View().after([*events, Allocated("Cho", "x"), LotClosed("x"), LotClosed("y")]).results
    assert [[amount for *_, amount in part.bids] for part in (x, y)] == [[1, 3], [2]]
    assert (x.winner, y.winner) == ("Cho", None)
    once = [asked("x"), bid("Ben", "x", 1), Allocated("Ben", "x"), LotClosed("x")]
    again = [asked("x"), bid("Cho", "x", 9), Allocated("Cho", "x"), LotClosed("x")]
    first, second = View().after([*once, *again]).results
    assert (first.winner, second.winner) == ("Ben", "Cho")
    assert (first.highest_bid("Cho"), second.highest_bid("Cho")) == (None, 9)


def test_what_is_told_of_a_part_after_it_closed_belongs_to_it():
    paid = Paid("Ben", HOUSE, "x", Decimal(5))
    [part] = View().after([asked("x"), LotClosed("x"), Allocated("Ben", "x"), paid, WorthTold("x", Decimal(8))]).results
    assert (part.winner, part.price, part.true_value) == ("Ben", 5, 8)


def test_an_event_whose_bidders_are_no_names_changes_nobody():
    @dataclasses.dataclass(frozen=True)
    class Counted(PublicEvent):
        bidders: int

    assert View().after([asked("x"), Counted(2)]).bidders == ("Ann", "Ben")


def test_a_series_of_a_game_without_outcomes_is_refused():
    silent = import_module("bundle_auction.game").BUNDLES
    told = tuple(kind for kind in silent.events if kind not in (Allocated, Paid))
    use(dataclasses.replace(silent, events=told))
    with pytest.raises(ConfigError) as refused:
        run_series(AuctionConfig(**GAMES["bundles"], bidders=(Bidder("Ann"), Bidder("Ben")), series=Series(auctions=2)))
    assert str(refused.value).startswith("the game 'bundles' tells no outcomes, by which a series ranks bidders")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("name", "mind", "changes", "said"),
    [
        ("beauty", {"theory_of_mind": "inferred"}, {"profile_over": ("level-1", "downsizing")},
         "profile_over 'downsizing' is no type of the game 'beauty', which has 'level-0'"),
        ("second-price", {"bidding": "limit"}, {},
         "bidder 'Ann': the game 'second-price' has no words for the node 'limit'; drop bidding 'limit'"),
        ("second-price", {"strategy": "fused"}, {},
         "bidder 'Ann': the game 'second-price' has no words for the node 'fused'; drop strategy 'fused'"),
        ("english", {"memory": "list"}, {"memory": MemorySettings(games=("watr",))}, "unknown game 'watr'; did"),
    ],
    ids=["type", "limit", "fused", "game to recall"],
)  # fmt: skip
def test_what_a_game_has_no_type_no_words_and_no_name_for_is_refused(name, mind, changes, said):
    with pytest.raises(ConfigError) as refused:
        game(name, **mind).model_copy(update=changes).run()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["english", "beauty"])
def test_a_node_that_runs_itself_is_asked_under_its_own_name_whatever_its_prompt_is_called(name, tmp_path):
    prompt = tmp_path / "another_name.md"
    prompt.write_text("Say what you think of `game_so_far`.\n\n<facts>\n${facts}\n</facts>\n")

    async def muse(state: Any, context: Any) -> dict[str, Any]:
        reply = await context.reply(state["view"])
        return context.emit(Mused(state["view"].name, reply.text))

    node = ThoughtNode(
        name="muse", description="muse", occasions=("closed",), event=Mused, prompt=prompt, reply=Musing, run=muse,
        facts=lambda view: {"game_so_far": len(view.results)},
        answer=lambda facts, settings, chance: {"text": f"after {facts['game_so_far']}"},  # noqa: ARG005
    )  # fmt: skip
    use(node)
    log = game(name, nodes=("muse",)).run().log
    assert [one.text for one in of_type(log, Mused)] == ["after 1", "after 2"]
    assert calls_of(log)["muse"] == 2


def test_a_fact_that_a_game_does_not_tell_is_named_with_the_game_and_the_node(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    facts = "lambda view: {'item': view.coming[0].name, 'price': view.results[-1].price}"
    with pytest.raises(CodeError) as refused:
        game("beauty", nodes=(thought(tmp_path, "lacking_thought", facts=facts),)).run()
    assert "\n" not in str(refused.value)
    for part in ("bidder 'Ann'", "node 'reflect'", "game 'beauty'", "tuple index out of range"):
        assert part in str(refused.value)
