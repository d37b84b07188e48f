"""Running experiments: whatever is interrupted, killed or full, each game is held once and comes out the same."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import nullcontext, suppress
from hashlib import sha256
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from harbor._config.auction import read_settings
from harbor._core.asking.asks import Withdraw
from harbor._core.basics.errors import ConfigError, HarborError, LogError, RunFolderError
from harbor._core.files.marks import mark
from harbor._core.log.events import SCHEMA_VERSION
from harbor._games.policies import MinimumRaise
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support import forging
from support.commands import HARBOR, harbor, mistake, process
from support.folders import TINY, calls, filled, paid
from support.forging import lines_of
from support.processes import full_disk, when

GAMES, ITEMS = 4, 2


def tiny(**changes):
    return read_settings(TINY, Experiment).model_copy(update=changes)


def changed(**auction):
    """The tiny experiment with other settings of its auctions."""
    return tiny(auction={**tiny().auction, **auction})


def run(experiment, folder, hear=lambda *_: None, **running):
    return asyncio.run(run_experiment(experiment, folder, RunOptions(**running), hear))


def resume(folder, retry_failed=False, **running):
    return asyncio.run(resume_experiment(folder, RunOptions(**running), retry_failed=retry_failed))


def results(folder):
    """What an experiment leaves, without what it was begun with."""
    return json.loads((folder / "results.json").read_text())["games"]


def spent(folder):
    return sum(call["cost_dollars"] or 0 for call in calls(folder))


def started(folder, *words, **how):
    """Start a run of the tiny experiment in a process of its own."""
    command = [*HARBOR, "experiment", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, text=True, process_group=0, **pipes, **how)


def deaf_to_ctrl_c():
    """Be as a job that a script starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def half_done(folder):
    """Say whether a game is finished, and another one is being held."""
    finished, begun = filled("record.json", folder), filled("calls.jsonl", folder)
    return bool(finished) and bool(begun - finished)


def workers_of(running):
    """The processes in which games are held, but for those that are just dying."""
    found = []
    for child in psutil.Process(running.pid).children():
        with suppress(psutil.Error):
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


def loading(running):
    """Say whether a worker loads what it needs, which takes a while."""
    return any(worker.memory_info().rss > 30 * 2**20 for worker in workers_of(running))


@pytest.fixture
def begun(whole, tmp_path):
    """A copy of a finished run, to be spoilt."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


# ---------------------------------------------------------------- what comes out


@pytest.mark.slow
def test_games_side_by_side_give_the_results_of_games_one_by_one(whole, tmp_path):
    run(tiny(), tmp_path / "run", jobs=1)
    assert results(tmp_path / "run") == results(whole)


def test_every_game_is_a_run_of_its_own(whole):
    found = sorted(str(path.parent.relative_to(whole / "games")) for path in whole.rglob("events.jsonl"))
    assert found == ["adaptive/all/0001", "adaptive/all/0002", "none/all/0001", "none/all/0002"]
    assert harbor("replay", whole / "games" / found[0]).returncode == 0


def test_a_finished_experiment_is_left_as_it_is(begun):
    logs = {path: path.stat().st_mtime_ns for path in begun.rglob("*.jsonl")}
    heard = []
    asyncio.run(resume_experiment(begun, on_progress=lambda tally, _: heard.append(tally)))
    assert [tally.finished for tally in heard] == [GAMES]
    assert {path: path.stat().st_mtime_ns for path in begun.rglob("*.jsonl")} == logs


def test_what_was_measured_is_kept_only_as_long_as_it_is_of_the_log(begun):
    expected = read_results(begun)
    for number, path in enumerate(sorted(begun.rglob("record.json"))):
        kept = json.loads(path.read_text())
        kept["record"]["calls"] = 999
        if number == 0:
            path.unlink()
        elif number == 1:
            path.write_text(json.dumps(kept)[:50])
        elif number == 2:
            path.write_text(json.dumps(kept | {"harbor": "0.0.1"}))
        else:
            path.write_text(json.dumps(kept | {"logs": {"events.jsonl": "0" * 64}}))
    assert read_results(begun) == expected


def test_what_was_measured_of_a_log_of_an_earlier_schema_is_not_kept_and_the_log_is_refused(begun):
    path = next(begun.rglob("record.json"))
    log, (opening, *lines) = path.parent / "events.jsonl", lines_of(path.parent / "events.jsonl")
    forging.write(log, [opening | {"schema": SCHEMA_VERSION - 1}, *lines])
    logs = {"events.jsonl": sha256(log.read_bytes()).hexdigest()}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": SCHEMA_VERSION - 1, "logs": logs}))
    with pytest.raises(LogError, match=f"has schema {SCHEMA_VERSION - 1} of an earlier Harbor"):
        resume(begun)


def test_prices_are_those_of_the_day_on_which_it_was_begun(tmp_path):
    experiment = tiny(models=("simulated",), auction={**tiny().auction, "models": {}})
    run(experiment, tmp_path / "run", jobs=4)
    design = json.loads((tmp_path / "run" / "experiment.json").read_text())
    assert design["prices"] == {"simulated": dict.fromkeys(["input_price", "cached_price", "output_price"], 0.0)}
    assert {call["cost_dollars"] for call in calls(tmp_path / "run")} == {0.0}


def test_repeats_seed_arms_and_models_are_chosen_before_it_begins():
    experiment = chosen(tiny(), ["openai:gpt-4o"], ["none"], repeats=7, seed=3)
    assert (experiment.models, experiment.repeats, experiment.seed) == (("openai:gpt-4o",), 7, 3)
    assert [arm.name for arm in experiment.arms] == ["none"]
    with pytest.raises(ConfigError, match="repeats 0: ask for 1 to"):
        chosen(tiny(), repeats=0)


# ---------------------------------------------------------------- failures of a game


@pytest.fixture
def derailed(begun):
    """A run with a half game in which a model is recorded with other words than the log knows."""
    game = begun / "games" / "none" / "all" / "0001"
    log = (game / "events.jsonl").read_bytes().splitlines(keepends=True)
    (game / "events.jsonl").write_bytes(b"".join(log[: len(log) // 2]))
    (game / "calls.jsonl").rename(begun / "calls.jsonl")
    calls = (begun / "calls.jsonl").read_text().replace("withdraw", "bid")
    (game / "calls.jsonl").write_text(re.sub(', "digest": "[0-9a-f]+"', "", calls))
    return begun


def test_a_failed_game_is_recorded_with_its_reason_and_the_others_go_on(derailed):
    shutil.rmtree(derailed / "games" / "none" / "all" / "0002")
    found = resume(derailed)
    assert [game.status for game in found.records] == ["finished", "failed", "finished", "finished"]
    assert "events.jsonl' line" in found.records[1].detail
    assert found.records[1].calls > 0
    assert read_results(derailed) == found


def test_failed_games_stay_failed_unless_they_are_to_be_tried_again(whole, derailed):
    game = derailed / "games" / "none" / "all" / "0001"
    assert resume(derailed).records[1].status == "failed"
    (game / "failure.json").write_text('{"failure": "of its own, and none that may pass"}')
    (derailed / "calls.jsonl").replace(game / "calls.jsonl")
    assert resume(derailed).records[1].status == "failed"
    before = paid(derailed)
    resume(derailed, retry_failed=True)
    assert (derailed / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert paid(derailed) == before


def test_a_model_that_gives_no_usable_reply_is_a_failed_game(tmp_path):
    mute = {"simulated": {"simulated": {"unreadable_rate": 1.0}}}
    found = run(changed(models=mute), tmp_path / "run")
    assert {game.status for game in found.records} == {"failed"}
    assert re.match("none of [0-9]+ answers of model 'simulated' could be used", found.records[0].detail)
    assert found.records[0].calls > 0


def test_a_game_that_came_to_a_bad_end_is_kept_beside_its_second_try(tmp_path):
    folder = tmp_path / "run"
    mute = {"simulated": {"simulated": {"unreadable_rate": 1.0}}}
    run(changed(models=mute).model_copy(update={"repeats": 1}), folder)
    resume(folder, retry_failed=True)
    assert (folder / "games" / "adaptive" / "all" / "0001" / "events.jsonl").exists()
    assert (folder / "games" / "adaptive" / "all" / "0001-failed-1" / "events.jsonl").exists()


# ---------------------------------------------------------------- half a game


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_game_that_was_cut_short_anywhere_is_gone_on_with(whole, begun, share):
    game = begun / "games" / "adaptive" / "all" / "0001"
    log = (game / "events.jsonl").read_bytes()
    (game / "events.jsonl").write_bytes(log[: int(len(log) * share)].rstrip(b"}\n"))  # inside a line
    before = paid(begun)
    with pytest.warns(UserWarning, match="cut short") if share > 0 else nullcontext():
        found = resume(begun)
    assert results(begun) == results(whole)
    assert read_results(begun) == found
    assert paid(begun) == before


@pytest.mark.slow
@pytest.mark.parametrize("left", [[], ["config.json"], ["config.json", "manifest.json"], ["calls.jsonl"]])
def test_a_game_that_broke_off_before_its_log_began_is_begun_anew(whole, begun, left):
    game = begun / "games" / "none" / "all" / "0002"
    for path in game.iterdir():
        if path.name in left:
            path.write_bytes(path.read_bytes()[:20])
        else:
            path.unlink()
    resume(begun)
    assert results(begun) == results(whole)


def test_a_game_that_was_never_begun_is_held(whole, begun):
    shutil.rmtree(begun / "games" / "none")
    (begun / "results.json").unlink()
    found = read_results(begun)
    assert [game.status for game in found.records] == ["finished", "unfinished"] * 2
    resume(begun)
    assert results(begun) == results(whole)


@pytest.mark.slow
def test_a_half_series_is_gone_on_with(tmp_path):
    series = changed(series={"auctions": 2})
    series = chosen(series.model_copy(update={"metrics": ("mean_rank",), "arms": tiny().arms[:1]}), repeats=1)
    run(series, tmp_path / "whole")
    run(series, tmp_path / "run")
    game = tmp_path / "run" / "games" / "adaptive" / "all" / "0001"
    for log, lines in ((game / "events.jsonl", 3), (game / "2" / "events.jsonl", 20)):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:lines]))
    assert [game.status for game in read_results(tmp_path / "run").records] == ["unfinished"]
    resume(tmp_path / "run")
    assert results(tmp_path / "run") == results(tmp_path / "whole")


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ('"seed": 5', '"seed": 6', "seed 5 then, 6 now"),
        ('"simulated"\n  ],', '"openai:gpt-4o"\n  ],', "models[0] 'simulated' then, 'openai:gpt-4o' now"),
        ('"true_value": 2000', '"true_value": 3000', "auction.items[0].true_value 2000 then, 3000 now"),
        ('"seed": 5', '"seed":  5', "in its spacing"),
    ],
)
@pytest.mark.parametrize("do", [resume, read_results])
def test_a_design_that_was_changed_is_refused_and_the_difference_shown(begun, do, old, new, shown):
    text = (begun / "experiment.json").read_text()
    assert old in text
    (begun / "experiment.json").write_text(text.replace(old, new, 1))
    with pytest.raises(RunFolderError) as refused:
        do(begun)
    assert f"was changed since the experiment began: {shown}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_another_version_of_harbor_is_refused(begun):
    manifest = json.loads((begun / "manifest.json").read_text())
    (begun / "manifest.json").write_text(json.dumps(manifest | {"harbor": "0.0.9"}))
    mark(begun)
    with pytest.raises(RunFolderError, match=r"begun with harbor 0\.0\.9, and this is"):
        resume(begun)
    assert read_results(begun).records


def test_another_version_of_a_package_is_warned_of(begun):
    manifest = json.loads((begun / "manifest.json").read_text())
    manifest["versions"]["langgraph"] = "0.1"
    (begun / "manifest.json").write_text(json.dumps(manifest))
    mark(begun)
    with pytest.warns(UserWarning, match="langgraph '0.1' then"):
        resume(begun)


def test_a_game_of_another_experiment_is_refused_by_name(begun, tmp_path):
    run(chosen(tiny(), arms=["none"], repeats=1, seed=8), tmp_path / "other")
    shutil.rmtree(begun / "games" / "none" / "all" / "0001")
    shutil.copytree(tmp_path / "other" / "games" / "none" / "all" / "0001", begun / "games" / "none" / "all" / "0001")
    with pytest.raises(RunFolderError, match="none/all/0001' is not of this experiment: seed"):
        read_results(begun)


@pytest.mark.slow
@pytest.mark.parametrize("left", [None, "", "{}", '{"bidders": 3}'])
def test_a_game_without_readable_settings_is_refused_and_held_again_when_it_is_removed(whole, begun, left):
    game = begun / "games" / "none" / "all" / "0001"
    (game / "config.json").unlink()
    if left is not None:
        (game / "config.json").write_text(left)
    with pytest.raises(RunFolderError) as refused:
        resume(begun)
    assert "none/all/0001' lacks a config.json that can be read; restore it, or remove" in str(refused.value)
    shutil.rmtree(game)
    resume(begun)
    assert results(begun) == results(whole)


def test_a_log_that_was_edited_is_refused_by_name(begun):
    path = begun / "games" / "none" / "all" / "0002" / "events.jsonl"
    path.write_text(path.read_text().replace('"Ben"', '"Bob"', 1))
    with pytest.raises(LogError, match=r"none/all/0002/events\.jsonl' line .* was edited"):
        resume(begun)


def test_a_game_that_could_not_be_played_again_is_tried_again_by_resuming(whole, begun, monkeypatch):
    log = begun / "games" / "none" / "all" / "0002" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    with monkeypatch.context() as otherwise:
        otherwise.setattr(MinimumRaise, "decide", lambda *_: Withdraw())
        [failed] = resume(begun).of("failed")
    assert "but this run gives" in failed.detail
    resume(begun)
    assert results(begun) == results(whole)


def test_a_folder_that_another_process_runs_is_refused(begun):
    with FileLock(begun / ".lock"), pytest.raises(RunFolderError, match="is being run by another process"):
        resume(begun)


def test_a_folder_that_exists_is_refused_and_left_as_it_is(begun):
    with pytest.raises(RunFolderError, match="exists; go on with: harbor experiment resume"):
        run(tiny(), begun)


def test_no_experiment_is_refused(tmp_path, whole):
    with pytest.raises(RunFolderError, match="contains no experiment"):
        resume(tmp_path)
    with pytest.raises(RunFolderError, match="is a single run, not an experiment"):
        resume(whole / "games" / "none" / "all" / "0001")


@pytest.mark.parametrize(
    ("running", "complaint"),
    [
        ({"executor": "rya"}, "unknown executor 'rya'; did you mean 'ray'?"),
        ({"jobs": 0}, "jobs 0 would run no trial"),
        ({"max_cost": 0.0}, "limit of 0.0 dollars can't be kept; give an amount above 0"),
        ({"max_cost": float("nan")}, "limit of nan dollars can't be kept; give an amount above 0"),
        ({"max_cost": float("inf")}, "limit of inf dollars can't be kept"),
        ({"address": "auto"}, "address 'auto' is for executor 'ray'"),
    ],
)
def test_what_no_game_could_be_held_with_is_refused_before_anything_is_written(tmp_path, running, complaint):
    with pytest.raises(ConfigError) as refused:
        run(tiny(), tmp_path / "run", **running)
    assert complaint in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_what_would_strike_every_game_of_an_arm_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(HarborError, match="unknown embedding"):
        run(changed(memory={"embedding": "nothing"}, bidders=[{"name": "Ann", "memory": "list"}]), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- killed, stopped, out of room


EXECUTORS = ["asyncio", pytest.param("processes", marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_killed_run_resumes_to_the_results_of_one_that_was_not(whole, tmp_path, executor):
    with started(tmp_path, "run", TINY, "--out", "run", "--jobs", 1, "--executor", executor) as running:
        when(lambda: half_done(tmp_path / "run"), running)
        workers = psutil.Process(running.pid).children()
        running.kill()
    assert not psutil.wait_procs(workers, timeout=60)[1]
    before = paid(tmp_path / "run")
    resume(tmp_path / "run")
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(tmp_path / "run").values()) == {1}
    assert before <= paid(tmp_path / "run")


@pytest.mark.slow
def test_a_worker_that_is_killed_takes_no_game_along(whole, tmp_path):
    words = ["run", TINY, "--out", "run", "--jobs", 2, "--executor", "processes", "--json"]
    with started(tmp_path, *words) as running:
        when(lambda: half_done(tmp_path / "run"), running)
        workers_of(running)[0].kill()
        said, complaints = running.communicate()
    assert running.returncode == 0, complaints
    assert json.loads(said)["finished"] == GAMES
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(tmp_path / "run").values()) == {1}


@pytest.mark.slow
def test_a_game_that_costs_three_workers_is_a_failed_one_and_the_others_go_on(tmp_path):
    (tmp_path / "slow.toml").write_text(TINY.read_text().replace("latency_seconds = 0.03", "latency_seconds = 0.2"))
    words = ["run", "slow.toml", "--out", "run", "--jobs", 1, "--repeats", 1, "--executor", "processes", "--json"]
    doomed = str(tmp_path / "run" / "games" / "adaptive")
    with started(tmp_path, *words) as running:
        for _ in range(3):
            [worker] = when(lambda: holders(running, doomed), running)
            worker.kill()
            worker.wait()
        said, complaints = running.communicate()
    assert running.returncode == 1, complaints
    assert (json.loads(said)["finished"], json.loads(said)["failed"]) == (1, 1)
    assert json.loads(said)["failures"][0]["detail"].startswith("its worker died 3 times")


def holders(running, folder):
    """Which workers have a file of this folder open."""
    found = []
    for worker in psutil.Process(running.pid).children():
        with suppress(psutil.Error):
            found += [worker for opened in worker.open_files() if opened.path.startswith(folder)][:1]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "how", "early"),
    [
        ("asyncio", signal.SIGTERM, False),
        *(
            pytest.param(executor, signal.SIGINT, early, marks=pytest.mark.slow)
            for executor, early in (("asyncio", False), ("processes", False), ("processes", True))
        ),
    ],
)
def test_a_run_that_is_told_to_stop_says_how_it_is_resumed(whole, tmp_path, executor, how, early):
    with started(tmp_path, "run", TINY, "--out", "run", "--jobs", 1, "--executor", executor) as running:
        when(lambda: loading(running) if early else half_done(tmp_path / "run"), running)
        workers = psutil.Process(running.pid).children()
        os.killpg(running.pid, how)  # as a terminal does
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
    assert "Traceback" not in said
    assert not psutil.wait_procs(workers, timeout=60)[1]
    resume(tmp_path / "run")
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_run_in_the_background_is_deaf_to_ctrl_c_and_ends_when_it_is_told_to(whole, tmp_path, executor):
    words = ["run", TINY, "--out", "run", "--jobs", 1, "--executor", executor]
    with started(tmp_path, *words, preexec_fn=deaf_to_ctrl_c) as running:
        when(lambda: half_done(tmp_path / "run"), running)
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
    before = paid(tmp_path / "run")
    assert list((tmp_path / "run").rglob("record.json"))
    resume(tmp_path / "run")
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(tmp_path / "run").values()) == {1}
    assert before <= paid(tmp_path / "run")


@pytest.mark.slow
def test_a_full_disk_stops_the_run_which_resumes_when_there_is_room(whole, tmp_path):
    done = process("experiment", "run", TINY, "--out", "run", "--quiet", cwd=tmp_path, **full_disk(12_000))
    assert done.returncode == 2, done.stderr
    [error] = [line for line in done.stderr.splitlines() if "model slot" not in line]
    assert "can't be written (File too large)" in error
    assert "harbor experiment resume run" in error
    assert not list((tmp_path / "run").rglob("failure.json"))
    with pytest.warns(UserWarning, match=r"is kept in calls-damaged\.jsonl"):
        resume(tmp_path / "run")
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()


# ---------------------------------------------------------------- money


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_limit_that_pays_for_no_game_is_overdrawn_by_no_more_than_a_call(whole, tmp_path, executor):
    limit = 0.2 * spent(whole)
    found = run(tiny(), tmp_path / "run", executor=executor, jobs=4, max_cost=limit)
    dearest = max(call["cost_dollars"] or 0 for call in calls(whole))
    assert len(found.of("unfinished")) == GAMES
    assert limit <= spent(tmp_path / "run") < limit + dearest
    assert set(paid(tmp_path / "run").values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_limit_finishes_the_first_games_of_the_design_however_many_could_be_held_side_by_side(
    whole, tmp_path, executor
):
    costs = [game["cost"] for game in results(whole)]
    limit = sum(costs[:2]) + 1.01 * max(costs)
    found = run(tiny(), tmp_path / "run", executor=executor, jobs=4, max_cost=limit)
    assert [game.status for game in found.records] == ["finished", "finished", "finished", "unfinished"]
    assert results(tmp_path / "run")[:3] == results(whole)[:3]
    assert spent(tmp_path / "run") == pytest.approx(sum(costs[:3]))


@pytest.mark.slow
def test_what_earlier_sessions_paid_counts_and_more_money_brings_it_to_its_end(whole, tmp_path):
    folder, limit = tmp_path / "run", 0.2 * spent(whole)
    run(tiny(), folder, max_cost=limit)
    before = paid(folder)
    resume(folder, max_cost=limit, jobs=1)
    assert paid(folder) == before
    resume(folder, max_cost=2 * limit)
    assert limit < spent(folder) < 2.5 * limit
    resume(folder, max_cost=10 * limit)
    assert (folder / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert set(paid(folder).values()) == {1}
    assert spent(folder) == pytest.approx(spent(whole))


@pytest.mark.slow
def test_a_limit_that_is_not_reached_changes_nothing(whole, tmp_path):
    run(tiny(), tmp_path / "run", max_cost=100.0)
    assert (tmp_path / "run" / "results.json").read_bytes() == (whole / "results.json").read_bytes()


def test_a_limit_is_refused_where_the_price_of_a_model_is_unknown(tmp_path):
    with pytest.raises(ConfigError, match=r"price of model 'openai:no-such-model' is unknown.*input_price"):
        run(chosen(tiny(), ["openai:no-such-model"]), tmp_path / "run", max_cost=1.0)
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- the command line


def shown(*words, code=0):
    """What a command prints on stdout and stderr, and that it ends with this code."""
    done = harbor("experiment", *words)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_of_a_run_is_one_object_of_the_agreed_shape(here):
    said, told = shown("run", TINY, "--out", "run", "--repeats", 1, "--arm", "none", "--json")
    printed = json.loads(said)
    tokens = ["input_tokens", "cached_tokens", "output_tokens"]
    counts = ["games", "finished", "failed", "unfinished", "calls", *tokens, "cost_dollars"]
    found = ["estimates", "differences", "correlations", "ratings", "spreads", "variance", "same_seed", "arms"]
    assert list(printed) == ["name", "folder", *counts, "simulated", "unheeded", "failures", "refusals", *found]
    assert (printed["games"], printed["finished"], printed["simulated"]) == (1, 1, True)
    assert printed["cost_dollars"] == pytest.approx(spent(here / "run"))
    assert told == "harbor: model slot @1 is filled by the built-in model (simulated)\n"


@pytest.mark.slow
def test_json_of_a_run_holds_all_that_the_analysis_says(here):
    asked = """
        trueskill = true
        correlations = [["priority_initial", "bids"]]
        comparisons = [{ metric = "profit", of = { arm = "adaptive" }, against = { arm = "none" } }]
    """
    (here / "asking.toml").write_text(asked + TINY.read_text().replace('metrics = ["', 'metrics = ["bids", "'))
    said, _ = shown("run", "asking.toml", "--out", "run", "--json")
    printed, analysis = json.loads(said), analyse(read_results(here / "run"))
    [difference] = printed["differences"]
    assert difference["of"]["arm"] == "adaptive"
    assert (difference["p"], difference["p_holm"]) == (analysis.differences[0].p, analysis.differences[0].p_holm)
    assert difference["effect"] == analysis.differences[0].effect
    assert [one["rho"] for one in printed["correlations"]] == [one.rho for one in analysis.correlations] != []
    assert [one["mu"] for one in printed["ratings"]] == [one.mu for one in analysis.ratings] != []


@pytest.mark.parametrize("wrong", [("--jobs", 0), ("--executor", "rya"), ("--max-cost", "nan"), ("--max-cost", 0)])
def test_a_refusal_comes_before_anything_is_said_of_the_design(here, wrong):
    mistake(harbor("experiment", "run", TINY, *wrong))


def test_complaints_about_the_file_of_an_experiment_call_it_one(here):
    (here / "case.toml").write_text(TINY.read_text().replace("repeats = 2", "repeat = 2"))
    with pytest.raises(ConfigError, match=r"^experiment 'case\.toml': unknown key 'repeat'"):
        experiment("case.toml")
    with pytest.raises(ConfigError, match=r"^experiment 'none\.toml' can't be read"):
        experiment("none.toml")


def test_a_run_tells_each_game_and_the_means_of_simulated_bidders(here):
    said, told = shown("run", TINY, "--out", "run", "--repeats", 1)
    assert [line.partition(":")[0] for line in told.splitlines()[1:]] == ["1 of 2 games", "2 of 2 games"]
    assert "profit: profit of a bidder, dollars (simulated bidders)" in " ".join(said.split())  # as wide as its table
    assert "2 of 2 games finished, 0 failed, seed 5 (simulated bidders)" in said
    assert said.splitlines()[-4:] == [
        "folder: run",
        "report: harbor report run",
        "look at its games: harbor view run",
        "all numbers: harbor experiment resume run --full",
    ]


def test_deviations_from_the_paper_are_told_before_the_games_and_counted_after_them(here):
    more = '[[deviations]]\nwhat = "Calls."\nwhy = "We plan."\neffect = "More thought."\n'
    (here / "other.toml").write_text(f"{TINY.read_text()}\n{more}")
    said, told = shown("run", "other.toml", "--out", "run", "--repeats", 1)
    assert told.count("deviation: Calls.\n") == 1
    assert "We plan." not in said
    assert "1 deviation from the paper: harbor experiment show run/experiment.json --full" in said.splitlines()
    assert "We plan." in shown("show", "run/experiment.json", "--full")[0]


def test_a_limit_that_is_reached_says_how_to_go_on(here):
    said, told = shown("run", TINY, "--out", "run", "--max-cost", "0.01", "--quiet", code=75)
    assert "0 of 4 games finished" in said
    assert "stopped at the limit of $0.0100: 4 games are not finished" in told
    assert "harbor experiment resume run --max-cost DOLLARS" in told


def test_failed_games_are_listed_with_their_reasons(here):
    (here / "mute.toml").write_text(TINY.read_text().replace("low_bid_rate = 0.1", "unreadable_rate = 1.0"))
    said, told = shown("run", "mute.toml", "--out", "run", "--repeats", 1, "--quiet", code=1)
    assert "0 of 2 games finished, 2 failed" in said
    assert "harbor: failed: none all 1: none of " in told
    assert "2 games failed; try them again with: harbor experiment resume run --retry-failed" in told
