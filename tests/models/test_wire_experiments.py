"""Experiments over the wire: by every executor the one that is held offline, also if the provider is out of order."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from harbor._core.log.log import read_log
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import trial_path
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.cases import some
from support.commands import HARBOR, harbor
from support.folders import calls, paid
from support.formats import config, experiment_of, spoken, told
from support.processes import LONG, when
from support.providers import Limits, provider

pytestmark = pytest.mark.slow

PAUSED = 75
GAMES = 4


def experiment(settings):
    """Equal games, so that a server that knows one of them answers all."""
    return experiment_of(config(settings), repeats=GAMES)


[GAME, *_] = trials(experiment({}))
SEED = GAME.config.seed


def logs(folder, design):
    return [told(read_log(trial_path(folder, one) / "events.jsonl").entries) for one in trials(design)]


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    folder = tmp_path_factory.mktemp("offline") / "run"
    asyncio.run(run_experiment(experiment({}), folder))
    return logs(folder, experiment({}))


def served(server):
    return sum(heard.status == 200 for heard in server.requests)


def assert_is_whole(folder, design, offline, server):
    """The games are those that are held offline, and every reply was paid for once."""
    assert logs(folder, design) == offline
    assert {call["outcome"] for call in calls(folder)} <= {"ok", "failed"}
    assert set(paid(folder).values()) == {1}
    assert served(server) == sum(paid(folder).values())


def test_an_outage_that_is_short_is_waited_for(offline, tmp_path):
    with provider(seed=SEED, latency=0.02) as server:
        design = experiment(spoken("openai chat", server))

        def cut_off():
            while len(server.requests) < 20:
                time.sleep(0.005)
            server.fail("refused")
            time.sleep(1.5)  # the test is about the length of the outage
            server.recover()

        (outage := threading.Thread(target=cut_off, daemon=True)).start()
        asyncio.run(run_experiment(design, tmp_path / "run", RunOptions("asyncio", jobs=2)))
        outage.join(LONG)
        assert not outage.is_alive()
        made = calls(tmp_path / "run")
        assert logs(tmp_path / "run", design) == offline
        assert {call["outcome"] for call in made} == {"ok"}
        assert any(call["retries"] for call in made)
        assert served(server) - len(made) <= 4  # those that were under way when it was cut


def started(folder, design, executor):
    (folder / "wire.json").write_text(design.model_dump_json())
    words = ["run", "wire.json", "--trust", "--out", "run", "--executor", executor, "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*HARBOR, "experiment", *words], cwd=folder, process_group=0, **pipes)


@pytest.mark.parametrize("executor", some(["asyncio", "processes"], ["asyncio"]))
def test_an_outage_that_is_long_pauses_an_experiment_and_nothing_is_paid_twice(executor, offline, tmp_path):
    with provider(seed=SEED, latency=0.02) as server:
        design = experiment(spoken("openai chat", server) | {"retry_seconds": 1})
        words = "--executor", executor, "--jobs", "2"
        with started(tmp_path, design, executor) as running:
            when(lambda: served(server) >= 10, running)
            server.fail("unavailable")
            _, complaints = running.communicate(timeout=60)
        assert running.returncode == PAUSED, complaints
        assert "has not answered" in complaints
        assert 0 < served(server) < sum(map(len, offline))
        assert harbor("experiment", "resume", "run", *words, cwd=tmp_path).returncode == PAUSED
        server.recover()
        done = harbor("experiment", "resume", "run", *words, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["finished"] == GAMES
        assert_is_whole(tmp_path / "run", design, offline, server)


@pytest.mark.parametrize("executor", some(["asyncio", "processes"], ["asyncio"]))
def test_an_experiment_that_is_killed_during_an_outage_goes_on_after_it(executor, offline, tmp_path):
    with provider(seed=SEED, latency=0.02) as server:
        design = experiment(spoken("openai chat", server))
        with started(tmp_path, design, executor) as running:
            when(lambda: served(server) >= 10, running)
            server.fail("unavailable")
            when(lambda: sum(heard.status == 503 for heard in server.requests) >= 2, running)
            os.kill(running.pid, signal.SIGKILL)
            running.communicate(timeout=60)
        server.recover()
        asyncio.run(resume_experiment(tmp_path / "run", RunOptions(executor, jobs=2)))
        assert_is_whole(tmp_path / "run", design, offline, server)


@pytest.mark.parametrize(
    ("executor", "given"), [pytest.param("processes", 2, marks=pytest.mark.studies), ("ray", None)]
)
def test_two_workers_share_one_quota(executor, given, offline, tmp_path):
    with provider(seed=SEED, latency=0.02, limits=Limits(at_once=2)) as server:
        design = experiment(spoken("openai chat", server) | {"max_concurrent": given})
        asyncio.run(run_experiment(design, tmp_path / "run", RunOptions(executor, jobs=2)))
        assert_is_whole(tmp_path / "run", design, offline, server)
        assert server.gate.peak <= 2
        assert given is None or not server.gate.rejected
