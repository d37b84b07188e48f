"""All rivals in one call: what a mind thinks of them is what it thinks of each apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest

from harbor import Auction, Bidder, Result, SimulatedChat, houses, resume, use
from harbor._audit.auditing import audited
from harbor._config.auction import AuctionConfig, check
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import ModelCalled, SeatFailed, ThoughtFailed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Decided, Mirrored, Predicted, Profiled
from harbor._models.simulated.chat_model import read_facts
from harbor._runs.resolve import resolve
from harbor.graphs._nodes.profile import PROFILE
from harbor.personas._catalog.traits import in_percent
from harbor.testing._playing import equal
from support.folders import ROOT, halve
from support.plugins import forgetting_modules, remembering

RESIDENTS = {name: {"need": 9, "salary": 100} for name in ("Ann", "Ben", "Cho")}
GAMES: dict[str, dict[str, Any]] = {
    "english": {"items": houses(3, 1)},
    "second-price": {"rules": {"game": "second-price", "runs": 4}},
    "first-price": {"rules": {"game": "first-price", "runs": 3, "show": "actions and values"}},
    "english-private": {"rules": {"game": "english-private", "runs": 3}},
    "water": {"rules": {"game": "water", "days": 5, "residents": RESIDENTS}},
    "beauty": {"rules": {"game": "beauty", "runs": 3}},
}
SECOND = {"theory_of_mind": "second", "strategy": "on"}
ABOUT_RIVALS = ("profile", "mirror", "predict", "rivals")
Change = Callable[[list[dict[str, Any]]], object]


def auction(game: str, **mind: Any) -> Auction:
    """A game of one mind with a theory of mind and two without."""
    others = [Bidder(name, planning="none", believe=False) for name in ("Ben", "Cho")]
    return Auction(bidders=[Bidder("Ann", **{**SECOND, **mind}), *others], seed=1, **GAMES[game])


@cache
def held(game: str, rivals: str) -> Result:
    return auction(game, rivals=rivals).run()


def calls_about_rivals(log: list[Entry]) -> Counter[str]:
    return Counter(call.purpose for call in of_type(log, ModelCalled) if call.purpose in ABOUT_RIVALS)


# ---------------------------------------------------------------- the calls, and what comes of them


@pytest.mark.parametrize("game", GAMES)
def test_one_call_takes_the_place_of_those_for_each_rival_and_comes_to_the_same_profiles_and_decisions(game):
    logs = held(game, "apart").log, held(game, "together").log
    apart, together = map(calls_about_rivals, logs)
    assert together == {"predict": 1, "rivals": apart["mirror"]}
    assert apart == {"profile": 2 * together["rivals"], "mirror": together["rivals"], "predict": 1 + together["rivals"]}
    assert not of_type(logs[1], SeatFailed) + of_type(logs[1], ThoughtFailed)
    for kind in (Profiled, Mirrored):
        found, wanted = ({(one.rival, one.closed): one for one in of_type(log, kind)} for log in reversed(logs))
        assert found.keys() == wanted.keys() != set()
        for name, one in found.items():
            assert one.weights == pytest.approx(wanted[name].weights, abs=0.01), name
            assert one.repaired == 0
    for kind in (Predicted, Decided):
        assert of_type(logs[1], kind) == of_type(logs[0], kind) != []


def test_a_mind_is_asked_for_what_it_has_a_use_for_alone():
    inferred, silent = {"theory_of_mind": "inferred"}, {"predict": False}
    asked = (inferred, {Profiled, Predicted}), (silent, {Profiled, Mirrored}), (inferred | silent, {Profiled})
    for mind, made in asked:
        log = auction("second-price", rivals="together", **mind).run().log
        assert {kind for kind in (Profiled, Mirrored, Predicted) if of_type(log, kind)} == made


def test_after_the_last_item_profiles_that_are_judged_are_asked_for_and_no_forecasts(tmp_path):
    bidders = [Bidder("Ann", rivals="together", **SECOND), Bidder("Ben", persona="downsizing")]
    log = Auction(items=houses(2, 1), bidders=bidders).run(out=tmp_path / "run").log
    calls = [json.loads(line) for line in (tmp_path / "run/calls.jsonl").read_text().splitlines()]
    first, last = ("\n".join(call["prompt"]) for call in calls if call["purpose"] == "rivals")
    assert ["next_item" in read_facts(text) for text in (first, last)] == [True, False]
    assert ["Forecast also" in text for text in (first, last)] == [True, False]
    assert (len(of_type(log, Profiled)), len(of_type(log, Mirrored)), len(of_type(log, Predicted))) == (2, 1, 2)


STRANGE = [
    ("plugin", "clock_auction.game:DUTCH", {"items": houses(2, 1)}),
    ("bundles", "bundle_auction.game:BUNDLES", {"rules": {"items": ["north", "east"]}}),
]


@pytest.mark.parametrize(("place", "game", "settings"), STRANGE)
def test_all_rivals_are_judged_at_once_in_games_of_strangers(place, game, settings, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / place)
    with forgetting_modules(), remembering(monkeypatch):
        use(game)
        rules = {**settings.get("rules", {}), "game": game}
        bidders = [Bidder("Ann", rivals="together", **SECOND), Bidder("Ben"), Bidder("Cho")]
        log = Auction(bidders=bidders, **{**settings, "rules": rules}).run().log
    assert calls_about_rivals(log)["rivals"] == len({one.closed for one in of_type(log, Profiled)}) > 0
    assert not of_type(log, SeatFailed) + of_type(log, ThoughtFailed)


# ---------------------------------------------------------------- replies that are wrong


class Changed(SimulatedChat):
    """Changes what it says of the rivals, so many times."""

    change: Change
    times: int = 1_000

    def _answer(self, messages: Any, tools: Any) -> Any:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            if "rivals" in call["args"] and self.times:
                self.change(call["args"]["rivals"])
                self.times -= 1
        return result


def with_replies(change: Change, times: int = 1_000, items: int = 2, **run: Any) -> list[Entry]:
    others = [Bidder(name, rule="minimum-raise") for name in ("Ben", "Cho")]
    ann = Bidder("Ann", model="mine", rivals="together", planning="none", **SECOND)
    auction = Auction(items=houses(items, 5), bidders=[ann, *others], failed_calls="play on")
    return auction.run(models={"mine": Changed(change=change, times=times)}, **run).log


def without(field: str, rivals: list[dict[str, Any]]) -> None:
    del rivals[-1][field]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (list.pop, "missing names: 'Cho'"),
        (partial(without, "limit"), "missing limit of 'Cho'"),
        (partial(without, "interest"), "missing interest of 'Cho'"),
        (partial(without, "shares_of_you"), "missing shares_of_you of 'Cho'"),
    ],
)
def test_a_reply_that_lacks_something_of_a_rival_is_sent_back(change, said):
    log = with_replies(change, times=1)
    assert [call.outcome for call in of_type(log, ModelCalled) if call.purpose == "rivals"] == ["unreadable", "ok"]
    assert len(of_type(log, Profiled)) == 2
    failed = of_type(with_replies(change), ThoughtFailed)
    assert [(one.purpose, said in one.detail) for one in failed] == [("rivals", True)]


def test_shares_that_do_not_add_up_are_scaled_and_marked():
    def half(rivals: list[dict[str, Any]]) -> None:
        rivals[0]["shares"] = [{"persona": "downsizing", "share": 30}, {"persona": "urban-dwellers", "share": 10}]

    ben, cho = of_type(with_replies(half), Profiled)
    assert in_percent(ben.weights, ben.weights) == {"downsizing": 75.0, "urban-dwellers": 25.0}
    assert (ben.repaired, cho.repaired) == (1, 0)


def test_what_failed_after_one_item_is_asked_again_after_the_next_with_both_items(tmp_path):
    log = with_replies(list.pop, times=3, items=3, out=tmp_path / "run")  # the first call, and its repairs
    first, second = list(dict.fromkeys(one.item for one in of_type(log, Decided)))[:2]
    calls = [json.loads(line) for line in (tmp_path / "run/calls.jsonl").read_text().splitlines()]
    asked = [read_facts("\n".join(call["prompt"])) for call in calls if call["purpose"] == "rivals"]
    assert [[row["item"] for row in facts["bidding"]] for facts in asked] == [[first]] * 3 + [[first, second]]
    assert [one.purpose for one in of_type(log, ThoughtFailed)] == ["rivals"]
    assert [(one.rival, one.closed) for one in of_type(log, Profiled)] == [("Ben", second), ("Cho", second)]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("mind", "said"),
    [
        ({}, "rivals 'together' asks for all profiles in one call, and theory_of_mind 'none' asks for none; set it to"),
        ({"theory_of_mind": "true"}, "and theory_of_mind 'true' asks for none; set it to 'inferred' or 'second', or"),
        ({"theory_of_mind": "second", "protocol": "harbor"}, "and protocol 'harbor' for weights one by one; drop one"),
        ({"theory_of_mind": "inferred", "placebo": "blank"}, "before placebo 'blank' can take the place of the"),
    ],
)
def test_rivals_together_is_refused_where_nobody_reads_it(mind, said):
    with pytest.raises(ConfigError) as refused:
        check(AuctionConfig, {"bidders": [{"name": "Ann", "rivals": "together", **mind}]}, "a file")
    assert said in str(refused.value)


@pytest.mark.parametrize("step", ["profile", "predict"])
def test_a_thought_of_ones_own_at_a_step_of_the_one_call_is_refused(step, monkeypatch):
    with remembering(monkeypatch):
        use(replace(PROFILE, name="guess", step=step, keeps="profile", adapt=lambda node, _: node))
        resolve(auction("second-price", nodes=("guess",)))
        with pytest.raises(ConfigError) as refused:
            resolve(auction("second-price", nodes=("guess",), rivals="together"))
    said = f"node 'guess' takes the step {step!r}, which rivals 'together' has in its one call"
    assert str(refused.value) == f"bidder 'Ann': {said}; set rivals to 'apart'"


def test_a_placebo_takes_the_place_of_profiles_that_nothing_is_predicted_by(tmp_path):
    mind = {"rivals": "together", "predict": False, "placebo": "blank"}
    log = auction("second-price", **mind).run(out=tmp_path / "run").log
    calls = [json.loads(line) for line in (tmp_path / "run/calls.jsonl").read_text().splitlines()]
    told = {call["purpose"]: read_facts("\n".join(call["prompt"])) for call in calls if call["bidder"] == "Ann"}
    assert told["strategize"]["profiles"] == {"Ben": {}, "Cho": {}}
    assert all(row["shares"] for row in told["rivals"]["rivals"])
    assert of_type(log, Profiled)


# ---------------------------------------------------------------- resuming, and secrets


@pytest.mark.parametrize("game", ["english", "water"])
def test_a_run_that_was_killed_in_the_middle_resumes_with_all_rivals_at_once(game, tmp_path):
    whole = auction(game, rivals="together").run(out=tmp_path / "run").log
    halve(tmp_path / "run/events.jsonl")
    again = resume(tmp_path / "run").log
    assert again[0].event == whole[0].event
    equal(whole, again)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["second-price", "water"])
def test_nothing_crosses_between_minds_that_judge_all_rivals_at_once(game):
    assert audited(auction(game, rivals="together"), ("thoughts", "bid", "value")).leaks == []
