"""People in the seats of an experiment: at a terminal, through a pipe, and where nobody could ask them."""

from __future__ import annotations

import json

import pytest

from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trials
from support.cases import some
from support.commands import harbor, mistake, process
from support.processes import Terminal

DESIGN = """
name = "small"
title = "Small"
question = "Does a person win?"
source = "ours"
repeats = 2
rotate_seats = false
metrics = ["profit"]
arms = [{ name = "model" }, { name = "person", auction.bidders.Ann = { person = true } }]
[auction]
items = [{ name = "Lot A", start = 1000, true_value = 3000 }, { name = "Lot B", start = 2000, true_value = 5000 }]
bidders = [{ name = "Ann", planning = "static", budget = 10_000 },
           { name = "Ben", rule = "minimum-raise", max_bids = 1, budget = 10_000 }]
"""


def of(folder, game, kind):
    log = (folder / "run/games/person/all" / game / "events.jsonl").read_text()
    return [line for line in map(json.loads, log.splitlines()) if line["type"] == kind]


def words(folder):
    """What the person said, game by game."""
    return [[line["words"] for line in of(folder, game, "answered")] for game in ("0001", "0002")]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.toml").write_text(DESIGN)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("key", some(["\x03", "\x04"], ["\x03"]), ids=["Ctrl-C", "end of input"])
def test_a_person_plays_one_game_after_another_and_resume_goes_on_with_the_one_that_it_left(folder, key):
    with Terminal(folder, "experiment", "run", "small.toml", "--out", "run") as person:
        opening = person.answer("1500")
        assert [words for words in ("You are Ann.", "Your estimate: $3,300.") if words not in opening] == []
        assert "games:" not in opening  # progress would write over what is typed
        person.expect("your call on Lot B")
        person.expect("\n> ")
        person.type(key)
        person.expect("stopped; resume with: harbor experiment resume run")
        assert person.end() == 130
    assert not list(folder.rglob("failure.json"))
    done = process("experiment", "resume", "run", "--json", cwd=folder, given="4000\nout\nout\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finished"] == 4
    second = done.stderr.rpartition("You are Ann.")[2]
    assert "Your estimate: $3,300." in second  # also where the game before sold an item of that name
    assert words(folder) == [["1500", "4000"], ["out", "out"]]
    assert {line["bidder"]: line["player"] for line in of(folder, "0001", "bidder_labelled")}["Ann"] == "person"


@pytest.mark.slow
def test_a_person_in_a_series_reads_of_no_rival_what_is_not_public(folder):
    ben = DESIGN.replace('rule = "minimum-raise", max_bids = 1', "learning = true")
    (folder / "small.toml").write_text(ben.replace("[auction]", "[auction]\nseries = { auctions = 2 }"))
    few = ("--arm", "person", "--repeats", "1", "--out", "run")
    done = process("experiment", "run", "small.toml", *few, cwd=folder, given="out\n" * 4)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("You are Ann.") == 2
    [secrets] = [line["learnings"]["Ben"] for line in of(folder, "0001", "auction_held") if line["auction"] == 1]
    assert secrets
    assert not [one for one in secrets if one in done.stderr]
    assert "Only you know: your budget" in done.stderr
    assert "Ben's plan" not in done.stderr


@pytest.mark.parametrize(("options", "said"), [
    (["--executor", "processes"], "whom the workers of executor 'processes' can't ask; take executor 'asyncio'"),
    (["--lane", "batch"], "who can't wait for a batch of calls; take lane 'live'"),
    ([], "there is neither a terminal nor a pipe to ask it; run this at a terminal"),
])  # fmt: skip
def test_a_person_whom_nobody_could_ask_is_refused_before_anything_is_paid(folder, options, said):
    refused = mistake(harbor("experiment", "run", "small.toml", "--out", "run", *options, cwd=folder))
    assert refused.startswith("bidder 'Ann' of arm 'person' is played by a person, ")
    assert said in refused
    assert not (folder / "run").exists()


def test_the_seats_of_people_are_shown_ask_no_model_and_hinder_no_other_arm(folder):
    shown = json.loads(harbor("experiment", "show", "small.toml", "--json", cwd=folder).stdout)
    assert shown["people"] == {"person": "Ann"}
    found = json.loads(harbor("estimate", "small.toml", "--json", cwd=folder).stdout)
    calls = {arm["arm"]: arm["calls"] for arm in found["arms"]}
    assert calls["person"] == 0 < calls["model"]
    done = harbor("experiment", "run", "small.toml", "--arm", "model", "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "small.toml").write_text(DESIGN.replace("Ann = { person", '"*" = { person'))
    refused = mistake(harbor("experiment", "show", "small.toml", cwd=folder))
    assert "bidders 'Ann' and 'Ben' are played by people" in refused


def test_a_person_takes_over_a_seat_without_the_settings_of_its_mind(folder):
    [ann] = [one.person for one in trials(experiment(str(folder / "small.toml")), 1) if one.person]
    assert (ann.name, ann.planning, ann.timeout_seconds) == ("Ann", "adaptive", 600)
