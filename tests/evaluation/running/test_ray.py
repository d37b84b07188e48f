"""Experiments on a real Ray cluster of two workers on this machine: killed, stopped, out of money."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from dataclasses import replace

import psutil
import pytest

from harbor._config.auction import read_settings
from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._runs.run import paid_for
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running import executors
from harbor.evaluation._running.executors import RayTask
from harbor.evaluation._running.experiment_folder import make_folder, read_results, trial_path, write_results
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from harbor.evaluation._running.work import Task
from support.commands import HARBOR
from support.folders import TINY, filled, paid
from support.processes import when

pytestmark = pytest.mark.slow

ON_RAY = ["--executor", "ray", "--jobs", "2"]
GAMES = 4


def started(folder, *words):
    command = [*HARBOR, "experiment", *map(str, words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def at_work(running):
    """The workers that hold a game."""
    return [one for one in psutil.Process(running.pid).children(recursive=True) if one.name().startswith("ray::_run")]


@pytest.mark.studies
def test_a_worker_of_the_cluster_that_is_killed_takes_no_game_along(whole, tmp_path):
    with started(tmp_path, "run", TINY, "--out", "run", "--json", *ON_RAY) as running:
        when(lambda: filled("calls.jsonl", tmp_path / "run"), running)
        when(lambda: at_work(running), running)[0].kill()
        said, complaints = running.communicate()
    assert running.returncode == 0, complaints
    assert json.loads(said)["finished"] == GAMES
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(tmp_path / "run").values()) == {1}


@pytest.mark.studies
def test_ctrl_c_leaves_a_folder_that_is_gone_on_with_as_far_as_the_money_goes(whole, tmp_path):
    folder = tmp_path / "run"
    with started(tmp_path, "run", TINY, "--out", "run", *ON_RAY) as running:
        when(lambda: filled("calls.jsonl", folder), running)
        cluster = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
    assert not psutil.wait_procs(cluster, timeout=60)[1]
    models = trials(read_results(folder).experiment)[0].config.models
    before, dearest, limit = paid_for(folder, models), 0.02, 0.6 * paid_for(whole, models)
    with started(tmp_path, "resume", "run", "--max-cost", limit, "--json", *ON_RAY) as running:
        said, complaints = running.communicate()
    assert running.returncode == 75, complaints
    assert json.loads(said)["unfinished"] > 0
    assert before < paid_for(folder, models) < limit + 2 * dearest
    asyncio.run(resume_experiment(folder, RunOptions("asyncio", max_cost=1_000.0)))
    assert (folder / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(folder).values()) == {1}


def test_an_address_at_which_nobody_listens_is_refused_before_anything_is_written(tmp_path):
    experiment = read_settings(TINY, Experiment)
    with pytest.raises(ConfigError, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
        asyncio.run(run_experiment(experiment, tmp_path / "run", RunOptions("ray", address="127.0.0.1:1")))
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- a machine that does not see the folder


@pytest.fixture
def elsewhere(whole, tmp_path):
    """The folder of the experiment as it was begun, and its tasks."""
    experiment = read_settings(whole / "experiment.json", Experiment)
    make_folder(tmp_path / "run", experiment, ExperimentOptions())
    return tmp_path / "run", [Task(tmp_path / "run", trial, measured(experiment)) for trial in trials(experiment)]


def sent(task):
    """Do a task as a worker does that has another folder under that name, or none."""
    errand = replace(executors._ray_task(task), token="of another")
    outcome, files = executors._run(errand)
    executors._unpack(files, trial_path(task.folder, task.trial))
    return outcome


def test_games_come_back_from_a_machine_that_does_not_see_the_folder(whole, elsewhere):
    folder, tasks = elsewhere
    for task in tasks:
        assert sent(task).record
    write_results(folder, read_results(folder))
    found, expected = (json.loads((path / "results.json").read_text())["games"] for path in (folder, whole))
    assert found == expected
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("calls.jsonl"))


def test_a_half_game_is_sent_there_and_gone_on_with(whole, elsewhere):
    folder, [task, *_] = elsewhere
    half = replace(task, dollars=0.04)
    assert sent(half).record is None
    before = paid(folder)
    assert before
    outcome = sent(task)
    assert outcome.record == read_results(whole).records[0]
    assert before < paid(folder)
    assert set(paid(folder).values()) == {1}


def test_a_worker_with_another_version_is_refused(elsewhere):
    _, [task, *_] = elsewhere
    with pytest.raises(RunFolderError, match=r"not 0\.0\.1; install the same"):
        executors._run(RayTask(task, "token", "0.0.1", {}))
