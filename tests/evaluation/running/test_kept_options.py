"""An experiment keeps its options: resuming repeats them, a change is said and noted, and a contradiction refused."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from harbor._config.auction import check, read_settings
from harbor._core.basics.errors import ConfigError
from harbor._core.files import marks
from harbor._core.files.marks import is_own, mark
from harbor._runs.manifest import kept
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._report.page.notebook_view import load
from harbor.evaluation._report.page.page import MIXED
from harbor.evaluation._running.executors import EXECUTORS, in_processes
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.commands import HARBOR, harbor, mistake, process
from support.folders import TINY, calls
from support.processes import when
from support.providers import provider

DESIGN = {"name": "noise", "title": "Noise", "question": "?", "source": "nobody", "metrics": ["profit"], "repeats": 3}
SALE = {
    "items": [{"name": f"Lot {letter}", "start": 1_000, "true_value": 2_000} for letter in "AB"],
    "bidders": [{"name": name, "model": "mine"} for name in ("Ann", "Ben")],
    "models": {"mine": {"use": "openai:gpt-4o-mini", "retry_seconds": 1}},
}
NOISE = check(Experiment, DESIGN | {"arms": [{"name": "all"}], "auction": SALE, "same_seed": True}, "design")
PAUSED = 75


@pytest.fixture
def host(monkeypatch, tmp_path):
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    with provider(seed=5, latency=0.02) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "nobody")
        yield server


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """An experiment with a game that is still to be run."""
    folder = tmp_path_factory.mktemp("tiny") / "run"
    asyncio.run(run_experiment(read_settings(TINY, Experiment), folder, RunOptions(jobs=3)))
    shutil.rmtree(folder / "games" / "none" / "all" / "0002")
    (folder / "results.json").unlink()
    return folder


@pytest.fixture
def begun(tiny, tmp_path):
    return shutil.copytree(tiny, tmp_path / "run")


def options(folder):
    return json.loads((folder / "manifest.json").read_text())["options"]


def forged(folder, **options):
    """Change the last options in a manifest, as an editor would, and vouch for it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["options"][-1].update(options)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    mark(folder)


def measurements(folder):
    return [game["measurements"] for game in json.loads((folder / "results.json").read_text())["games"]]


# ---------------------------------------------------------------- repeated


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["killed", "paused"])
def test_a_noise_study_that_is_stopped_and_resumed_by_the_printed_command_takes_no_reply_from_the_cache(
    host, tmp_path, stop
):
    asyncio.run(run_experiment(NOISE, tmp_path / "warm"))  # so that the cache could answer everything
    asyncio.run(run_experiment(NOISE, tmp_path / "whole", RunOptions(cache=False)))
    (tmp_path / "noise.json").write_text(NOISE.model_dump_json())
    begun, command = len(host.requests), "harbor experiment resume run"
    words = [*HARBOR, "experiment", "run", "noise.json", "--trust", "--same-seed", "--no-cache", "--out", "run"]
    with subprocess.Popen(words, cwd=tmp_path, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
        when(lambda: len(host.requests) >= begun + 10, running)
        if stop == "paused":
            host.fail("unavailable")
        else:
            running.send_signal(signal.SIGKILL)
        _, said = running.communicate(timeout=60)
    if stop == "paused":
        assert running.returncode == PAUSED
        command = re.search(r"resume with: (.*)$", said.strip())[1]
        host.recover()
    done = process(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "from now on" not in done.stderr
    found = calls(tmp_path / "run")
    assert sum(call["outcome"] != "failed" for call in found) == len(calls(tmp_path / "whole"))
    assert [call for call in found if call["cached"]] == []
    assert measurements(tmp_path / "run") == measurements(tmp_path / "whole")


@pytest.mark.slow
def test_the_executor_and_its_jobs_are_repeated(begun, monkeypatch):
    opened = []

    def seen(places, address):
        opened.append((places, address))
        return in_processes(places, address)

    forged(begun, executor="processes", jobs=2)
    monkeypatch.setitem(EXECUTORS, "processes", seen)
    assert len(asyncio.run(resume_experiment(begun)).of("finished")) == 4
    assert opened == [(2, None)]
    assert len(options(begun)) == 1


def test_a_limit_that_is_used_up_is_said_before_anything_is_played_and_can_be_raised(tmp_path, monkeypatch):
    first = harbor("experiment", "run", TINY, "--out", "run", "--max-cost", "0.01", "--quiet", cwd=tmp_path)
    before = len(calls(tmp_path / "run"))
    assert (first.returncode, before > 0) == (PAUSED, True)
    with monkeypatch.context() as patch:
        patch.setitem(EXECUTORS, "asyncio", None)  # nothing may be opened
        again = harbor("experiment", "resume", "run", "--quiet", cwd=tmp_path)
    assert again.returncode == PAUSED, again.stderr
    assert "stopped at the limit of $0.0100: 4 games are not finished" in again.stderr
    assert again.stderr.endswith("resume with: harbor experiment resume run --max-cost DOLLARS\n")
    assert len(calls(tmp_path / "run")) == before
    raised = harbor("experiment", "resume", "run", "--max-cost", "5", "--quiet", cwd=tmp_path)
    assert raised.returncode == 0
    said = "experiment 'run' was played with --max-cost 0.01; from now on with --max-cost 5"
    assert said in raised.stderr
    assert [one["max_cost"] for one in options(tmp_path / "run")] == [0.01, 5.0]


# ---------------------------------------------------------------- changed


def test_a_change_is_said_in_a_line_and_noted_with_its_time_and_the_folder_stays_ones_own(begun, tmp_path):
    words = ("experiment", "resume", "run", "--no-cache", "--jobs", "1")
    done = harbor(*words, cwd=tmp_path)
    assert done.returncode == 0
    said = "harbor: experiment 'run' was played with --jobs 3 and --cache; from now on with --jobs 1 and --no-cache"
    assert said in done.stderr.splitlines()
    first, second = options(begun)
    assert (first["jobs"], first["cache"]) == (3, True)
    assert second == first | {"jobs": 1, "cache": False, "at": second["at"]}
    assert second["at"] >= first["at"]
    assert is_own(begun)
    assert load(begun).origin.options == (
        "--executor asyncio --jobs 3 --cache --lane live",
        f"from {second['at']} on: --executor asyncio --jobs 1 --no-cache --lane live",
    )
    harbor("report", "run", "--out", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert f"from {second['at']} on: --executor asyncio --jobs 1 --no-cache --lane live" in page
    assert MIXED in page


def test_a_report_warns_of_no_change_that_replies_do_not_hang_on(begun, tmp_path):
    asyncio.run(resume_experiment(begun, RunOptions(jobs=1, max_cost=100.0)))
    assert len(options(begun)) == 2
    harbor("report", "run", "--out", "page.html", cwd=tmp_path)
    assert MIXED not in (tmp_path / "page.html").read_text()


def test_an_option_that_python_leaves_out_stays_as_it_is(begun):
    forged(begun, cache=False, lane="live")
    asyncio.run(resume_experiment(begun, RunOptions(max_cost=100.0)))
    assert kept(begun, ExperimentOptions) == ExperimentOptions(jobs=3, max_cost=100.0, cache=False)


@pytest.mark.parametrize(("name", "value"), [("jobs", "3"), ("max_cost", "5"), ("lane", "fast"), ("cache", "no")])
def test_an_option_of_a_wrong_kind_is_refused_by_its_name(name, value):
    with pytest.raises(ConfigError, match=f"an option can't be taken: '{name}': input should be"):
        RunOptions(**{name: value}).over(ExperimentOptions())


def test_another_executor_needs_no_word_about_the_address_of_the_former():
    on_ray = ExperimentOptions(executor="ray", jobs=2, address="ray://here:10001")
    assert RunOptions(executor="asyncio").over(on_ray) == ExperimentOptions(jobs=2)
    assert RunOptions(jobs=5).over(on_ray).address == "ray://here:10001"


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_crash_while_options_are_written_leaves_a_folder_of_ones_own_with_the_old_ones_or_the_new(
    begun, monkeypatch, writes
):
    done = []

    def crashing(path, content, **how):
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(path)
        write(path, content, **how)

    write = marks.write_whole
    with monkeypatch.context() as patch:
        patch.setattr(marks, "write_whole", crashing)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(resume_experiment(begun, RunOptions(jobs=1)))
    assert is_own(begun)
    assert kept(begun, ExperimentOptions).jobs == (1 if writes == 2 else 3)
    assert len(asyncio.run(resume_experiment(begun, RunOptions(jobs=1))).of("finished")) == 4


def test_a_folder_of_an_earlier_harbor_has_the_defaults(begun):
    manifest = json.loads((begun / "manifest.json").read_text())
    del manifest["options"]
    (begun / "manifest.json").write_text(json.dumps(manifest))
    mark(begun)
    assert kept(begun, ExperimentOptions) == ExperimentOptions()
    assert harbor("experiment", "resume", begun).returncode == 0
    assert "options" not in json.loads((begun / "manifest.json").read_text())


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("has", "words", "complaint"),
    [
        ({"executor": "processes"}, "--lane batch", "executor 'processes' has several; take executor 'asyncio'"),
        ({"lane": "batch"}, "--executor processes", "executor 'processes' has several; take executor 'asyncio'"),
        ({"executor": "processes"}, "--address ray://here:1", "address 'ray://here:1' is for executor 'ray'"),
        ({}, "--executor asyncio --address x", "address 'x' is for executor 'ray', not 'asyncio'; drop one"),
        ({}, "--jobs 0", "jobs 0 would run no trial"),
        ({}, "--max-cost 0", "a limit of 0.0 dollars can't be kept"),
        ({}, "--max-cost -1", "a limit of -1.0 dollars can't be kept"),
        ({}, "--max-cost nan", "a limit of nan dollars can't be kept"),
        ({}, "--executor rya", "unknown executor 'rya'"),
        ({"executor": "rya"}, "", "unknown executor 'rya'"),
        ({"jobs": -3}, "", "jobs -3 would run no trial"),
        ({"max_cost": float("nan")}, "", "a limit of nan dollars can't be kept"),
        ({"jobs": "many"}, "", "has options that can't be read ('jobs': input should be a valid integer)"),
        ({"cache": "yes"}, "", "has options that can't be read ('cache': input should be a valid boolean)"),
        ({"lane": "fast"}, "", "has options that can't be read ('lane': input should be 'live' or 'batch')"),
        ({"speed": 9}, "", "has options that can't be read ('speed': unexpected keyword argument)"),
    ],
)
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
    manifest = json.loads((begun / "manifest.json").read_text()) | {"options": history}
    (begun / "manifest.json").write_text(json.dumps(manifest))
    mark(begun)
    for command in (["experiment", "resume"], ["report"]):
        assert "has options that can't be read (they are no list of options)" in mistake(harbor(*command, begun))


def test_a_noise_study_that_was_begun_without_the_cache_is_not_resumed_with_it(tmp_path):
    design = read_settings(TINY, Experiment).model_copy(update={"same_seed": True})
    asyncio.run(run_experiment(design, tmp_path / "run", RunOptions(cache=False, max_cost=0.01)))
    with pytest.raises(ConfigError, match=r"measures the noise .* drop --cache, or begin a new run"):
        asyncio.run(resume_experiment(tmp_path / "run", RunOptions(cache=True)))
    assert "drop --cache, or begin a new run" in mistake(harbor("experiment", "resume", "run", "--cache", cwd=tmp_path))
    assert len(options(tmp_path / "run")) == 1


# ---------------------------------------------------------------- sent


def test_a_folder_of_a_stranger_tells_with_which_options_it_would_go_on(begun, tmp_path):
    forged(begun, executor="ray", address="ray://evil:10001", jobs=100_000)
    (begun / "mark").unlink()
    done = harbor("experiment", "resume", "run", cwd=tmp_path)
    assert done.returncode == 2
    told = "run: resumes with: '--executor ray --jobs 100000 --address ray://evil:10001 --cache --lane live'"
    assert told in done.stderr
    forged(begun, executor="x" * 1_000)
    (begun / "mark").unlink()
    assert "more characters" in harbor("experiment", "resume", "run", cwd=tmp_path).stderr


def test_a_pack_has_the_options_and_a_public_copy_those_of_the_data_alone(begun, tmp_path):
    forged(begun, executor="ray", address="ray://secret:10001", max_cost=7.0)
    for words in ([], ["--public"]):
        shutil.rmtree(tmp_path / "unpacked", ignore_errors=True)
        assert harbor("pack", "run", "--out", "run.zip", *words, cwd=tmp_path).returncode == 0
        done = harbor("unpack", "run.zip", "--out", "unpacked", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (tmp_path / "run.zip").unlink()
        found = options(tmp_path / "unpacked")
        assert found == ([{"cache": True, "lane": "live"}] if words else options(begun))
        assert harbor("verify", "unpacked", cwd=tmp_path).returncode == 0
        assert harbor("report", "unpacked", "--out", "page.html", cwd=tmp_path).returncode == 0
