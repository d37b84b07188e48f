"""An experiment keeps its options: resuming repeats them, a change is said and noted, and a contradiction refused."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from contextlib import nullcontext

import pytest

from harbor import use
from harbor._config.auction import read_settings
from harbor._core.basics.errors import ConfigError
from harbor._core.files import marks
from harbor._core.files.marks import is_own, mark
from harbor._runs.manifest import kept
from harbor.evaluation import load, metric
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._report.page.page import MIXED
from harbor.evaluation._running.executors import EXECUTORS
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.commands import HARBOR, harbor, mistake
from support.folders import TINY, calls
from support.formats import config, experiment_of
from support.plugins import remembering
from support.processes import when
from support.providers import as_openai

NOISE = experiment_of(config({"use": "openai:gpt-4o-mini", "retry_seconds": 1}), repeats=3)
PAUSED = 75


@pytest.fixture
def host(monkeypatch):
    with as_openai(monkeypatch, seed=5, latency=0.02) as server:
        yield server


@pytest.fixture
def begun(begun):
    """An experiment with a game that is still to be run."""
    shutil.rmtree(begun / "games" / "none" / "all" / "0002")
    (begun / "results.json").unlink()
    return begun


def options(folder):
    return json.loads((folder / "manifest.json").read_text())["options"]


def rewritten(folder, change):
    """Change the manifest, as an editor would, and vouch for it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    mark(folder)


def forged(folder, **options):
    rewritten(folder, lambda manifest: manifest["options"][-1].update(options))


# ---------------------------------------------------------------- repeated


@pytest.mark.slow
def test_a_noise_study_that_is_killed_and_resumed_takes_no_reply_from_the_cache(host, tmp_path):
    asyncio.run(run_experiment(NOISE, tmp_path / "warm"))  # so that the cache could answer everything
    asyncio.run(run_experiment(NOISE, tmp_path / "whole", RunOptions(cache=False)))
    (tmp_path / "noise.json").write_text(NOISE.model_dump_json())
    begun = len(host.requests)
    words = [*HARBOR, "experiment", "run", "noise.json", "--trust", "--same-seed", "--no-cache", "--out", "run"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as running:
        when(lambda: len(host.requests) >= begun + 10, running)
        running.kill()
    done = harbor("experiment", "resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "from now on" not in done.stderr
    found = calls(tmp_path / "run")
    assert sum(call["outcome"] != "failed" for call in found) == len(calls(tmp_path / "whole"))
    assert not any(call["cached"] for call in found)
    games, whole = (json.loads((tmp_path / at / "results.json").read_text())["games"] for at in ("run", "whole"))
    assert [game["measurements"] for game in games] == [game["measurements"] for game in whole]


def test_a_limit_that_is_used_up_is_said_before_anything_is_played_and_can_be_raised(tmp_path, monkeypatch):
    def run(*words):
        return harbor("experiment", *words, "--quiet", cwd=tmp_path)

    first = run("run", TINY, "--out", "run", "--max-cost", "0.01")
    before = len(calls(tmp_path / "run"))
    assert before > 0
    assert "0 of 4 games finished" in first.stdout
    with monkeypatch.context() as patch:
        patch.setitem(EXECUTORS, "asyncio", None)  # nothing may be opened
        again = run("resume", "run")
    for paused in (first, again):
        assert paused.returncode == PAUSED, paused.stderr
        assert "stopped at the limit of $0.0100: 4 games are not finished" in paused.stderr
        assert paused.stderr.endswith("resume with: harbor experiment resume run --max-cost DOLLARS\n")
    assert len(calls(tmp_path / "run")) == before
    raised = run("resume", "run", "--max-cost", "5")
    assert raised.returncode == 0
    assert "experiment 'run' was played with --max-cost 0.01; from now on with --max-cost 5" in raised.stderr
    assert [one["max_cost"] for one in options(tmp_path / "run")] == [0.01, 5.0]


# ---------------------------------------------------------------- changed


@pytest.mark.parametrize("mixes", [True, False])
def test_a_change_is_said_in_a_line_and_noted_with_its_time_and_the_folder_stays_ones_own(begun, tmp_path, mixes):
    flag = "--no-cache" if mixes else "--cache"
    done = harbor("experiment", "resume", "run", flag, "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 0
    then, now = ("--jobs 3 and --cache", "--jobs 1 and --no-cache") if mixes else ("--jobs 3", "--jobs 1")
    assert f"harbor: experiment 'run' was played with {then}; from now on with {now}" in done.stderr.splitlines()
    first, second = options(begun)
    assert (first["jobs"], first["cache"]) == (3, True)
    assert second == first | {"jobs": 1, "cache": not mixes, "at": second["at"]}
    assert second["at"] >= first["at"]
    assert is_own(begun)
    told = f"from {second['at']} on: --executor asyncio --jobs 1 {flag} --lane live"
    assert load(begun).origin.options == ("--executor asyncio --jobs 3 --cache --lane live", told)
    harbor("report", "run", "--out", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert (told in page, MIXED in page) == (True, mixes)


def test_python_keeps_what_it_leaves_out_but_for_the_address_of_another_executor():
    on_ray = ExperimentOptions(executor="ray", jobs=2, address="ray://here:10001")
    assert RunOptions(executor="asyncio").over(on_ray) == ExperimentOptions(jobs=2)
    assert RunOptions(jobs=5).over(on_ray).address == "ray://here:10001"
    uncached = ExperimentOptions(jobs=3, cache=False)
    assert RunOptions(max_cost=100.0).over(uncached) == ExperimentOptions(jobs=3, max_cost=100.0, cache=False)
    with pytest.raises(ConfigError, match="an option can't be taken: 'jobs': input should be"):
        RunOptions(jobs="3").over(on_ray)


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_crash_while_options_are_written_leaves_a_folder_of_ones_own_with_the_old_ones_or_the_new(
    begun, monkeypatch, writes
):
    write, left = marks.write_whole, iter(range(writes))

    def crashing(path, content, **how):
        if next(left, None) is None:
            raise KeyboardInterrupt
        write(path, content, **how)

    with monkeypatch.context() as patch:
        patch.setattr(marks, "write_whole", crashing)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(resume_experiment(begun, RunOptions(jobs=1)))
    assert is_own(begun)
    assert kept(begun, ExperimentOptions).jobs == (1 if writes == 2 else 3)
    assert len(asyncio.run(resume_experiment(begun, RunOptions(jobs=1))).of("finished")) == 4


# ---------------------------------------------------------------- refused


UNREAD = "has options that can't be read"


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_metric_that_is_an_object_of_this_process_is_refused_for_workers_alone(executor, monkeypatch):
    with remembering(monkeypatch):
        use(metric("bids in a game", "count", name="all_bids")(lambda *_: []))
        refused = pytest.raises(ConfigError, match="'all_bids' is an object of this process, which the workers of")
        with nullcontext() if executor == "asyncio" else refused:
            ExperimentOptions(executor=executor).check()


@pytest.mark.parametrize(("has", "words", "complaint"), [
    ({"lane": "batch"}, "--executor processes", "executor 'processes' has several; take executor 'asyncio'"),
    ({"executor": "processes"}, "--address ray://here:1", "address 'ray://here:1' is for executor 'ray'"),
    ({}, "--max-cost -1", "a limit of -1.0 dollars can't be kept"),
    ({"executor": "rya"}, "", "unknown executor 'rya'"),
    ({"jobs": -3}, "", "jobs -3 would run no trial"),
    ({"max_cost": float("nan")}, "", "a limit of nan dollars can't be kept"),
    ({"jobs": "many"}, "", f"{UNREAD} ('jobs': input should be a valid integer)"),
    ({"speed": 9}, "", f"{UNREAD} ('speed': unexpected keyword argument)"),
])  # fmt: skip
def test_options_that_contradict_or_are_none_are_refused_in_a_line_and_change_nothing(begun, has, words, complaint):
    forged(begun, **has)
    before = (begun / "manifest.json").read_bytes()
    said = mistake(harbor("experiment", "resume", begun, *words.split()))
    assert complaint in said
    assert "from now on" not in said
    assert (begun / "manifest.json").read_bytes() == before
    assert not (begun / "games" / "none" / "all" / "0002").exists()


@pytest.mark.parametrize("history", [5, [5], "x", {"cache": True}])
def test_a_manifest_whose_options_are_no_list_is_refused_in_a_line(begun, history):
    rewritten(begun, lambda manifest: manifest.update(options=history))
    for command in (["experiment", "resume"], ["report"]):
        assert f"{UNREAD} (they are no list of options)" in mistake(harbor(*command, begun))


def test_a_noise_study_that_was_begun_without_the_cache_is_not_resumed_with_it(tmp_path):
    design = read_settings(TINY, Experiment).model_copy(update={"same_seed": True})
    asyncio.run(run_experiment(design, tmp_path / "run", RunOptions(cache=False, max_cost=0.01)))
    said = mistake(harbor("experiment", "resume", "run", "--cache", cwd=tmp_path))
    assert re.search(r"measures the noise .* drop --cache, or begin a new run", said)
    assert len(options(tmp_path / "run")) == 1


# ---------------------------------------------------------------- sent


def test_a_folder_of_a_stranger_tells_with_which_options_it_would_go_on(begun, tmp_path):
    forged(begun, executor="ray", address="ray://evil:10001", jobs=100_000)
    (begun / "mark").unlink()
    done = harbor("experiment", "resume", "run", cwd=tmp_path)
    assert done.returncode == 2
    told = "run: resumes with: '--executor ray --jobs 100000 --address ray://evil:10001 --cache --lane live'"
    assert told in done.stderr
