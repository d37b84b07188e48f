"""Pools of keys: calls are spread over them, one that is refused is left out, and play is always the same."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter

import pytest

from harbor import ModelSettings
from harbor._core.basics.errors import ConfigError, ModelError, RunPaused
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import trial_path
from harbor.evaluation._running.runner import run_experiment
from support.commands import HARBOR, harbor, mistake, process
from support.folders import calls, paid
from support.formats import FORMATS, auction, config, experiment_of, retries, spoken, told
from support.processes import when
from support.providers import provider

NAMES = ("KEY_A", "KEY_B", "KEY_C")
KEYS = {name: f"sk-{name.lower()}-0123456789abcdef" for name in NAMES}
REVOKED = [(form, ("401", "403")[place % 2]) for place, form in enumerate(FORMATS)]
REVOKED += [(form, "quota") for form in FORMATS[:3]]  # others say the same of too many requests


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


def fated(server, **fates):
    """Say what becomes of keys, by their variables: a fault, and after how many answers."""
    server.fates = {KEYS[name]: fate if isinstance(fate, tuple) else (fate, 0) for name, fate in fates.items()}


def answered(server):
    """How many requests were answered, by variable."""
    return {name: server.answers_to(key) for name, key in KEYS.items()}


def named(log):
    return Counter(call.key_env for call in of_type(log, ModelCalled))


def assert_without_keys(folder, *texts):
    files = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    assert files
    for text in (*files, *texts):
        assert not any(key[at : at + 8] in text for key in KEYS.values() for at in range(3, len(key) - 7))


def held(form, server, names=NAMES, **more):
    return auction(spoken(form, server), api_key_env=names, **more).run()


@pytest.mark.parametrize("form", FORMATS)
def test_calls_are_spread_over_the_keys_each_with_its_own_limit_and_the_log_names_the_variable_of_each(
    form, server, offline
):
    run = held(form, server, max_concurrent=1)
    assert told(run.log) == told(offline.log)
    assert named(run.log) == answered(server)
    assert max(named(run.log).values()) - min(named(run.log).values()) <= 2
    assert server.gate.peak <= 3


@pytest.mark.parametrize(("form", "fault"), REVOKED)
def test_a_key_that_is_refused_costs_its_pool_one_key_and_one_request(form, fault, server, offline):
    fated(server, KEY_A=(fault, 3))
    with pytest.warns(UserWarning, match="the key in KEY_A is left out: model 'mine' .* is refused") as said:
        run = held(form, server)
    assert len(said) == 1
    assert told(run.log) == told(offline.log)
    assert {call.outcome for call in of_type(run.log, ModelCalled)} == {"ok"}
    assert named(run.log) == answered(server)
    assert answered(server)["KEY_A"] == 3
    assert retries(run.log) == len(server.requests) - sum(answered(server).values()) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_a_pool_with_every_key_revoked_is_refused_after_one_request_a_key_and_names_the_variables(form, server):
    fated(server, KEY_A="401", KEY_B="401", KEY_C="403")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ModelError, match="KEY_A, KEY_B, KEY_C") as refused:
        held(form, server)
    assert len(server.requests) == 3
    assert not any(key in str(refused.value) for key in KEYS.values())
    server.fates = {}
    assert named(held(form, server).log) == answered(server)  # a later run of the same process asks anew


def test_a_pool_without_a_key_that_is_left_ends_the_command_with_one_line_and_is_resumed_with_another(
    tmp_path, server, offline, monkeypatch
):
    fated(server, KEY_A=("401", 4), KEY_B=("401", 5))
    (tmp_path / "a.json").write_text(json.dumps(config(spoken("openai chat", server) | {"api_key_env": NAMES[:2]})))
    done = harbor("auction", "a.json", "--trust", "--out", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("is refused with every key of its pool: KEY_A, KEY_B") == 1
    monkeypatch.setenv("KEY_B", KEYS["KEY_C"])
    done = harbor("resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sum(answered(server).values()) == len(of_type(offline.log, ModelCalled))
    assert_without_keys(tmp_path, done.stderr, done.stdout)


@pytest.mark.studies
@pytest.mark.parametrize("executor", ["asyncio", "processes"])
def test_an_experiment_that_is_killed_in_the_middle_of_a_pool_goes_on_and_is_the_one_that_is_held_offline(
    executor, tmp_path
):
    """One key of three is revoked before, and one after; nothing is paid twice but what was under way."""

    def design(settings):
        return experiment_of(config(settings), repeats=4)

    def logs(folder):
        return [told(read_log(trial_path(folder, one) / "events.jsonl").entries) for one in trials(design({}))]

    asyncio.run(run_experiment(design({}), tmp_path / "offline"))
    [game, *_] = trials(design({}))
    with provider(seed=game.config.seed, latency=0.02) as server:
        fated(server, KEY_A=("401", 3), KEY_B=("401", 14))
        pooled = design(spoken("openai chat", server) | {"api_key_env": NAMES})
        (tmp_path / "wire.json").write_text(pooled.model_dump_json())
        words = ["--executor", executor, "--jobs", "2", "--no-cache"]
        command = [*HARBOR, "experiment", "run", "wire.json", "--trust", "--out", "run", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=tmp_path, process_group=0, **pipes) as running:
            when(lambda: sum(answered(server).values()) >= 12, running)
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate(timeout=60)
        before = sum(answered(server).values())
        done = process("experiment", "resume", "run", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert logs(tmp_path / "run") == logs(tmp_path / "offline")
    made = calls(tmp_path / "run")
    assert before < len(made)
    assert ({call["outcome"] for call in made}, {call["key_env"] for call in made}) == ({"ok"}, set(NAMES))
    assert set(paid(tmp_path / "run").values()) == {1}
    assert 0 <= sum(answered(server).values()) - len(made) <= 4  # two games with two bidders
    assert answered(server)["KEY_A"] <= 3 + 4
    if executor == "asyncio":  # workers have nobody to tell it to
        assert done.stderr.count("the key in KEY_B is left out") == 1
    assert_without_keys(tmp_path, done.stdout, done.stderr)


@pytest.mark.parametrize("fault", ["429", "503"])
def test_a_key_that_gives_no_answer_leaves_the_others_to_play(fault, server, offline):
    fated(server, KEY_B=(fault, 2))
    with pytest.warns(UserWarning, match="the key in KEY_B is left out: .* has not answered"):
        run = held("openai chat", server, retry_seconds=1.5)
    assert told(run.log) == told(offline.log)
    assert answered(server)["KEY_B"] == 2


def test_a_provider_that_answers_no_key_pauses_the_run(server):
    fated(server, KEY_A="503", KEY_B="503")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(RunPaused, match="has not answered"):
        held("openai chat", server, NAMES[:2], retry_seconds=0.2)
    server.fates = {}
    held("openai chat", server, NAMES[:2])


def test_variables_of_a_pool_that_are_not_set_are_all_named_before_anything_is_asked(server, monkeypatch, tmp_path):
    for name in ("KEY_B", "KEY_C"):
        monkeypatch.delenv(name)
    (tmp_path / "a.json").write_text(json.dumps(config(spoken("openai chat", server) | {"api_key_env": NAMES})))
    said = mistake(harbor("auction", "a.json", "--trust", cwd=tmp_path))
    assert "'mine' names environment variables that are not set: KEY_B, KEY_C; set them, or drop them" in said
    assert not server.requests


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "api_key_env"), ([7], "api_key_env"), (["KEY_A", "KEY_A"], "names a variable twice"),
        (["KEY_A", "sk-0123456789"], "api_key_env"), ("sk-0123456789", "must match the pattern"),
    ],
)  # fmt: skip
def test_a_pool_that_makes_no_sense_is_refused_without_showing_a_key(given, said):
    with pytest.raises(ConfigError, match=said) as refused:
        ModelSettings(use="openai:gpt", api_key_env=given)
    assert "0123456789" not in str(refused.value)
    assert "\n" not in str(refused.value)
