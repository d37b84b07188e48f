"""A protocol's own form of answer: its keys are read in every form, and mean the decision and what is expected."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult

from harbor import Auction, Bidder, ModelSettings, SimulatedChat, of_type, resume
from harbor._config.thinking import BUNDLES
from harbor._core.basics.errors import ConfigError, Unanswered
from harbor._core.prompts.prompts import explains
from harbor._runs.resolve import resolve
from harbor.evaluation._metrics.measurement import measure
from harbor.evaluation._rating.transcript import transcript
from harbor.events import Acted, ActedSealed, Decided, Expected, ModelCalled, Stated
from harbor.games import AuctionConfig, Bid, Event, Withdraw
from harbor.graphs._context.node import PROMPTS
from harbor.testing._playing import equal
from support.cases import crossed
from support.folders import calls, halved
from support.formats import FORMATS, SEED, spoken
from support.providers import provider

NAMES = ("Ann", "Ben", "Cid")
CONCLUDED = (Decided, Stated, Expected)
GAMES = tuple(BUNDLES["econarena"].replies)
KEYS = {  # EconArena, App. B: at first, once results are shown, after a chain of thought
    "beauty": (
        ["understanding", "popular answer", "answer", "reason"],
        ["goal", "previous answer", "answer", "reason"],
        ["popular answer", "answer"],
    ),
    **dict.fromkeys(
        ("second-price", "first-price", "english-private"),
        (["understanding", "bid", "reason"], ["goal", "previous bid", "previous payoff", "bid", "reason"], ["bid"]),
    ),
}


def held(game: str, mind: dict[str, Any], out: Path | None = None, models: Any = None, **rules: Any) -> Any:
    bidders = [Bidder(name, protocol="econarena", **mind) for name in NAMES]
    rules = {"game": game, "runs": 2, **rules}
    return Auction(bidders=bidders, rules=rules, seed=SEED, models=models or {}).run(out=out)


def thought(run: Any) -> list[Event]:
    """What was decided, said and expected, without reasons: where a tool is called nothing is said before it."""
    found = [entry.event for entry in run.log if isinstance(entry.event, CONCLUDED)]
    return [replace(one, reasons="") if isinstance(one, Decided) else one for one in found]


# ---------------------------------------------------------------- which keys are asked for


@pytest.mark.parametrize("game", GAMES)
def test_a_form_has_the_keys_of_the_paper_in_its_order_and_its_prompt_explains_them_and_no_others(game, tmp_path):
    first, later, after_thought = KEYS[game]
    every = {key for keys in KEYS[game] for key in keys}
    for thoughtful in (False, True):
        held(game, {"chain_of_thought": thoughtful}, tmp_path / str(thoughtful))
        made = calls(tmp_path / str(thoughtful))
        said = [list(json.loads(call["reply"].splitlines()[-1])) for call in made]
        assert (said[0], said[-1]) == ((after_thought,) * 2 if thoughtful else (first, later))
        assert {call["reply"].count("\n") > 0 for call in made} == {thoughtful}
        for call, keys in zip(made, said, strict=True):
            asked = call["prompt"][-1].partition("</facts>")[2]
            assert {key for key in every if explains(asked, key)} == {*keys}
            assert ("step by step" in asked) == thoughtful


@pytest.mark.parametrize("game", ["beauty", "second-price"])
def test_where_nothing_is_shown_of_earlier_runs_each_is_the_first(game, tmp_path):
    held(game, {}, tmp_path / "run", history=0)
    assert {tuple(json.loads(call["reply"])) for call in calls(tmp_path / "run")} == {tuple(KEYS[game][0])}


# ---------------------------------------------------------------- what an answer means


class Replying(SimulatedChat):
    """Replies with this, whatever it is asked: values by a tool call, or a text."""

    said: Any

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        if isinstance(self.said, str):
            return ChatResult(generations=[ChatGeneration(message=AIMessage(self.said))])
        call = tool_call(name=tools[0]["function"]["name"], args=self.said, id="reply")
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


def decided(game: str, said: Any, **mind: Any) -> list[Event]:
    """Let one bidder answer its first call so, and give what it did and concluded there."""
    reply = "text" if isinstance(said, str) else "tool"
    bidder = Bidder("Ann", protocol="econarena", model="mine", reply=reply, **mind)
    others = [Bidder(name, rule="rational") for name in NAMES[1:]]
    rules = {"game": game, "runs": 1, "reasks": 0}
    run = Auction(bidders=[bidder, *others], rules=rules, seed=SEED).run(models={"mine": Replying(said=said)})
    found = (entry.event for entry in run.log if isinstance(entry.event, (*CONCLUDED, Acted, ActedSealed)))
    return [event for event in found if event.bidder == "Ann"]


FULL = {"understanding": "Guess two thirds.", "popular answer": 33.5, "answer": 22, "reason": "A step ahead."}


def test_an_answer_is_read_with_spaces_or_underscores_and_whatever_else_is_left_out():
    for game, said, answer in (
        ("beauty", FULL, Bid(Decimal(22))),
        ("beauty", {key.replace(" ", "_"): value for key, value in FULL.items()}, Bid(Decimal(22))),
        ("beauty", f"Sure:\n```json\n{json.dumps(FULL)}\n```", Bid(Decimal(22))),
        ("beauty", {"answer": 22}, Bid(Decimal(22))),
        ("beauty", '{"answer": "22"}', Bid(Decimal(22))),
        ("second-price", {"understanding": "", "bid": "$47.50", "reason": "My value."}, Bid(Decimal("47.5"))),
        ("first-price", '{"understanding": "x", "bid": 40, "reason": "y"}', Bid(Decimal(40))),
        ("english-private", '{"understanding": "x", "bid": null, "reason": "y"}', Withdraw()),
    ):
        events = decided(game, said)
        assert next(one.act for one in events if isinstance(one, Acted | ActedSealed)) == answer
        assert next(one.amount for one in events if isinstance(one, Decided)) == getattr(answer, "amount", None)


def test_an_answer_without_a_decision_is_refused_by_the_keys_that_were_asked_for():
    for game, said, why in (
        ("beauty", '{"popular answer": 3, "reason": "none"}', "'answer' is missing"),
        ("beauty", '{"answer": null}', "'answer' is"),
        ("beauty", "I choose 22.", "it is not a JSON object"),
        ("second-price", '{"bid": null}', "'bid' is"),
        ("english-private", '{"understanding": "x"}', "'bid' is missing"),
    ):
        with pytest.raises(Unanswered) as told:
            decided(game, said)
        assert why in str(told.value)
        assert ", ".join(f'"{key}"' for key in KEYS[game][0]) in str(told.value)


def test_the_popular_answer_is_what_is_expected_of_each_rival():
    assert decided("beauty", FULL)[:3] == [
        Decided("Ann", "run 1", 1, 1, "A step ahead.", Decimal(22)),
        Stated("Ann", "run 1", 1, 1, FULL, {}),
        Expected("Ann", "", {"Ben": Decimal("33.5"), "Cid": Decimal("33.5")}),
    ]


def test_after_a_chain_of_thought_the_words_before_the_answer_are_its_reasons():
    said = 'All pick 0.\nSo do I.\n```json\n{"popular answer": 0, "answer": 0}\n```'
    [first, *_] = decided("beauty", said, chain_of_thought=True)
    assert first == Decided("Ann", "run 1", 1, 1, "All pick 0.\nSo do I.", Decimal(0))


# ---------------------------------------------------------------- what is recalled, and what came of what was expected


def test_what_is_said_of_the_run_before_is_compared_with_what_was_shown():
    kind = BUNDLES["econarena"].replies["second-price"].later
    for said, action, assets in (
        ({"previous bid": 47.5, "previous payoff": 4}, Decimal("47.5"), Decimal(104)),
        ({}, None, Decimal(99)),  # nothing was bid, and nothing is said of it
    ):
        shown = {"your_results": [{"action": action, "assets_at_end": assets}]}
        recalled = kind.model_validate({**said, "bid": 1}).recalled(shown)
        assert recalled == {"previous bid": True, "previous payoff": False}


def test_the_measures_read_what_was_expected_and_recalled():
    run = held("beauty", {})
    numbers = {entry.bidder: entry.amount for entry in of_type(run.log, Decided) if entry.item == "run 1"}
    off = {
        one.bidder: float(sum(abs(bid - numbers[rival]) for rival, bid in one.bids.items()) / len(one.bids))
        for one in of_type(run.log, Expected)
    }
    assert {one.bidder: one.value for one in measure(["forecast_error"], run.log)} == pytest.approx(off)
    assert {(one.value, one.counted) for one in measure(["recall_error_rate"], run.log)} == {(0, 1)}


def test_the_transcript_has_each_answer_with_its_decision():
    lines = transcript(held("beauty", {}).log, "Ann").lines
    assert sum(line.startswith("    Player A fills in: ") for line in lines) == 2


# ---------------------------------------------------------------- the built-in model


@pytest.mark.parametrize(("game", "chain_of_thought"), crossed(GAMES, [False, True]))
def test_the_built_in_model_decides_as_in_harbors_own_form(game, chain_of_thought):
    run = held(game, {"chain_of_thought": chain_of_thought})
    native = [Bidder(name, planning="none", believe=False) for name in NAMES]
    usual = Auction(bidders=native, rules={"game": game, "runs": 2}, seed=SEED).run()
    assert [one.amount for one in of_type(run.log, Decided)] == [one.amount for one in of_type(usual.log, Decided)]
    assert run.standings == usual.standings


@pytest.mark.parametrize(
    ("form", "reply", "chain_of_thought"), crossed(FORMATS, ["tool", "json", "text"], [False, True])
)
def test_over_the_wire_an_answer_means_what_it_means_offline(form, reply, chain_of_thought):
    for game in ("beauty", "second-price"):
        mind = {"reply": reply, "chain_of_thought": chain_of_thought}
        offline = held(game, mind)
        with provider(seed=SEED) as server:
            settings = ModelSettings(**spoken(form, server))
            online = held(game, {**mind, "model": "simulated"}, models={"simulated": settings})
        assert thought(online) == thought(offline)
        assert online.standings == offline.standings
        assert {call.form for call in of_type(online.log, ModelCalled)} == {reply}


# ---------------------------------------------------------------- runs


def test_a_resumed_run_goes_on_as_it_would_have_and_earlier_answers_of_its_dialogue_are_those_that_were_given(tmp_path):
    whole = held("beauty", {"chain_of_thought": True, "context": "dialogue"}, tmp_path / "run").log
    first, second = (call for call in calls(tmp_path / "run") if call["bidder"] == "Ann")
    *thoughts, answer = first["reply"].splitlines()
    *told, again = second["prompt"][-2].splitlines()
    assert (told, json.loads(again)) == (thoughts, json.loads(answer))
    equal(whole, resume(halved(tmp_path / "run")).log)


# ---------------------------------------------------------------- prompts that explain the keys


@pytest.fixture
def own(tmp_path) -> Path:
    """A copy of the prompts of the paper."""
    return Path(copytree(str(PROMPTS / "econarena"), tmp_path / "own"))


def test_a_prompt_of_ones_own_that_does_not_explain_a_key_is_refused(own):
    def resolved() -> None:
        bidders = [Bidder("Ann", protocol="econarena", prompts=str(own)), Bidder("Ben", rule="rational")]
        resolve(AuctionConfig(bidders=bidders, rules={"game": "beauty"}))

    resolved()
    file = own / "beauty.md"
    file.write_text(file.read_text().replace('"popular answer"', "the popular number"))
    with pytest.raises(ConfigError) as told:
        resolved()
    unexplained = (
        "which does not explain 'popular answer', a key of the answer in protocol 'econarena'; write there what"
    )
    assert str(told.value).startswith(f"bidder 'Ann': its folder of prompts has 'beauty.md', {unexplained}")


def test_prompts_of_ones_own_keep_the_form(own, tmp_path):
    (own / "beauty.md").write_text((own / "beauty.md").read_text().replace("Choose a number", "Nimm eine Zahl"))
    held("beauty", {"prompts": str(own)}, tmp_path / "run")
    call = calls(tmp_path / "run")[0]
    assert "Nimm eine Zahl" in call["prompt"][-1]
    assert list(json.loads(call["reply"])) == KEYS["beauty"][0]
