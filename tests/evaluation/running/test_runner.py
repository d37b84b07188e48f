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
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from harbor._config.auction import read_settings
from harbor._core.asking.asks import Withdraw
from harbor._core.basics.errors import HarborError, LogError, RunFolderError
from harbor._core.files.marks import mark
from harbor._core.log.events import SCHEMA_VERSION, BiddersAsked
from harbor._core.log.log import of_type, read_log
from harbor._core.log.thoughts import Recalled
from harbor._games.policies import MinimumRaise
from harbor._runs.raw_calls import read_calls
from harbor._runs.run import paid_for
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running import executors, trial_folder
from harbor.evaluation._running.executors import RayTask
from harbor.evaluation._running.experiment_folder import make_folder, read_results, trial_path, write_results
from harbor.evaluation._running.options import ExperimentOptions
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from harbor.evaluation._running.work import Task
from harbor.memory import ChromaStore
from support.cases import some
from support.commands import HARBOR, harbor, mistake, process
from support.folders import TINY, calls, cut, filled, paid
from support.forging import lines_of, write
from support.processes import chroma_server, full_disk, when

GAMES = 4


def tiny(**auction):
    """The tiny experiment, with other settings of its auctions."""
    design = read_settings(TINY, Experiment)
    return design.model_copy(update={"auction": {**design.auction, **auction}})


def run(experiment, folder, **running):
    return asyncio.run(run_experiment(experiment, folder, RunOptions(**running)))


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


def shown(folder, *words, code=0):
    """What a command prints on stdout and stderr in a folder, where it ends with a code."""
    done = harbor("experiment", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def half_done(folder):
    """Say whether a game is finished, and another one is being held."""
    finished = filled("record.json", folder)
    return bool(finished) and bool(filled("calls.jsonl", folder) - finished)


def loading(running):
    """Say whether a worker loads what it needs, which takes a while."""
    with suppress(psutil.Error):
        workers = [one for one in psutil.Process(running.pid).children() if "spawn_main" in " ".join(one.cmdline())]
        return any(one.memory_info().rss > 30 * 2**20 for one in workers)


def same_bytes(folder, whole):
    """Say whether a run ended with the results of the one that was never interrupted, and paid no call twice."""
    is_same = (folder / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    return is_same and set(paid(folder).values()) == {1}


# ---------------------------------------------------------------- what comes out


def test_a_finished_experiment_is_left_as_it_is(begun):
    logs = {path: path.stat().st_mtime_ns for path in begun.rglob("*.jsonl")}
    heard = []
    asyncio.run(resume_experiment(begun, on_progress=lambda tally, _: heard.append(tally.finished)))
    assert heard == [GAMES]
    assert {path: path.stat().st_mtime_ns for path in begun.rglob("*.jsonl")} == logs


def test_what_was_measured_is_kept_only_as_long_as_it_is_of_the_log(begun):
    expected = read_results(begun)
    gone, cut, older, other = sorted(begun.rglob("record.json"))
    kept = json.loads(gone.read_text())
    kept["record"]["calls"] = 999
    gone.unlink()
    cut.write_text(json.dumps(kept)[:50])
    older.write_text(json.dumps(kept | {"harbor": "0.0.1"}))
    other.write_text(json.dumps(kept | {"logs": {"events.jsonl": "0" * 64}}))
    assert read_results(begun) == expected


def test_prices_are_those_of_the_day_on_which_it_was_begun(tmp_path):
    run(tiny(models={}).model_copy(update={"models": ("simulated",)}), tmp_path / "run", jobs=4)
    design = json.loads((tmp_path / "run" / "experiment.json").read_text())
    assert design["prices"] == {"simulated": dict.fromkeys(["input_price", "cached_price", "output_price"], 0.0)}
    assert {call["cost_dollars"] for call in calls(tmp_path / "run")} == {0.0}


# ---------------------------------------------------------------- failures of a game


def test_a_failed_game_is_recorded_with_its_reason_and_tried_again_where_it_may_pass_or_the_user_asks(
    whole, begun, monkeypatch
):
    first, second = (begun / "games" / "none" / "all" / name for name in ("0001", "0002"))
    for game in (first, second):
        cut(game / "events.jsonl", -2)
    before = paid(begun)
    with monkeypatch.context() as otherwise:
        otherwise.setattr(MinimumRaise, "decide", lambda *_: Withdraw())
        found = resume(begun)
    assert [game.status for game in found.records] == ["finished", "failed", "finished", "failed"]
    assert "but this run gives" in found.records[1].detail
    assert found.records[1].calls > 0
    assert read_results(begun) == found
    (first / "failure.json").write_text('{"failure": "of its own, and none that may pass"}')
    assert [game.status for game in resume(begun).records] == ["finished", "failed", "finished", "finished"]
    resume(begun, retry_failed=True)
    assert same_bytes(begun, whole)
    assert paid(begun) == before


def test_a_game_whose_model_gives_no_usable_reply_is_listed_as_failed_and_kept_beside_its_second_try(tmp_path):
    (tmp_path / "mute.toml").write_text(TINY.read_text().replace("low_bid_rate = 0.1", "unreadable_rate = 1.0"))
    for words in (["run", "mute.toml", "--out", "run", "--repeats", 1], ["resume", "run", "--retry-failed"]):
        said, told = shown(tmp_path, *words, "--quiet", code=1)
        assert "0 of 2 games finished, 2 failed" in said
        assert re.search(r"harbor: failed: none all 1: none of \d+ answers of model 'simulated' could be used", told)
        assert "2 games failed; try them again with: harbor experiment resume run --retry-failed" in told
    games = tmp_path / "run" / "games" / "adaptive" / "all"
    assert all((games / name / "events.jsonl").exists() for name in ("0001", "0001-failed-1"))


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


def zero(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


@pytest.mark.parametrize("names", [["config.json", "manifest.json"], ["config.json", "events.jsonl"], ["events.jsonl"]])
def test_a_game_of_scripts_whose_files_are_zeroed_is_played_again(tmp_path, names):
    scripts = [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben")]
    run(chosen(tiny(bidders=scripts), arms=["adaptive"]), tmp_path / "run")
    before = (tmp_path / "run" / "results.json").read_bytes()
    for name in names:
        zero(next((tmp_path / "run" / "games").rglob("0001")) / name)
    shown(tmp_path, "resume", "run", "--quiet")
    assert (tmp_path / "run" / "results.json").read_bytes() == before


def test_a_game_with_recorded_calls_is_never_removed(begun, tmp_path):
    game = begun / "games" / "none" / "all" / "0001"
    zero(game / "config.json")
    (game / "record.json").unlink()
    assert trial_folder.begun(game)
    trial_folder.clear(game)
    assert read_calls(game / "calls.jsonl")
    refused = mistake(harbor("experiment", "resume", "run", "--quiet", cwd=tmp_path))
    assert "lacks a config.json that can be read; restore it" in refused


@pytest.mark.slow
def test_a_half_series_is_gone_on_with(tmp_path):
    series = tiny(series={"auctions": 2})
    series = chosen(series.model_copy(update={"metrics": ("mean_rank",), "arms": tiny().arms[:1]}), repeats=1)
    run(series, tmp_path / "whole")
    game = shutil.copytree(tmp_path / "whole", tmp_path / "run") / "games" / "adaptive" / "all" / "0001"
    cut(game / "events.jsonl", 3)
    cut(game / "2" / "events.jsonl", 20)
    assert [game.status for game in read_results(tmp_path / "run").records] == ["unfinished"]
    resume(tmp_path / "run")
    assert results(tmp_path / "run") == results(tmp_path / "whole")


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(("old", "new", "shown"), [
    ('"simulated"\n  ],', '"openai:gpt-4o"\n  ],', "models[0] 'simulated' then, 'openai:gpt-4o' now"),
    ('"true_value": 2000', '"true_value": 3000', "auction.items[0].true_value 2000 then, 3000 now"),
    ('"seed": 5', '"seed":  5', "in its spacing"),
])  # fmt: skip
def test_a_design_that_was_changed_is_refused_and_the_difference_shown_in_one_line(begun, old, new, shown):
    text = (begun / "experiment.json").read_text()
    assert old in text
    (begun / "experiment.json").write_text(text.replace(old, new, 1))
    for do in (resume, read_results):
        with pytest.raises(RunFolderError) as refused:
            do(begun)
        assert f"was changed since the experiment began: {shown}" in str(refused.value)
        assert "\n" not in str(refused.value)


def test_another_version_of_harbor_is_refused_and_of_a_package_warned_of(begun):
    manifest = json.loads((begun / "manifest.json").read_text())
    warned = pytest.warns(UserWarning, match="langgraph '0.1' then")
    refused = pytest.raises(RunFolderError, match=r"begun with harbor 0\.0\.9, and this is")
    other_package = {"versions": manifest["versions"] | {"langgraph": "0.1"}}
    for told, changes in ((warned, other_package), (refused, {"harbor": "0.0.9"})):
        (begun / "manifest.json").write_text(json.dumps(manifest | changes))
        mark(begun)
        with told:
            resume(begun)
    assert read_results(begun).records


def test_a_game_of_another_experiment_is_refused_by_name(begun, tmp_path):
    run(chosen(tiny(), arms=["none"], repeats=1, seed=8), tmp_path / "other")
    shutil.rmtree(begun / "games" / "none" / "all" / "0001")
    shutil.copytree(tmp_path / "other" / "games" / "none" / "all" / "0001", begun / "games" / "none" / "all" / "0001")
    with pytest.raises(RunFolderError, match="none/all/0001' is not of this experiment: seed"):
        read_results(begun)


def test_a_log_that_was_edited_is_refused_by_name_and_one_of_an_earlier_schema_whatever_was_measured_of_it(begun):
    game, older = begun / "games" / "none" / "all" / "0002", {"schema": SCHEMA_VERSION - 1}
    log, record = game / "events.jsonl", game / "record.json"
    opening, *lines = lines_of(log)
    log.write_text(log.read_text().replace('"Ben"', '"Bob"', 1))
    with pytest.raises(LogError, match=r"none/all/0002/events\.jsonl' line .* was edited"):
        resume(begun)
    write(log, [opening | older, *lines])
    logs = {"events.jsonl": sha256(log.read_bytes()).hexdigest()}
    record.write_text(json.dumps(json.loads(record.read_text()) | older | {"logs": logs}))
    with pytest.raises(LogError, match=f"has schema {SCHEMA_VERSION - 1} of an earlier Harbor"):
        resume(begun)


def test_a_folder_that_another_process_runs_that_exists_or_that_has_no_experiment_is_refused(begun, tmp_path):
    with FileLock(begun / ".lock"), pytest.raises(RunFolderError, match="is being run by another process"):
        resume(begun)
    with pytest.raises(RunFolderError, match="exists; go on with: harbor experiment resume"):
        run(tiny(), begun)
    with pytest.raises(RunFolderError, match="contains no experiment"):
        resume(tmp_path)
    with pytest.raises(RunFolderError, match="is a single run, not an experiment"):
        resume(begun / "games" / "none" / "all" / "0001")


def remembering(series=True, **memory):
    """Four games of two bidders who learn and remember."""
    seats = [{"name": name, "memory": "full", "learning": True} for name in ("Ann", "Ben")]
    plan = tiny(bidders=seats, memory=memory, **({"series": {"auctions": 2}} if series else {}))
    metrics = ("series_profit",) if series else ("profit",)
    return plan.model_copy(update={"repeats": 4, "arms": plan.arms[:1], "metrics": metrics})


UNPRICED = chosen(tiny(), ["openai:no-such-model"])


@pytest.mark.parametrize(("experiment", "running", "complaint"), [
    (tiny(), {"jobs": 0}, "jobs 0 would run no trial"),
    (tiny(), {"max_cost": float("inf")}, "limit of inf dollars can't be kept"),
    (tiny(), {"executor": "ray", "address": "127.0.0.1:1"}, r"no Ray cluster at '127\.0\.0\.1:1'"),
    (tiny(memory={"embedding": "nothing"}, bidders=[{"name": "Ann", "memory": "list"}]), {}, "unknown embedding"),
    (UNPRICED, {"max_cost": 1.0}, r"price of model 'openai:no-such-model' is unknown.*input_price"),
    (remembering(store="memory"), {}, r"arm 'adaptive' share the memory .*carry_over = \"series\""),
    (remembering(store="memory", embedding="hashing"), {}, r"share the memory .*carry_over = \"series\""),
    (remembering(store="memory", carry_over="series"), {"executor": "processes"}, "can't open .*chroma run --path"),
])  # fmt: skip
def test_what_no_game_could_be_held_with_is_refused_before_anything_is_written(
    tmp_path, monkeypatch, experiment, running, complaint
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HarborError, match=complaint):
        run(experiment, tmp_path / "run", **running)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- killed, stopped, out of room


STOPS = (
    "asyncio killed", "processes killed", "asyncio ctrl-c", "processes ctrl-c", "processes early ctrl-c",
    "processes terminated, deaf to ctrl-c", "asyncio terminated, deaf to ctrl-c",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("stop", some(STOPS, ["processes killed", "asyncio ctrl-c"]))
def test_a_run_that_is_killed_or_told_to_stop_resumes_to_the_results_of_one_that_was_not(whole, tmp_path, stop):
    executor, how = stop.split(" ", 1)
    deaf = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)} if "deaf" in how else {}  # as in a job
    with started(tmp_path, "run", TINY, "--out", "run", "--jobs", 1, "--executor", executor, **deaf) as running:
        when(lambda: loading(running) if "early" in how else half_done(tmp_path / "run"), running)
        workers = psutil.Process(running.pid).children()
        if how == "killed":
            running.kill()
        elif deaf:
            running.send_signal(signal.SIGINT)
            running.send_signal(signal.SIGTERM)
        else:
            os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        _, said = running.communicate()
    if how != "killed":
        assert running.returncode == 130, said
        assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
        assert "Traceback" not in said
    assert not psutil.wait_procs(workers, timeout=60)[1]
    before = paid(tmp_path / "run")
    resume(tmp_path / "run")
    assert same_bytes(tmp_path / "run", whole)
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
    assert same_bytes(tmp_path / "run", whole)


# ---------------------------------------------------------------- money


@pytest.mark.slow
def test_a_limit_finishes_the_first_games_of_the_design_however_many_could_be_held_side_by_side(whole, tmp_path):
    costs = [game["cost"] for game in results(whole)]
    found = run(tiny(), tmp_path / "run", executor="processes", jobs=4, max_cost=sum(costs[:2]) + 1.01 * max(costs))
    assert [game.status for game in found.records] == ["finished", "finished", "finished", "unfinished"]
    assert results(tmp_path / "run")[:3] == results(whole)[:3]
    assert spent(tmp_path / "run") == pytest.approx(sum(costs[:3]))


@pytest.mark.slow
@pytest.mark.parametrize("executor", some(["asyncio", "processes"], ["asyncio"]))
def test_a_limit_holds_over_sessions_but_for_one_call_and_more_money_brings_the_run_to_its_end(
    whole, tmp_path, executor
):
    folder, limit = tmp_path / "run", 0.2 * spent(whole)
    dearest = max(call["cost_dollars"] or 0 for call in calls(whole))
    found = run(tiny(), folder, executor=executor, jobs=4, max_cost=limit)
    assert len(found.of("unfinished")) == GAMES
    assert limit <= spent(folder) < limit + dearest
    before = paid(folder)
    resume(folder, max_cost=limit, jobs=1)
    assert paid(folder) == before
    resume(folder, max_cost=2 * limit)
    assert limit < spent(folder) < 2.5 * limit
    resume(folder, max_cost=10 * limit)
    assert same_bytes(folder, whole)
    assert spent(folder) == pytest.approx(spent(whole))


# ---------------------------------------------------------------- the command line


def test_json_of_a_run_is_one_object_that_holds_all_that_the_analysis_says(tmp_path):
    asked = """
        trueskill = true
        correlations = [["priority_initial", "bids"]]
        comparisons = [{ metric = "profit", of = { arm = "adaptive" }, against = { arm = "none" } }]
    """
    (tmp_path / "asking.toml").write_text(asked + TINY.read_text().replace('metrics = ["', 'metrics = ["bids", "'))
    said, told = shown(tmp_path, "run", "asking.toml", "--out", "run", "--json")
    assert told == "harbor: model slot @1 is filled by the built-in model (simulated)\n"
    printed, analysis = json.loads(said), analyse(read_results(tmp_path / "run"))
    assert " ".join(printed) == (
        "name folder games finished failed unfinished calls input_tokens cached_tokens output_tokens cost_dollars "
        "simulated unheeded failures refusals "
        "estimates differences correlations ratings spreads variance same_seed arms"
    )
    assert (printed["games"], printed["finished"], printed["simulated"]) == (GAMES, GAMES, True)
    assert printed["cost_dollars"] == pytest.approx(spent(tmp_path / "run"))
    [difference], [made] = printed["differences"], analysis.differences
    assert difference["of"]["arm"] == "adaptive"
    assert [difference[key] for key in ("p", "p_holm", "effect")] == [made.p, made.p_holm, made.effect]
    assert [one["rho"] for one in printed["correlations"]] == [one.rho for one in analysis.correlations] != []
    assert [one["mu"] for one in printed["ratings"]] == [one.mu for one in analysis.ratings] != []


def test_a_run_tells_its_deviations_and_each_game_and_what_comes_next(tmp_path):
    deviation = '[[deviations]]\nwhat = "Calls."\nwhy = "We plan."\neffect = "More thought."\n'
    (tmp_path / "other.toml").write_text(f"{TINY.read_text()}\n{deviation}")
    said, told = shown(tmp_path, "run", "other.toml", "--out", "run", "--repeats", 1)
    assert [line.partition(":")[0] for line in told.splitlines()[-2:]] == ["1 of 2 games", "2 of 2 games"]
    assert told.count("deviation: Calls.\n") == 1
    assert "2 of 2 games finished, 0 failed, seed 5 (simulated bidders)" in said
    assert "We plan." not in said
    assert "1 deviation from the paper: harbor experiment show run/experiment.json --full" in said.splitlines()
    assert said.splitlines()[-3:] == [
        "report: harbor report run",
        "look at its games: harbor view run",
        "all numbers: harbor experiment resume run --full",
    ]
    assert "We plan." in shown(tmp_path, "show", "run/experiment.json", "--full")[0]


ON_RAY = ["--executor", "ray", "--jobs", "2"]


def at_work(running):
    """The workers that hold a game."""
    return [one for one in psutil.Process(running.pid).children(recursive=True) if one.name().startswith("ray::_run")]


@pytest.mark.studies
def test_a_killed_worker_and_ctrl_c_take_no_game_along_and_the_run_is_gone_on_with_as_far_as_the_money_goes(
    whole, tmp_path
):
    folder = tmp_path / "run"
    with started(tmp_path, "run", TINY, "--out", "run", *ON_RAY) as running:
        when(lambda: filled("calls.jsonl", folder), running)
        when(lambda: at_work(running), running)[0].kill()
        when(lambda: filled("record.json", folder), running)
        cluster = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
    assert not psutil.wait_procs(cluster, timeout=60)[1]
    models = trials(read_results(folder).experiment)[0].config.models
    before, dearest = paid_for(folder, models), 0.02
    limit = before + 0.3 * (paid_for(whole, models) - before)
    with started(tmp_path, "resume", "run", "--max-cost", limit, "--json", *ON_RAY) as running:
        said, complaints = running.communicate()
    assert running.returncode == 75, complaints
    assert json.loads(said)["unfinished"] > 0
    assert before < paid_for(folder, models) < limit + 2 * dearest
    resume(folder, executor="asyncio", max_cost=1_000.0)
    assert same_bytes(folder, whole)


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


@pytest.mark.slow
def test_games_come_back_from_a_machine_that_does_not_see_the_folder_and_a_half_one_is_gone_on_with_there(
    whole, elsewhere
):
    folder, tasks = elsewhere
    assert sent(replace(tasks[0], dollars=0.04)).record is None
    before = paid(folder)
    assert before
    for task in tasks:
        assert sent(task).record
    write_results(folder, read_results(folder))
    assert results(folder) == results(whole)
    assert before < paid(folder)
    assert set(paid(folder).values()) == {1}
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.rglob("calls.jsonl"))


@pytest.mark.slow
def test_a_worker_with_another_version_is_refused(elsewhere):
    _, [task, *_] = elsewhere
    with pytest.raises(RunFolderError, match=r"not 0\.0\.1; install the same"):
        executors._run(RayTask(task, "token", "0.0.1", {}))


def recalled(folder):
    """How many memories came back in each auction, those of a series one after the other."""
    logs = [read_log(log).entries for log in sorted(folder.glob("games/adaptive/all/**/events.jsonl"))]
    return [[len(one.memories) for one in of_type(log, Recalled)] for log in logs if of_type(log, BiddersAsked)]


def found(folder):
    """The results of an experiment, and how many memories came back."""
    return results(folder), recalled(folder)


@pytest.mark.slow
def test_games_side_by_side_in_one_folder_come_to_what_games_with_a_store_each_come_to(tmp_path):
    run(remembering(), tmp_path / "apart")
    run(remembering(store=str(tmp_path / "memory"), carry_over="series"), tmp_path / "shared", jobs=4)
    assert found(tmp_path / "shared") == found(tmp_path / "apart")
    assert sum(map(any, recalled(tmp_path / "shared"))) == 4  # the second auction of each
    with ChromaStore(tmp_path / "memory", embedding=None) as store:  # nobody holds it any longer
        assert len({namespace[0] for namespace in store.list_namespaces(limit=100)}) == 4


@pytest.mark.slow
def test_games_share_a_memory_that_is_only_read(tmp_path):
    run(remembering(store=str(tmp_path / "memory"), carry_over="series"), tmp_path / "first")
    assert not any(map(any, recalled(tmp_path / "first")[::2]))
    run(remembering(series=False, store=str(tmp_path / "memory"), frozen=True), tmp_path / "later")
    assert len(recalled(tmp_path / "later")) == 4


@pytest.mark.studies
def test_games_in_several_processes_share_a_chroma_server(tmp_path):
    address, server = chroma_server(tmp_path / "served")
    try:
        run(remembering(), tmp_path / "apart")
        run(remembering(store=address, carry_over="series"), tmp_path / "shared", executor="processes", jobs=2)
    finally:
        server.kill()
        server.wait()
    assert found(tmp_path / "shared") == found(tmp_path / "apart")
