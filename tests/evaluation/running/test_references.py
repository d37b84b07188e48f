"""Experiments with code that the user names: every executor has it, wherever a trial runs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import make_folder
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.work import Task, run_task
from support.cases import some
from support.plugins import installed

MINE = """
from harbor import of_type
from harbor.evaluation import by_bidder, metric
from harbor.events import BidderSeated

@metric("names, in letters", "letters")
def letters(name, entries):
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})
"""
DESIGN = """
name = "named"
title = "Names"
question = "Who has the longest?"
source = "nobody"
repeats = 2
metrics = ["beside_it:letters"]
arms = [{ name = "one" }]
[auction]
items = [{ name = "Vase", start = 100, true_value = 300 }]
bidders = [{ name = "Ann", rule = "truthful" }, { name = "Benedict", rule = "minimum-raise" }]
"""


@pytest.fixture
def place(tmp_path) -> Path:
    """A working directory with a design, and the code that it names beside it."""
    (tmp_path / "beside_it.py").write_text(MINE)
    (tmp_path / "named.toml").write_text(DESIGN)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("executor", some(["processes", "ray"], ["processes"]))
def test_workers_take_no_module_from_the_working_directory_but_those_that_the_user_names(executor, place):
    for name in ("multiprocessing", "struct", "pickle", "yaml", "numpy"):
        (place / f"{name}.py").write_text(f"open({str(place / 'taken')!r}, 'a').write({name!r})")
    command = Path(sys.executable).with_name("harbor")  # a `python -m harbor` looks there itself
    words = [command, "experiment", "run", "named.toml", "--out", "out", "--executor", executor, "--jobs", "1"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert (done.returncode, (place / "taken").exists()) == (0, False), done.stderr
    games = json.loads((place / "out" / "results.json").read_text())["games"]
    found = [{one["bidder"]: one["value"] for one in game["measurements"]} for game in games]
    assert found == [{"Ann": 3, "Benedict": 8}] * 2


@pytest.fixture
def task(place) -> Task:
    """A trial of an experiment, as a worker gets it."""
    (place / "plain.toml").write_text(DESIGN.replace("beside_it:letters", "bids"))
    design = experiment(str(place / "plain.toml"))
    make_folder(place / "out", design, ExperimentOptions())
    return Task(place / "out", trials(design)[0], ("letters",), references=("beside_it:letters",))


def test_what_the_user_has_named_is_followed_before_the_trial_and_known_by_its_name(task, place, monkeypatch):
    monkeypatch.chdir(place)
    with installed():
        outcome = asyncio.run(run_task(task))
        assert find("metric", "letters").description == "names, in letters"
    told = {(one.metric, one.bidder, one.value) for one in outcome.record.measurements}
    assert told == {("letters", "Ann", 3), ("letters", "Benedict", 8)}


def test_code_that_is_not_where_a_trial_runs_stops_the_experiment_and_fails_no_trial(task, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with installed(), pytest.raises(ConfigError, match=r"extension 'beside_it:letters': .* can't be imported"):
        asyncio.run(run_task(task))
    assert not list((tmp_path / "out").rglob("failure.json"))
