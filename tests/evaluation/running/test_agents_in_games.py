"""Agents of any make in an experiment: named, started or given, paired and measured, on every executor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tomllib
from inspect import getsource
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil
import pytest
from markupsafe import escape

from harbor import Agent, of_type, read_log
from harbor._config.auction import check
from harbor._core.basics.errors import ConfigError
from harbor.evaluation import load
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_runs import play_offline
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._report.page.page import render
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from harbor.events import Answered, LogOpened
from support.cases import some
from support.clerk import Clerk
from support.commands import HARBOR, harbor, process
from support.folders import filled, halve
from support.plugins import installed
from support.processes import when


def bid(turn):
    least = turn["space"]["minimum"]
    return {"action": "bid", "amount": least} if least < 3_000 else {"action": "withdraw"}


MINE = f"""
import sys, json

{getsource(bid)}
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(bid(json.loads(line))), flush=True)
"""
NAMED, STARTED = '"mine:bid"', f'{{ command = ["{sys.executable}", "mine.py"] }}'
"""How a file says it."""
DESIGN = """
name = "makes"
title = "Makes"
question = "Which make wins?"
source = "nobody"
seed = 5
repeats = 2
metrics = ["profit"]
arms = [{ name = "agent", auction.bidders.Tal = { agent = AGENT } }, { name = "model" }]
[auction]
items = [{ name = "Lot A", start = 1000, true_value = 4000 }, { name = "Lot B", start = 1000, true_value = 4000 }]
bidders = [{ name = "Tal", budget = 9000 }, { name = "Ann", budget = 9000, rule = "rational" },
           { name = "Ben", budget = 9000, rule = "minimum-raise" }]
"""
"""Two arms that differ in who plays Tal: an agent, or a model."""


def design(agent: str = "true", repeats: int = 2, **auction: Any) -> Experiment:
    plan = tomllib.loads(DESIGN.replace("AGENT", agent))
    return check(Experiment, plan | {"repeats": repeats, "auction": plan["auction"] | auction}, "design")


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A working directory with the agent."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(agent: str, out: Path, agents: Any = (), **options: Any) -> list[dict[str, Any]]:
    asyncio.run(run_experiment(design(agent), out, RunOptions(**options), agents=dict(agents)))
    return games(out)


def results(out: Path) -> list[dict[str, Any]]:
    return json.loads((out / "results.json").read_text())["games"]


def games(out: Path) -> list[dict[str, Any]]:
    """The results of its games, which all have finished, without what plays whom."""
    assert [game["status"] for game in results(out)] == ["finished"] * 4, results(out)
    return [{key: value for key, value in game.items() if key != "players"} for game in results(out)]


def test_an_agent_and_a_model_are_paired_and_measured_alike_and_games_are_told_apart(place):
    turns = []

    def listening(turn):
        turns.append(turn)
        return bid(turn)

    found = run("true", place / "out", {"Tal": listening})
    logs = [place / "out" / "games" / arm / "all" / "0001" / "events.jsonl" for arm in ("agent", "model")]
    first, other = (read_log(log).entries for log in logs)
    assert of_type(first, LogOpened)[0].seed == of_type(other, LogOpened)[0].seed
    assert {said.bidder for said in of_type(first, Answered)} == {"Tal"}
    assert not of_type(other, Answered)
    assert [len(game["measurements"]) for game in found] == [3] * 4
    assert len({turn["seat"] for turn in turns}) == 2


@pytest.mark.parametrize(("agents", "executor", "complaint"), [
    ({}, "asyncio", "bidder 'Tal' of arm 'agent' is played by an agent of yours; give it as agents=... in Python"),
    ({"Tal": bid}, "processes", "which the workers of executor 'processes' do not have; name it as 'package.modul"),
    ({"Tal": Clerk()}, "asyncio", "and its games would share it; give an Agent, whose make gives one for each"),
    ({"Tal": bid, "Tom": bid}, "asyncio", "agents: unknown bidder 'Tom'; choose one of: Ann, Ben, Tal"),
    ({"Tal": 3}, "asyncio", "what is given for 'Tal' is a int; give a function of one turn"),
])  # fmt: skip
def test_an_agent_that_some_game_could_not_have_is_refused_before_anything_is_written(
    agents, executor, complaint, place
):
    with pytest.raises(ConfigError, match=complaint):
        run("true", place / "out", agents, executor=executor)
    assert not (place / "out").exists()


def test_an_experiment_is_resumed_with_the_agents_that_it_was_given(place):
    whole = run("true", place / "out", {"Tal": Agent(name="mine", description="mine", make=lambda _: bid)})
    assert whole == run(STARTED, place / "started")
    game = place / "out" / "games" / "agent" / "all" / "0001"
    halve(game / "events.jsonl")
    (game / "record.json").unlink()
    with pytest.raises(ConfigError, match="give it as agents="):
        asyncio.run(resume_experiment(place / "out"))
    asyncio.run(resume_experiment(place / "out", agents={"Tal": bid}))
    assert games(place / "out") == whole


WORKERS = [(STARTED, "processes", False), (NAMED, "ray", False), (NAMED, "processes", True), (STARTED, "asyncio", True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", some(WORKERS, WORKERS[:1]), ids=["started", "ray", "killed-processes", "killed-started"]
)
def test_workers_play_with_agents_that_are_named_or_started_also_after_a_kill(way, place):
    agent, executor, is_killed = way
    (place / "makes.toml").write_text(DESIGN.replace("AGENT", agent))
    words = ["experiment", "run", "makes.toml", "--executor", executor, "--jobs", "1", "--out", "out"]
    if is_killed:
        with Popen([*HARBOR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            when(lambda: filled("record.json", place), running)
            running.kill()
        words = [*(["--plugin", "mine:bid"] if agent == NAMED else []), "experiment", "resume", "out"]
        words += ["--executor", executor]
    done = process(*words)
    assert done.returncode == 0, done.stderr
    assert games(place / "out") == run("true", place / "given", {"Tal": bid})


@pytest.mark.slow
def test_a_game_that_costs_three_workers_is_a_failed_one_and_the_others_go_on(place):
    (place / "mine.py").write_text("import os\n\ndef bid(turn):\n    os.kill(os.getpid(), 9)\n")
    (place / "makes.toml").write_text(DESIGN.replace("AGENT", NAMED))
    words = ["run", "makes.toml", "--out", "out", "--repeats", 1, "--executor", "processes", "--jobs", 1, "--json"]
    with installed():
        done = harbor("experiment", *words)
    told = json.loads(done.stdout)
    assert (done.returncode, told["finished"], told["failed"]) == (1, 1, 1)
    assert told["failures"][0]["detail"].startswith("its worker died 3 times")


STUBBORN = """
import os, signal, threading
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(f"stubborn-{os.getpid()}", "x")
threading.Event().wait()
"""
STOPS = {
    "told to end": Popen.terminate, "killed": Popen.kill,
    "told to end with its workers": lambda running: os.killpg(running.pid, signal.SIGTERM),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("stop", some(STOPS, ["killed"]))
def test_an_experiment_that_is_stopped_leaves_no_agent_behind_that_its_workers_started(stop, place):
    (place / "stubborn.py").write_text(STUBBORN)
    (place / "makes.toml").write_text(DESIGN.replace("AGENT", STARTED.replace("mine", "stubborn")))
    words = [*HARBOR, "experiment", "run", "makes.toml", "--out", "out", "--jobs", "1", "--executor", "processes"]
    with Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        when(lambda: list(place.glob("stubborn-*")), running)
        agents = [psutil.Process(int(path.name.partition("-")[2])) for path in place.glob("stubborn-*")]
        STOPS[stop](running)
    assert not psutil.wait_procs(agents, timeout=60)[1]


TOO_LOW = "'I bid $1.': $1 is below the least bid of $1,000"
TOLD_OF_IT = "agent: Tal was asked {} times in 2 games, and its answers were refused {}; the first time: " + TOO_LOW
TOO_LOW_AT_FIRST = """
def bid(turn):
    return {"action": "withdraw"} if turn["attempt"] > 1 else {"action": "bid", "amount": 1}
"""


def too_low(_):
    return {"action": "bid", "amount": 1}


def test_an_experiment_warns_at_its_end_of_agents_whose_answers_were_refused(place):
    (place / "mine.py").write_text(TOO_LOW_AT_FIRST)
    (place / "makes.toml").write_text(DESIGN.replace("AGENT", NAMED))
    with installed():
        done = harbor("experiment", "run", "makes.toml", "--out", "out", "--json")
    assert done.returncode == 0
    assert f"harbor: warning: {TOLD_OF_IT.format(8, '4 times')}\n" in done.stderr
    assert done.stderr.count("warning") == 1
    counts = {"refused": 4, "asked": 8, "games": 2, "entire": 0, "by_model": 0}
    [refused] = json.loads(done.stdout)["refusals"]
    assert refused == {"arm": "agent", "bidder": "Tal", **counts, "alarming": True, "first": TOO_LOW}


def test_a_game_in_which_no_answer_of_an_agent_was_taken_has_failed_and_can_be_tried_again(place):
    asyncio.run(run_experiment(design(), place / "out", agents={"Tal": too_low}))
    untaken = f"no answer of the agent of Tal was taken, of 8; the first time: {TOO_LOW}"
    told = [(game["status"], game.get("detail", "")) for game in results(place / "out")]
    assert told == [("failed", untaken), ("finished", "")] * 2
    asyncio.run(resume_experiment(place / "out", agents={"Tal": bid}, retry_failed=True))
    games(place / "out")
    assert "Refused answers" not in render(load(place / "out"))


def test_refused_answers_are_in_the_results_of_the_games_and_in_the_report(place):
    asyncio.run(run_experiment(design(failed_calls="play on"), place / "out", agents={"Tal": too_low}))
    assert all(len(game.get("refusals", [])) == (game["arm"] == "agent") for game in games(place / "out"))
    loaded = load(place / "out")
    assert list(loaded.games.refusals) == ['{"Tal": 8}', "{}"] * 2
    told = TOLD_OF_IT.format(16, "16 times (2 games without any that was taken)")
    assert str(escape(told)) in render(loaded)


def test_an_estimate_asks_no_agent_and_counts_nothing_of_it_and_says_so(place):
    (place / "makes.toml").write_text(DESIGN.replace("AGENT", '{ command = ["false"] }'))
    done = harbor("estimate", "makes.toml")
    assert done.returncode == 0, done.stderr
    assert "the agent of 'Tal' is not asked, and what it calls itself is not in the estimate" in done.stderr
    agents, models = (one.config for one in trials(design(STARTED, repeats=1)))
    assert asyncio.run(play_offline(agents)).models == ()
    assert [use.model for use in asyncio.run(play_offline(models)).models] == ["simulated"]


def test_an_agent_is_shown_in_its_seat(place):
    named = DESIGN.replace("AGENT", NAMED).replace('rule = "minimum-raise"', 'agent = "mine:bid"')
    (place / "makes.toml").write_text(named)
    with installed():
        assert "Ben     an agent" in harbor("experiment", "show", "makes.toml").stdout


def test_what_an_agent_pays_is_in_the_results_of_its_games_and_counts_towards_the_limit(place):
    asked, dollars = [], 0.15
    told = {"model": "openai:gpt-4o-mini", "input_tokens": 1_000_000, "output_tokens": 0}

    def agent(turn):
        asked.append(turn)
        return {**bid(turn), "usage": [told]}

    out, limit = place / "out", RunOptions(max_cost=3.5 * dollars)
    asyncio.run(run_experiment(design(), out, limit, agents={"Tal": agent}))
    before = len(asked)
    assert before <= 4
    assert "unfinished" in {game["status"] for game in results(out)}
    asyncio.run(resume_experiment(out, limit, agents={"Tal": agent}))
    assert len(asked) <= max(before, 4)
    asyncio.run(resume_experiment(out, RunOptions(max_cost=100), agents={"Tal": agent}))
    paid = [game["cost"] for game in games(out) if game["arm"] == "agent"]
    logs = sorted(out.glob("games/agent/all/*/events.jsonl"))
    assert paid == pytest.approx([dollars * len(of_type(read_log(log).entries, Answered)) for log in logs])
