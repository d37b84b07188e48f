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
from harbor._core.basics.errors import HarborError, LogError, RunFolderError
from harbor._core.files.marks import mark
from harbor._core.log.events import SCHEMA_VERSION
from harbor._games.policies import MinimumRaise
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.cases import some
from support.commands import HARBOR, harbor, process
from support.folders import TINY, calls, cut, filled, paid
from support.forging import lines_of, write
from support.processes import full_disk, when

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


def half_done(folder):
    """Say whether a game is finished, and another one is being held."""
    finished = filled("record.json", folder)
    return bool(finished) and bool(filled("calls.jsonl", folder) - finished)


def workers_of(running, is_one):
    """The processes in which games are held that are so, but for those that are just dying."""
    found = []
    for child in psutil.Process(running.pid).children():
        with suppress(psutil.Error):
            found += [child] if "spawn_main" in " ".join(child.cmdline()) and is_one(child) else []
    return found


def same_bytes(folder, whole):
    """Say whether a run ended with the results of the one that was never interrupted, and paid no call twice."""
    is_same = (folder / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    return is_same and set(paid(folder).values()) == {1}


@pytest.fixture
def begun(whole, tmp_path):
    """A copy of a finished run, to be spoilt."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


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


def test_a_failed_game_is_recorded_with_its_reason_and_stays_failed_unless_it_is_to_be_tried_again(whole, derailed):
    shutil.rmtree(derailed / "games" / "none" / "all" / "0002")
    found = resume(derailed)
    assert [game.status for game in found.records] == ["finished", "failed", "finished", "finished"]
    assert "events.jsonl' line" in found.records[1].detail
    assert found.records[1].calls > 0
    assert read_results(derailed) == found
    game = derailed / "games" / "none" / "all" / "0001"
    (game / "failure.json").write_text('{"failure": "of its own, and none that may pass"}')
    (derailed / "calls.jsonl").replace(game / "calls.jsonl")
    assert resume(derailed).records[1].status == "failed"
    before = paid(derailed)
    resume(derailed, retry_failed=True)
    assert same_bytes(derailed, whole)
    assert paid(derailed) == before


def test_a_model_that_gives_no_usable_reply_is_a_failed_game_which_is_kept_beside_its_second_try(tmp_path):
    mute = {"simulated": {"simulated": {"unreadable_rate": 1.0}}}
    found = run(tiny(models=mute).model_copy(update={"repeats": 1}), tmp_path / "run")
    assert {game.status for game in found.records} == {"failed"}
    assert re.match("none of [0-9]+ answers of model 'simulated' could be used", found.records[0].detail)
    assert found.records[0].calls > 0
    resume(tmp_path / "run", retry_failed=True)
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


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ('"simulated"\n  ],', '"openai:gpt-4o"\n  ],', "models[0] 'simulated' then, 'openai:gpt-4o' now"),
        ('"true_value": 2000', '"true_value": 3000', "auction.items[0].true_value 2000 then, 3000 now"),
        ('"seed": 5', '"seed":  5', "in its spacing"),
    ],
)
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
    for changes in ({"harbor": "0.0.9"}, {"versions": manifest["versions"] | {"langgraph": "0.1"}}):
        (begun / "manifest.json").write_text(json.dumps(manifest | changes))
        mark(begun)
        if "harbor" in changes:
            with pytest.raises(RunFolderError, match=r"begun with harbor 0\.0\.9, and this is"):
                resume(begun)
            assert read_results(begun).records
        else:
            with pytest.warns(UserWarning, match="langgraph '0.1' then"):
                resume(begun)


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


def test_a_game_that_could_not_be_played_again_is_tried_again_by_resuming(whole, begun, monkeypatch):
    cut(begun / "games" / "none" / "all" / "0002" / "events.jsonl", -2)
    with monkeypatch.context() as otherwise:
        otherwise.setattr(MinimumRaise, "decide", lambda *_: Withdraw())
        [failed] = resume(begun).of("failed")
    assert "but this run gives" in failed.detail
    resume(begun)
    assert results(begun) == results(whole)


def test_a_folder_that_another_process_runs_that_exists_or_that_has_no_experiment_is_refused(begun, tmp_path):
    with FileLock(begun / ".lock"), pytest.raises(RunFolderError, match="is being run by another process"):
        resume(begun)
    with pytest.raises(RunFolderError, match="exists; go on with: harbor experiment resume"):
        run(tiny(), begun)
    with pytest.raises(RunFolderError, match="contains no experiment"):
        resume(tmp_path)
    with pytest.raises(RunFolderError, match="is a single run, not an experiment"):
        resume(begun / "games" / "none" / "all" / "0001")


FORGETFUL = {"memory": {"embedding": "nothing"}, "bidders": [{"name": "Ann", "memory": "list"}]}
UNPRICED = r"price of model 'openai:no-such-model' is unknown.*input_price"


@pytest.mark.parametrize(
    ("experiment", "running", "complaint"),
    [
        (tiny(), {"jobs": 0}, "jobs 0 would run no trial"),
        (tiny(), {"max_cost": float("nan")}, "limit of nan dollars can't be kept"),
        (tiny(), {"max_cost": float("inf")}, "limit of inf dollars can't be kept"),
        (tiny(**FORGETFUL), {}, "unknown embedding"),
        (chosen(tiny(), ["openai:no-such-model"]), {"max_cost": 1.0}, UNPRICED),
    ],
)
def test_what_no_game_could_be_held_with_is_refused_before_anything_is_written(
    tmp_path, experiment, running, complaint
):
    with pytest.raises(HarborError, match=complaint):
        run(experiment, tmp_path / "run", **running)
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- killed, stopped, out of room


@pytest.mark.slow
@pytest.mark.parametrize("executor", some(["asyncio", "processes"], ["processes"]))
def test_a_killed_run_resumes_to_the_results_of_one_that_was_not(whole, tmp_path, executor):
    with started(tmp_path, "run", TINY, "--out", "run", "--jobs", 1, "--executor", executor) as running:
        when(lambda: half_done(tmp_path / "run"), running)
        workers = psutil.Process(running.pid).children()
        running.kill()
    assert not psutil.wait_procs(workers, timeout=60)[1]
    before = paid(tmp_path / "run")
    resume(tmp_path / "run")
    assert same_bytes(tmp_path / "run", whole)
    assert before <= paid(tmp_path / "run")


@pytest.mark.studies
def test_a_worker_that_is_killed_takes_no_game_along(whole, tmp_path):
    words = ["run", TINY, "--out", "run", "--jobs", 2, "--executor", "processes", "--json"]
    with started(tmp_path, *words) as running:
        when(lambda: half_done(tmp_path / "run"), running)
        workers_of(running, lambda _: True)[0].kill()
        said, complaints = running.communicate()
    assert running.returncode == 0, complaints
    assert json.loads(said)["finished"] == GAMES
    assert same_bytes(tmp_path / "run", whole)


def test_a_game_that_costs_three_workers_is_a_failed_one_and_the_others_go_on(tmp_path):
    (tmp_path / "slow.toml").write_text(TINY.read_text().replace("latency_seconds = 0.03", "latency_seconds = 0.2"))
    words = ["run", "slow.toml", "--out", "run", "--jobs", 1, "--repeats", 1, "--executor", "processes", "--json"]
    doomed = str(tmp_path / "run" / "games" / "adaptive")

    def holds_it(worker):
        return any(opened.path.startswith(doomed) for opened in worker.open_files())

    with started(tmp_path, *words) as running:
        for _ in range(3):
            [worker] = when(lambda: workers_of(running, holds_it), running)
            worker.kill()
            worker.wait()
        said, complaints = running.communicate()
    assert running.returncode == 1, complaints
    assert (json.loads(said)["finished"], json.loads(said)["failed"]) == (1, 1)
    assert json.loads(said)["failures"][0]["detail"].startswith("its worker died 3 times")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "how"),
    [
        ("asyncio", "ctrl-c"), pytest.param("processes", "ctrl-c", marks=pytest.mark.studies),
        pytest.param("processes", "early ctrl-c", marks=pytest.mark.studies),
        pytest.param("processes", "terminated, deaf to ctrl-c", marks=pytest.mark.studies),
        pytest.param("asyncio", "terminated, deaf to ctrl-c", marks=pytest.mark.studies),
    ],
)  # fmt: skip
def test_a_run_that_is_told_to_stop_says_how_it_is_resumed(whole, tmp_path, executor, how):
    deaf = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)} if "deaf" in how else {}  # as in a job
    with started(tmp_path, "run", TINY, "--out", "run", "--jobs", 1, "--executor", executor, **deaf) as running:
        if "early" in how:  # a worker loads what it needs, which takes a while
            when(lambda: workers_of(running, lambda worker: worker.memory_info().rss > 30 * 2**20), running)
        else:
            when(lambda: half_done(tmp_path / "run"), running)
        workers = psutil.Process(running.pid).children()
        if deaf:
            running.send_signal(signal.SIGINT)
            running.send_signal(signal.SIGTERM)
        else:
            os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        _, said = running.communicate()
    assert running.returncode == 130, said
    assert said.endswith("harbor: stopped; resume with: harbor experiment resume run\n")
    assert "Traceback" not in said
    assert not psutil.wait_procs(workers, timeout=60)[1]
    assert "early" in how or list((tmp_path / "run").rglob("record.json"))
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


@pytest.mark.parametrize("executor", some(["asyncio", "processes"], ["asyncio"]))
def test_a_limit_that_pays_for_no_game_is_overdrawn_by_no_more_than_a_call(whole, tmp_path, executor):
    limit = 0.2 * spent(whole)
    found = run(tiny(), tmp_path / "run", executor=executor, jobs=4, max_cost=limit)
    dearest = max(call["cost_dollars"] or 0 for call in calls(whole))
    assert len(found.of("unfinished")) == GAMES
    assert limit <= spent(tmp_path / "run") < limit + dearest
    assert set(paid(tmp_path / "run").values()) == {1}


@pytest.mark.slow
def test_a_limit_finishes_the_first_games_of_the_design_however_many_could_be_held_side_by_side(whole, tmp_path):
    costs = [game["cost"] for game in results(whole)]
    found = run(tiny(), tmp_path / "run", executor="processes", jobs=4, max_cost=sum(costs[:2]) + 1.01 * max(costs))
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
    assert same_bytes(folder, whole)
    assert spent(folder) == pytest.approx(spent(whole))


# ---------------------------------------------------------------- the command line


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """What a command prints on stdout and stderr here, where a design with a deviation is, once it ends with a code."""
    more = '[[deviations]]\nwhat = "Calls."\nwhy = "We plan."\neffect = "More thought."\n'
    (tmp_path / "other.toml").write_text(f"{TINY.read_text()}\n{more}")
    monkeypatch.chdir(tmp_path)

    def show(*words, code=0):
        done = harbor("experiment", *words)
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    return show


def test_json_of_a_run_is_one_object_that_holds_all_that_the_analysis_says(shown):
    asked = """
        trueskill = true
        correlations = [["priority_initial", "bids"]]
        comparisons = [{ metric = "profit", of = { arm = "adaptive" }, against = { arm = "none" } }]
    """
    Path("asking.toml").write_text(asked + TINY.read_text().replace('metrics = ["', 'metrics = ["bids", "'))
    said, told = shown("run", "asking.toml", "--out", "run", "--json")
    assert told == "harbor: model slot @1 is filled by the built-in model (simulated)\n"
    printed, analysis = json.loads(said), analyse(read_results(Path("run")))
    assert " ".join(printed) == (
        "name folder games finished failed unfinished calls input_tokens cached_tokens output_tokens cost_dollars "
        "simulated unheeded failures refusals "
        "estimates differences correlations ratings spreads variance same_seed arms"
    )
    assert (printed["games"], printed["finished"], printed["simulated"]) == (GAMES, GAMES, True)
    assert printed["cost_dollars"] == pytest.approx(spent(Path("run")))
    [difference], [made] = printed["differences"], analysis.differences
    assert difference["of"]["arm"] == "adaptive"
    assert [difference[key] for key in ("p", "p_holm", "effect")] == [made.p, made.p_holm, made.effect]
    assert [one["rho"] for one in printed["correlations"]] == [one.rho for one in analysis.correlations] != []
    assert [one["mu"] for one in printed["ratings"]] == [one.mu for one in analysis.ratings] != []


def test_a_run_tells_its_deviations_and_each_game_and_what_comes_next(shown):
    said, told = shown("run", "other.toml", "--out", "run", "--repeats", 1)
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
    assert "We plan." in shown("show", "run/experiment.json", "--full")[0]


def test_failed_games_are_listed_with_their_reasons(shown):
    Path("mute.toml").write_text(TINY.read_text().replace("low_bid_rate = 0.1", "unreadable_rate = 1.0"))
    said, told = shown("run", "mute.toml", "--out", "run", "--repeats", 1, "--quiet", code=1)
    assert "0 of 2 games finished, 2 failed" in said
    assert "harbor: failed: none all 1: none of " in told
    assert "2 games failed; try them again with: harbor experiment resume run --retry-failed" in told
