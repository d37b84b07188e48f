"""Experiments whose calls go out in batches: the results of live calls, at half the price, and nothing paid twice."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import subprocess
from pathlib import Path

import pytest

from harbor._core.basics.errors import ConfigError, ModelError
from harbor._core.files.layout import BATCHES
from harbor._models.passports.passport import FOLDER, passports_in
from harbor._models.replies import cache
from harbor._models.replies.reply_folder import own_folder
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.cases import crossed, some
from support.commands import HARBOR, harbor, mistake
from support.folders import calls
from support.formats import experiment_of
from support.processes import when
from support.providers import STUCK, TRANSIENT, Faults, Provider, provider

KEY = "batch-key-that-nobody-may-read-0123456789"
OPENAI, ANTHROPIC = "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"
LIVE, BATCH = RunOptions(cache=False), RunOptions(cache=False, lane="batch")
PASSING = [kind for kind in TRANSIENT if kind not in STUCK]
SESSION = {"rules": {"game": "second-price", "runs": 2}}


@pytest.fixture
def host(monkeypatch, tmp_path):
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    with provider(seed=5, key=KEY) as server:
        server.mind.keeps_prompts = False  # what is read again costs less, and that hangs on the order of calls
        for name, url in (("OPENAI", server.openai_url), ("ANTHROPIC", server.anthropic_url)):
            monkeypatch.setenv(f"{name}_BASE_URL", url)
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
        yield server


def design(use: str = OPENAI, **more: object) -> Experiment:
    """Give sessions with one model seat."""
    bidders = [{"name": "Model", "model": use}, {"name": "Rule", "rule": "rational"}]
    plain = {"name": "batches", "metrics": ["payoff"], "repeats": 3, "same_seed": False}
    return experiment_of(SESSION | {"bidders": bidders}, **plain | more)


def run(out: Path, use: str = OPENAI, options: RunOptions = LIVE, **more: object) -> None:
    asyncio.run(run_experiment(design(use, **more), out, options))


def submitted(host: Provider) -> int:
    """Count the requests of all jobs that the provider has."""
    return sum(len(job.asked) for job in host.batches.jobs.values())


def longest_chain(folder: Path) -> int:
    """Count the calls of the game with the most; its one model seat makes one at a time."""
    return max(len(path.read_text().splitlines()) for path in folder.rglob("calls.jsonl"))


def games(folder: Path) -> list[dict[str, object]]:
    return json.loads((folder / "results.json").read_text())["games"]


def numbers(folder: Path) -> list[dict[str, object]]:
    """Read what was measured of each game, but for what it has cost."""
    return [{name: value for name, value in game.items() if name != "cost"} for game in games(folder)]


@pytest.mark.slow
@pytest.mark.parametrize("use", [OPENAI, ANTHROPIC])
def test_batches_give_the_results_of_live_calls_at_half_the_price_and_leave_no_key_on_disk(host, tmp_path, use):
    run(tmp_path / "live", use)
    before, [known] = len(host.requests), passports_in(own_folder() / FOLDER)
    host.batches.polls = 2
    run(tmp_path / "batch", use, BATCH)
    assert numbers(tmp_path / "batch") == numbers(tmp_path / "live")
    assert {one.seconds for one in passports_in(own_folder() / FOLDER)} <= {
        0,
        known.seconds,
    }  # a job's wait says nothing
    batch, live = (sum(game["cost"] for game in games(tmp_path / lane)) for lane in ("batch", "live"))
    assert batch == pytest.approx(live / 2, rel=1e-9)
    assert not [one for one in host.requests[before:] if one.path in ("/v1/chat/completions", "/v1/messages")]
    assert len(host.batches.jobs) == longest_chain(tmp_path / "batch")
    assert submitted(host) == len(calls(tmp_path / "batch"))
    assert (tmp_path / "batch" / BATCHES).stat().st_mode & 0o777 == 0o600
    for file in (tmp_path / "batch").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


@pytest.mark.slow
def test_an_added_arm_of_the_other_provider_goes_out_beside_the_first(host, tmp_path):
    models = {"left": OPENAI, "right": ANTHROPIC}
    arms = [{"name": name, "auction": {"bidders": {"Model": {"model": use}}}} for name, use in models.items()]
    run(tmp_path / "run", options=BATCH, arms=arms, repeats=2)
    assert len(host.batches.jobs) == 2 * longest_chain(tmp_path / "run")
    for job in host.batches.jobs.values():
        assert len({body["model"] for _, body in job.asked.values()}) == 1


@pytest.mark.slow
def test_games_that_ask_the_same_wait_for_one_item_however_long_the_job_takes(host, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "LONGEST_WAIT", 0.01)
    host.batches.polls = 2
    patient = {"bidders": {"Model": {"timeout_seconds": 119}}}
    arms = [{"name": "left"}, {"name": "right", "auction": patient}]
    run(tmp_path / "run", options=RunOptions(lane="batch"), arms=arms, temperature=0.0)
    made = [call for call in calls(tmp_path / "run") if not call["cached"]]
    assert submitted(host) == len(made) <= len(calls(tmp_path / "run")) / 2
    assert len(host.batches.jobs) == longest_chain(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(("use", "kinds"), crossed([OPENAI, ANTHROPIC], [PASSING, ("500", "529", "429 bare")]))
def test_items_and_requests_that_fail_are_asked_again_and_change_nothing(host, tmp_path, use, kinds):
    run(tmp_path / "whole", use, BATCH, repeats=6)
    paid = submitted(host)
    host.faults = Faults(kinds, 0.2, retry_after=0.1)
    run(tmp_path / "faulty", use, BATCH, repeats=6)
    host.faults = None
    assert numbers(tmp_path / "faulty") == numbers(tmp_path / "whole")
    made = calls(tmp_path / "faulty")
    assert {call["outcome"] for call in made} == {"ok"}
    retried = sum(call["retries"] for call in made)
    assert submitted(host) - paid == len(made) + retried
    assert retried or kinds == PASSING  # of which most are not of items


@pytest.mark.slow
def test_a_job_that_is_too_large_for_the_account_goes_out_in_halves(host, tmp_path):
    run(tmp_path / "whole")
    host.batches.most_queued = 2
    run(tmp_path / "run", options=BATCH, repeats=5)
    assert numbers(tmp_path / "run")[:3] == numbers(tmp_path / "whole")
    answered = [job for job in host.batches.jobs.values() if len(job.asked) <= 2]
    assert sum(len(job.asked) for job in answered) == len(calls(tmp_path / "run"))


def test_a_refused_job_ends_the_run_with_the_words_of_the_provider(host, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(ModelError, match="Incorrect API key"):
        run(tmp_path / "run", options=BATCH, repeats=2)
    assert len(host.requests) == 1
    assert not host.batches.jobs


# ---------------------------------------------------------------- interruptions


def started(folder: Path, use: str, number: int) -> subprocess.Popen[str]:
    """Start the sessions in a process of its own, and wait until so many jobs have been submitted."""
    (folder / "design.json").write_text(design(use).model_dump_json())
    command = [*HARBOR, "experiment", "run", "design.json", "--trust", "--out", "run", "--lane", "batch"]
    running = subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    file = folder / "run" / BATCHES
    when(lambda: file.exists() and file.read_text().count('"sent"') >= number, running)
    return running


# each pair of values, as no three of them have to do with one another
KILLED = [(3, ANTHROPIC, True), (1, OPENAI, True), (3, OPENAI, False), (1, ANTHROPIC, False)]


@pytest.mark.slow
@pytest.mark.parametrize("killed", some(KILLED, KILLED[:1]), ids=str)
def test_a_run_that_is_killed_between_waves_resumes_to_equal_results_and_submits_nothing_twice(host, tmp_path, killed):
    number, use, heard = killed
    run(tmp_path / "whole", use)
    host.batches.polls = 5  # some seconds
    with started(tmp_path, use, number) as running:
        running.kill()
    assert [job.lines for job in host.batches.jobs.values()][-1] is None
    host.batches.polls = 0
    if not heard:  # it was killed before it could note the answer to what it submitted
        lines = (tmp_path / "run" / BATCHES).read_bytes().splitlines(keepends=True)
        assert b'"sent"' in lines[-1]
        (tmp_path / "run" / BATCHES).write_bytes(b"".join(lines[:-1]))
    asyncio.run(resume_experiment(tmp_path / "run", BATCH))
    assert numbers(tmp_path / "run") == numbers(tmp_path / "whole")
    assert submitted(host) == len(calls(tmp_path / "run"))
    assert len(host.batches.jobs) == longest_chain(tmp_path / "run")


@pytest.mark.slow
def test_a_run_that_is_stopped_while_a_job_is_out_says_how_to_collect_it(host, tmp_path):
    host.batches.polls = math.inf
    with started(tmp_path, OPENAI, 1) as running:
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate()
    assert running.returncode == 130
    assert "batch batch_1: submitted 3 calls; 1 batch is out" in told
    assert told.splitlines()[-1].endswith("resume with: harbor experiment resume run")
    host.batches.polls = 0
    complaint = mistake(harbor("experiment", "resume", tmp_path / "run", "--lane", "live"))
    assert "has batches that nobody has collected" in complaint
    assert len(host.batches.jobs) == 1
    before = len(host.requests)
    assert harbor("experiment", "resume", tmp_path / "run").returncode == 0
    assert not [one for one in host.requests[before:] if one.path == "/v1/chat/completions"]
    assert submitted(host) == sum(call["outcome"] == "ok" for call in calls(tmp_path / "run"))


# ---------------------------------------------------------------- what can't be


@pytest.mark.parametrize("use", ["ollama:llama3.2", "google_genai:gemini-2.5-flash", "chats:make"])
def test_a_model_that_takes_no_batches_is_refused_by_name_before_anything_is_written(tmp_path, monkeypatch, use):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with pytest.raises(ConfigError, match=use.partition(":")[0]):
        run(tmp_path / "run", use, BATCH)
    assert not (tmp_path / "run").exists()
    run(tmp_path / "simulated", "simulated", BATCH, repeats=1)
    assert not (tmp_path / "simulated" / BATCHES).exists()
