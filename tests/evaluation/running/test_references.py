"""Experiments with code that the user names: metrics, wherever a trial runs, and figures of reports."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from markupsafe import escape

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import make_folder
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.runner import run_experiment
from harbor.evaluation._running.work import Task, run_task
from support.cases import some
from support.commands import harbor
from support.plugins import installed

MINE = """
from harbor import of_type
from harbor.evaluation import by_bidder, figure, metric
from harbor.events import BidderSeated

@metric("names, in letters", "letters")
def letters(name, entries):
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})

@figure("Letters of <names>", "Mean over games.", "letters")
def name_lengths(axes, values):
    means = values.groupby("bidder")["value"].mean()
    axes.bar(range(len(means)), means)
    return ", ".join(f"{bidder} has {mean:.0f}" for bidder, mean in means.items())
"""
DESIGN = """
name = "named"
title = "Names"
question = "Who has the longest?"
source = "nobody"
repeats = 1
metrics = ["mine:letters"]
arms = [{ name = "one" }, { name = "two", auction.bidders.Benedict.max_bids = 2 }]
[auction]
items = [{ name = "Vase", start = 100, true_value = 300 }]
bidders = [{ name = "Ann", rule = "truthful" }, { name = "Benedict", rule = "minimum-raise" }]
"""
PLAN = tomllib.loads(DESIGN)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A working directory with a design, and the code that it names beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
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
    (place / "plain.toml").write_text(DESIGN.replace("mine:letters", "bids"))
    design = experiment(str(place / "plain.toml"))
    make_folder(place / "out", design, ExperimentOptions())
    return Task(place / "out", trials(design)[0], ("letters",), references=("mine:letters",))


def test_what_the_user_has_named_is_followed_before_the_trial_and_known_by_its_name(task):
    with installed():
        outcome = asyncio.run(run_task(task))
        assert find("metric", "letters").description == "names, in letters"
    told = {(one.metric, one.bidder, one.value) for one in outcome.record.measurements}
    assert told == {("letters", "Ann", 3), ("letters", "Benedict", 8)}


def test_code_that_is_not_where_a_trial_runs_stops_the_experiment_and_fails_no_trial(task, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with installed(), pytest.raises(ConfigError, match=r"extension 'mine:letters': .* can't be imported"):
        asyncio.run(run_task(task))
    assert not list((tmp_path / "out").rglob("failure.json"))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("metric", "figure", "said"), [
    ("bids", "mine:name_lengths", "figure 'name-lengths' needs the metric 'letters'; add it to"),
    ("mine:letters", "rank", "unknown figure 'rank'; did you mean 'ranks'"),
])  # fmt: skip
def test_a_figure_that_is_unknown_or_without_its_metric_is_refused_with_the_remedy(metric, figure, said):
    with installed(), pytest.raises(ConfigError, match=said):
        Experiment(**PLAN | {"metrics": [metric]}, figures=[figure])


@pytest.mark.parametrize(("code", "why"), [
    ('@figure("Bad", ".", "letters")\ndef bad(axes, values):\n    raise ValueError("<b>no")\n', "ValueError: <b>no"),
    (
        "from harbor.evaluation import Figure\n"
        "bad = Figure(name='it', description='It', caption='-', needs='letters', draw=lambda *_: 7)\n",
        "its function gives 7, and no drawing; mend it",
    ),
], ids=["error", "no drawing"])  # fmt: skip
def test_a_bad_figure_costs_that_figure_alone_and_says_why_and_another_is_drawn_in_each_arm_with_its_words(
    code, why, place
):
    (place / "mine.py").write_text(f"{MINE}\n{code}")
    said = f"figure 'mine:bad' can't be drawn: {why}"
    with installed():
        design = Experiment(**PLAN, figures=["mine:bad", "mine:name_lengths"])
        asyncio.run(run_experiment(design, place / "out"))
        done = harbor("report", place / "out")
    assert (done.returncode, done.stderr) == (0, f"harbor: warning: {said}\n")
    page = (place / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count(escape(said)) == 1
    assert page.count('aria-label="Letters of &lt;names&gt;') == 2
    assert all(words in page for words in ("Ann has 3, Benedict has 8", "Mean over games."))
