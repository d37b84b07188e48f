"""The same mind in every game: six of Harbor's own, and two of strangers."""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from pydantic import BaseModel

from harbor import Auction, Bidder, SimulatedChat, houses, of_type, resume, run_series, use
from harbor._audit.auditing import audited
from harbor._config.auction import MemorySettings, Series, check
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import Acted, Allocated
from harbor._core.log.events import AuctionHeld, BiddersAsked, ModelCalled, PrivateEvent, PublicEvent, WorthTold
from harbor._core.log.thoughts import Believed, Decided, DecidedInWords, Expected, Learned, Mirrored, Profiled, Recalled
from harbor._games.water.rules import DayClosed
from harbor._models.simulated.chat_model import read_facts
from harbor._runs.resolve import resolve
from harbor.events import HOUSE, LotClosed, Paid, Planned, Predicted, Remembered, SeatFailed, Strategized, ThoughtFailed
from harbor.games import AuctionConfig, Bid, Entry, Event
from harbor.graphs import ThoughtNode, View
from harbor.graphs._nodes.profile import PROFILE
from harbor.personas._catalog.traits import foremost, in_percent, shares
from harbor.testing._playing import equal
from support.asked import LARGE_STEPS, prompt_facts
from support.cases import crossed
from support.folders import ROOT, calls, halve
from support.plugins import forgetting_modules, remembering
from support.processes import closed

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
    "english": {"items": houses(2, 1), "rules": LARGE_STEPS},
    "second-price": {"rules": {"game": "second-price", "runs": 2}},
    "first-price": {"rules": {"game": "first-price", "runs": 2}},
    "english-private": {"rules": {"game": "english-private", "runs": 2, "step_share": 0.3}},
    "water": {"rules": {"game": "water", "days": 3, "residents": RESIDENTS}},
    "beauty": {"rules": {"game": "beauty", "runs": 2}},
    "dutch": {"rules": {"game": "dutch"}, "items": houses(2, 1)},
    "bundles": {"rules": {"game": "bundles", "items": ["north", "east"]}},
}
EVENTS: dict[str, tuple[type[Event], ...]] = {
    "recall": (Recalled,), "plan": (Planned,), "profile": (Profiled,), "mirror": (Mirrored,), "predict": (Predicted,),
    "strategize": (Strategized,), "bid": (Decided, DecidedInWords), "believe": (Believed, Expected),
    "learn": (Learned,), "remember": (Remembered,),
}  # fmt: skip
LONG: dict[str, dict[str, Any]] = {  # so that profiles go on from what they were
    "english": {"items": houses(3, 1), "rules": LARGE_STEPS},
    "second-price": {"rules": {"game": "second-price", "runs": 4}},
    "first-price": {"rules": {"game": "first-price", "runs": 3, "show": "actions and values"}},
    "water": {"rules": {"game": "water", "days": 5, "residents": RESIDENTS}},
}
SECOND = {"theory_of_mind": "second", "strategy": "on"}
WHOLE = {**SECOND, "memory": "full", "learning": True}
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


def game(name: str, games: Mapping[str, Any] = GAMES, **mind: Any) -> Auction:
    """A game of one mind and two that only bid."""
    plain = [Bidder(one, planning="none", believe=False) for one in NAMES[1:]]
    return Auction(bidders=[Bidder("Ann", **{"bidding": "call", **mind}), *plain], seed=1, **games[name])


def had(log: list[Entry]) -> set[str]:
    """The thoughts that Ann has had, by what she concluded."""
    concluded = {type(entry.event) for entry in log if getattr(entry.event, "bidder", "") == "Ann"}
    return {name for name, kinds in EVENTS.items() if concluded & {*kinds}}


def failed(log: list[Entry]) -> list[Event]:
    return [*of_type(log, SeatFailed), *of_type(log, ThoughtFailed)]


# ---------------------------------------------------------------- every thought, everywhere


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Finished games of a whole mind, each held once: log and folder."""

    @cache
    def held(name: str, rivals: str = "apart") -> tuple[list[Entry], Path]:
        folder = tmp_path_factory.mktemp("whole") / "run"
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".* shows nothing of what they do")
            log = game(name, rivals=rivals, **WHOLE).run(out=folder).log
        closed(folder)
        return log, folder

    return held


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_mind_has_every_thought_in_every_game_and_tells_later_thoughts_what_it_found_out_of_rivals(name, whole):
    log, folder = whole(name)
    assert not failed(log)
    assert had(log) == EVENTS.keys() - UNEXPECTED.get(name, set())
    later = [facts for _, facts in prompt_facts(folder) if facts.get("profiles") or facts.get("rivals")]
    assert any("truthful" in json.dumps(facts) or "catalog" in facts for facts in later)


@pytest.mark.parametrize(("left_out", "name"), crossed([*LEFT_OUT], [*GAMES]))
def test_a_thought_that_is_left_out_is_not_had_and_the_others_are(name, left_out):
    settings, gone = LEFT_OUT[left_out]
    log = game(name, **WHOLE | settings).run().log
    assert not failed(log)
    assert had(log) == EVENTS.keys() - gone - UNEXPECTED.get(name, set())


@pytest.mark.parametrize(("name", "moment"), [("second-price", "run"), ("beauty", "run"), ("water", "today")])
def test_forecasts_are_told_of_what_is_coming_alone_and_after_the_last_run_no_next_one(name, moment, whole):
    asked = [(task, facts) for task, facts in prompt_facts(whole(name)[1]) if facts["you"] == "Ann"]
    assert any("interests" in facts for _, facts in asked)
    assert all(facts["interests"]["item"] == facts[moment] for _, facts in asked if "interests" in facts)
    assert not [task for task, facts in asked if task in ("contest_believe", "learn") and "forecasts" in facts]
    assert [moment in facts for task, facts in asked if task == "learn"] == [False]


@pytest.mark.parametrize("name", GAMES)
def test_nobody_else_is_told_what_a_mind_found_out(name, whole):
    others = "".join("".join(call["prompt"]) for call in calls(whole(name)[1]) if call["bidder"] != "Ann")
    assert others
    notes, facts = {"profiles", "profiles_of_you", "interests", "memories"}, {"catalog", "shares", "shares_of_you"}
    assert not [fact for fact in notes | facts | {"forecasts"} if f'"{fact}":' in others]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rivals"), crossed(["second-price", "first-price", "water", "beauty"], ["apart", "together"])
)
def test_nothing_crosses_between_whole_minds_of_any_game(name, rivals):
    assert audited(game(name, rivals=rivals, **SECOND), ("thoughts", "bid", "value")).leaks == []


@pytest.mark.parametrize(
    ("name", "rivals"), [("english", "together"), ("second-price", "apart"), ("beauty", "apart"), ("water", "together")]
)
def test_a_run_that_was_killed_in_the_middle_resumes_with_all_thoughts(name, rivals, whole, tmp_path):
    log, folder = whole(name, rivals)
    copytree(folder, tmp_path / "run")
    halve(tmp_path / "run/events.jsonl")
    equal(log, resume(tmp_path / "run").log)


def calls_of(log: list[Entry]) -> Counter[str]:
    """How often Ann's model was asked for each thought."""
    return Counter(call.purpose for call in of_type(log, ModelCalled) if call.bidder == "Ann")


# ---------------------------------------------------------------- all rivals in one call


@pytest.mark.parametrize("name", LONG)
def test_one_call_takes_the_place_of_those_for_each_rival_and_comes_to_the_same_profiles_and_decisions(name):
    logs = [game(name, LONG, rivals=rivals, **SECOND).run().log for rivals in ("apart", "together")]
    apart, together = map(calls_of, logs)
    times = together["rivals"]
    assert (together["profile"], together["mirror"], together["predict"]) == (0, 0, 1)
    assert (apart["profile"], apart["mirror"], apart["predict"]) == (2 * times, times, 1 + times)
    assert not failed(logs[1])
    for kind in (Profiled, Mirrored):
        found, wanted = ({(one.rival, one.closed): one for one in of_type(log, kind)} for log in reversed(logs))
        assert found.keys() == wanted.keys() != set()
        for name, one in found.items():
            assert (one.weights, one.repaired) == (pytest.approx(wanted[name].weights, abs=0.01), 0), name
    for kind in (Predicted, Decided):
        assert of_type(logs[1], kind) == of_type(logs[0], kind) != []


@pytest.mark.parametrize("name", ["dutch", "bundles"])
def test_all_rivals_are_judged_at_once_in_games_of_strangers(name):
    log = game(name, rivals="together", **SECOND).run().log
    assert calls_of(log)["rivals"] == len({one.closed for one in of_type(log, Profiled)}) > 0
    assert not failed(log)


INFERRED, SILENT = {"theory_of_mind": "inferred"}, {"predict": False}


USES = (INFERRED, {Profiled, Predicted}), (SILENT, {Profiled, Mirrored}), (INFERRED | SILENT, {Profiled})


@pytest.mark.parametrize(("mind", "made"), USES)
def test_a_mind_is_asked_for_what_it_has_a_use_for_alone(mind, made):
    log = game("second-price", rivals="together", **SECOND | mind).run().log
    assert {kind for kind in (Profiled, Mirrored, Predicted) if of_type(log, kind)} == made


def test_after_the_last_item_profiles_that_are_judged_are_asked_for_and_no_forecasts(tmp_path):
    bidders = [Bidder("Ann", rivals="together", **SECOND), Bidder("Ben", persona="downsizing")]
    log = Auction(items=houses(2, 1), bidders=bidders).run(out=tmp_path / "run").log
    first, last = ("\n".join(call["prompt"]) for call in calls(tmp_path / "run") if call["purpose"] == "rivals")
    assert ["next_item" in read_facts(text) for text in (first, last)] == [True, False]
    assert ["Forecast also" in text for text in (first, last)] == [True, False]
    assert (len(of_type(log, Profiled)), len(of_type(log, Mirrored)), len(of_type(log, Predicted))) == (2, 1, 2)


def test_a_placebo_takes_the_place_of_profiles_that_nothing_is_predicted_by(tmp_path):
    mind = {"rivals": "together", "predict": False, "placebo": "blank"}
    log = game("second-price", LONG, **SECOND | mind).run(out=tmp_path / "run").log
    told = dict(prompt_facts(tmp_path / "run"))
    assert told["strategize"]["profiles"] == {"Ben": {}, "Cho": {}}
    assert all(row["shares"] for row in told["rivals"]["rivals"])
    assert of_type(log, Profiled)


class Changed(SimulatedChat):
    """Changes what it says of the rivals, so many times."""

    change: Callable[[list[dict[str, Any]]], object]
    times: int

    def _answer(self, messages: Any, tools: Any) -> Any:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            if "rivals" in call["args"] and self.times:
                self.change(call["args"]["rivals"])
                self.times -= 1
        return result


def with_replies(change: Callable[[list[dict[str, Any]]], object], times: int, items: int = 2, **run: Any) -> Any:
    others = [Bidder(name, rule="minimum-raise") for name in ("Ben", "Cho")]
    ann = Bidder("Ann", model="mine", rivals="together", planning="none", **SECOND)
    auction = Auction(items=houses(items, 5), bidders=[ann, *others], failed_calls="play on")
    return auction.run(models={"mine": Changed(change=change, times=times)}, **run).log


@pytest.mark.parametrize("field", ["limit", "interest", "shares_of_you"])
def test_a_reply_that_lacks_something_of_a_rival_is_sent_back(field, tmp_path):
    log = with_replies(lambda rivals: rivals[-1].pop(field), times=1, out=tmp_path / "run")
    wrong, right = [call for call in calls(tmp_path / "run") if call["purpose"] == "rivals"]
    assert (wrong["outcome"], right["outcome"]) == ("unreadable", "ok")
    assert f"missing {field} of 'Cho'" in str((wrong, right))
    assert len(of_type(log, Profiled)) == 2


def test_shares_that_do_not_add_up_are_scaled_and_marked():
    def half(rivals: list[dict[str, Any]]) -> None:
        rivals[0]["shares"] = [{"persona": "downsizing", "share": 30}, {"persona": "urban-dwellers", "share": 10}]

    ben, cho = of_type(with_replies(half, times=9), Profiled)
    assert in_percent(ben.weights, ben.weights) == {"downsizing": 75.0, "urban-dwellers": 25.0}
    assert (ben.repaired, cho.repaired) == (1, 0)


def test_what_failed_after_one_item_is_asked_again_after_the_next_with_both_items(tmp_path):
    log = with_replies(list.pop, times=3, items=3, out=tmp_path / "run")  # the first call, and its repairs
    first, second = list(dict.fromkeys(one.item for one in of_type(log, Decided)))[:2]
    asked = [facts for task, facts in prompt_facts(tmp_path / "run") if task == "rivals"]
    assert [[row["item"] for row in facts["bidding"]] for facts in asked] == [[first]] * 3 + [[first, second]]
    [failure] = of_type(log, ThoughtFailed)
    assert (failure.purpose, "missing names: 'Cho'" in failure.detail) == ("rivals", True)
    assert [(one.rival, one.closed) for one in of_type(log, Profiled)] == [("Ben", second), ("Cho", second)]


def test_rivals_together_is_refused_where_nobody_reads_it():
    for mind, said in (
        ({}, "rivals 'together' asks for all profiles in one call, and theory_of_mind 'none' asks for none; set it to"),
        ({"theory_of_mind": "true"}, "and theory_of_mind 'true' asks for none; set it to 'inferred' or 'second', or"),
        ({"theory_of_mind": "second", "protocol": "harbor"}, "and protocol 'harbor' for weights one by one; drop one"),
        ({"theory_of_mind": "inferred", "placebo": "blank"}, "before placebo 'blank' can take the place of the"),
    ):
        with pytest.raises(ConfigError) as refused:
            check(AuctionConfig, {"bidders": [{"name": "Ann", "rivals": "together", **mind}]}, "a file")
        assert said in str(refused.value)


@pytest.mark.parametrize("step", ["profile", "predict"])
def test_a_thought_of_ones_own_at_a_step_of_the_one_call_is_refused(step):
    use(dataclasses.replace(PROFILE, name="guess", step=step, keeps="profile", adapt=lambda node, _: node))
    resolve(game("second-price", nodes=("guess",), **SECOND))
    said = f"node 'guess' takes the step {step!r}, which rivals 'together' has in its one call; set rivals to 'apart'"
    with pytest.raises(ConfigError, match=f"bidder 'Ann': {said}"):
        resolve(game("second-price", nodes=("guess",), rivals="together", **SECOND))


# ---------------------------------------------------------------- what rivals are like


TYPES = {"Over": "overbidding", "Shade": "shading", "True": "truthful"}


def planted(seed: int, rules: dict[str, Any], **mind: Any) -> Auction:
    """A mind that profiles three rivals, each of another type."""
    quiet: dict[str, Any] = {"planning": "none", "believe": False}
    rivals = [Bidder(name, persona=kind, **quiet) for name, kind in TYPES.items()]
    ann = Bidder("Ann", **{"theory_of_mind": "inferred", **quiet, **mind})
    return Auction(bidders=[ann, *rivals], rules={"game": "second-price", **rules}, seed=seed)


def test_shown_values_tell_the_types_at_once():
    log = planted(3, {"runs": 2, "show": "actions and values"}).run().log
    assert {one.rival: foremost(one.weights) for one in of_type(log, Profiled)} == TYPES


def test_true_types_are_told_where_a_bidder_is_to_know_them(tmp_path):
    assert not of_type(planted(1, {"runs": 2}, theory_of_mind="true").run(out=tmp_path / "run").log, Profiled)
    told = next(facts["profiles"] for task, facts in prompt_facts(tmp_path / "run") if task == "predict")
    assert {name: foremost(weights) for name, weights in told.items()} == TYPES


def test_profiles_stay_uniform_where_nothing_is_shown_and_a_warning_says_so_before():
    with pytest.warns(UserWarning, match="Ann profiles rivals, and the game 'second-price' shows nothing"):
        log = planted(1, {"runs": 3, "show": "nothing"}).run().log
    assert {share for one in of_type(log, Profiled) for share in shares(one.weights, one.weights).values()} == {1 / 3}


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
    first_price, water = (
        run_series(AuctionConfig(bidders=game(name).bidders, series=Series(auctions=2), **GAMES[name]))
        for name in ("first-price", "water")
    )
    ranks = [(one.auction, set(one.ranks)) for one in of_type(first_price.log, AuctionHeld)]
    assert ranks == [(1, {*NAMES}), (2, {*NAMES})]
    assert water.metrics().mean_ranks == {}


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
        ("second-price", {"strategy": "fused"}, {},
         "bidder 'Ann': the game 'second-price' has no words for the node 'fused'; drop strategy 'fused'"),
        ("english", {"memory": "list"}, {"memory": MemorySettings(games=("watr",))}, "unknown game 'watr'; did"),
    ],
)  # fmt: skip
def test_what_a_game_has_no_type_no_words_and_no_name_for_is_refused(name, mind, changes, said):
    with pytest.raises(ConfigError) as refused:
        game(name, **mind).model_copy(update=changes).run()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_node_that_runs_itself_is_asked_under_its_own_name_whatever_its_prompt_is_called(tmp_path):
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
    log = game("beauty", nodes=("muse",)).run().log
    assert [one.text for one in of_type(log, Mused)] == ["after 1", "after 2"]
    assert calls_of(log)["muse"] == 2
