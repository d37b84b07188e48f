"""A model or a key that can't answer has another in its place, which log and ledger name; play is always the same."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter

import pytest

from harbor import ModelSettings, ReplyCache
from harbor._core.basics.errors import ConfigError, ModelError, PromptTooLong, RunPaused
from harbor._core.files.layout import FAILURE
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import trial_path
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.cases import crossed
from support.commands import HARBOR, harbor, mistake, process
from support.folders import calls, paid
from support.formats import FORMATS, SEED, auction, config, experiment_of, retries, spoken, told
from support.processes import when
from support.providers import provider

SHORT = 300
"""Tokens of a context in which only the first prompts have room."""


@pytest.fixture
def spare():
    with provider(seed=SEED) as server:
        yield server


def models(server, spare, form="openai chat", **more):
    mine = spoken(form, server) | {"input_price": 1.0, "output_price": 2.0, "fallback": "other"} | more
    return {"mine": mine, "other": spoken(form, spare) | {"input_price": 10.0, "output_price": 20.0}}


def auction_of(models):
    return auction({}).model_copy(update={"models": {name: ModelSettings(**one) for name, one in models.items()}})


def made(log):
    return of_type(log, ModelCalled)


def served(server):
    return sum(heard.status == 200 for heard in server.requests)


@pytest.mark.parametrize(("trouble", "form"), crossed(["gone", "key"], FORMATS))
def test_a_model_that_is_refused_is_asked_once_and_another_answers_in_its_place(form, trouble, server, spare, offline):
    settings = models(server, spare, form)
    if trouble == "gone":
        server.gone = [settings["mine"]["use"].partition(":")[2]]
    else:
        server.key = "another"
    with pytest.warns(UserWarning, match="model 'other' answers in its place"):
        run = auction_of(settings).run()
    assert told(run.log) == told(offline.log)
    assert len(server.requests) == 1
    assert served(spare) == len(made(run.log)) == len(made(offline.log))
    assert {(call.model, call.fallback, call.outcome) for call in made(run.log)} == {("mine", "other", "ok")}
    for call in made(run.log):
        own = (call.input_tokens + 2 * call.output_tokens) / 1e6
        assert own < call.cost_dollars == pytest.approx(10 * own, rel=0.6)  # cached input may be cheaper, or dearer


def test_an_outage_in_the_middle_leads_to_the_fallback_and_no_reply_is_paid_twice(server, spare, offline):
    def listen(entry):
        if isinstance(entry.event, ModelCalled) and served(server) >= 5 and not server.unavailable:
            server.fail("unavailable")

    with pytest.warns(UserWarning, match="has not answered .* answers in its place"):
        run = auction_of(models(server, spare, retry_seconds=0.3)).run(listen=listen)
    assert told(run.log) == told(offline.log)
    assert Counter(call.fallback for call in made(run.log)) == {"": served(server), "other": served(spare)}
    assert "failed" not in {call.outcome for call in made(run.log)}


def test_a_fallback_that_fails_too_ends_the_run_as_a_model_does(server, spare):
    server.gone = spare.gone = ["gpt-4o-mini"]
    settings = models(server, spare)
    with pytest.warns(UserWarning, match="in its place"), pytest.raises(ModelError, match=r"'other' .* is refused"):
        auction_of(settings).run()
    spare.gone = []
    spare.fail("unavailable")
    settings["other"]["retry_seconds"] = 0.2
    with pytest.raises(RunPaused, match=r"model 'other' .* has not answered"):
        auction_of(settings).run()


def test_a_fallback_that_takes_another_form_is_resumed_and_played_again(server, spare, offline, tmp_path):
    server.fates = {"none": ("401", 6)}
    spare.refuses = ("tools",)
    (tmp_path / "a.json").write_text(json.dumps(config({}) | {"models": models(server, spare)}))
    done = harbor("auction", "a.json", "--trust", "--out", "run", "--max-cost", "0.02", cwd=tmp_path)
    assert done.returncode == 75, done.stderr
    assert served(spare) > 0
    done = process("resume", "run", "--max-cost", "10", cwd=tmp_path)  # which has yet to learn the form
    assert done.returncode == 0, done.stderr
    assert told(read_log(tmp_path / "run" / "events.jsonl").entries) == told(offline.log)
    assert set(paid(tmp_path / "run").values()) == {1}
    assert {(call["fallback"], call["form"]) for call in calls(tmp_path / "run")} == {("", "tool"), ("other", "json")}
    assert harbor("verify", "run", cwd=tmp_path).returncode == 0


def test_kept_replies_of_a_fallback_are_its_own(server, spare, tmp_path):
    server.gone = ["gpt-4o-mini"]
    inputs = {"cache": ReplyCache(tmp_path / "kept")}
    with pytest.warns(UserWarning, match="in its place"):
        first = auction_of(models(server, spare)).run(**inputs)
    again = auction_of(models(server, spare)).run(**inputs)
    assert served(spare) == len(made(first.log))
    assert all(call.cached and call.fallback == "other" and not call.cost_dollars for call in made(again.log))
    server.gone = []
    own = {name: one | {"fallback": None} for name, one in models(server, spare).items()}
    auction_of(own).run(**inputs)
    assert served(server) == len(made(first.log))  # nothing that another model has said is its own


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mine": {"fallback": "othr"}}, "unknown model 'othr'; did you mean 'other'"),
        ({"mine": {"fallback": "opnai:gpt"}}, "unknown provider 'opnai'; did you mean 'openai'"),
        ({"mine": {"fallback": "mine"}}, "model 'mine' has itself as its fallback"),
        ({"other": {"fallback": "mine"}}, "which has .* itself; drop the second"),
        ({"mine": {"fallback": ""}}, "fallback"),
        ({"other": {"input_price": None}}, "the price of model 'other' is unknown"),
    ],
)
def test_a_fallback_that_makes_no_sense_or_has_no_price_under_a_limit_is_refused_before_anything_is_asked(
    changed, said, server, spare
):
    settings = {name: one | changed.get(name, {}) for name, one in models(server, spare).items()}
    with pytest.raises(ConfigError, match=said):
        auction_of(settings).run(max_cost=1)
    assert not server.requests


@pytest.mark.parametrize("form", FORMATS)
def test_a_prompt_that_is_too_long_ends_its_auction_with_the_remedy_and_teaches_the_length(form, server):
    server.context = SHORT
    with pytest.raises(PromptTooLong, match=r"takes no prompt as long as this one: .*; have fewer items, .*fallback"):
        auction(spoken(form, server)).run()
    assert len(server.requests) <= 2  # one a bidder


@pytest.mark.parametrize("form", ["openai chat", "anthropic"])
def test_a_prompt_that_is_too_long_goes_to_the_fallback_alone(form, server, spare, offline):
    whole = [call.input_tokens for call in made(auction(spoken(form, spare)).run().log)]
    server.context, before = sorted(whole)[len(whole) // 2], served(spare)
    run = auction_of(models(server, spare, form)).run()
    assert told(run.log) == told(offline.log)
    by = Counter(call.fallback for call in made(run.log))
    assert by == {"": served(server), "other": served(spare) - before}
    assert min(by.values()) > 0


@pytest.mark.slow
def test_a_prompt_that_is_too_long_fails_its_game_and_not_the_experiment(server, tmp_path):
    sale = config(spoken("openai chat", server))
    items = [sale["items"][0] | {"name": f"Lot {letter}"} for letter in "ABCDEFGH"]
    arms = [{"name": "short"}, {"name": "long", "auction": {"items": items}}]
    short, design = experiment_of(sale, arms=arms[:1], repeats=1), experiment_of(sale, arms=arms, repeats=2)
    asyncio.run(run_experiment(short, tmp_path / "short", RunOptions(cache=False)))
    server.context = max(call["input_tokens"] for call in calls(tmp_path / "short"))
    asyncio.run(run_experiment(design, tmp_path / "run", RunOptions("processes", jobs=2, cache=False)))
    failures = [(one.arm, trial_path(tmp_path / "run", one) / FAILURE) for one in trials(design)]
    failed = [(arm, json.loads(path.read_text())["failure"]) for arm, path in failures if path.exists()]
    assert [(arm, "no prompt as long" in why) for arm, why in failed] == [("long", True)] * 2


def test_a_fallback_that_an_experiment_names_under_its_models_plays_with_the_temperature_of_the_design():
    models = {"mine": {"use": "openai:gone", "fallback": "reserve"}, "reserve": {"use": "openai:gpt-4o-mini"}}
    [trial] = trials(experiment_of(config({}) | {"models": models}, temperature=0.5, repeats=1))
    assert {name: one.temperature for name, one in trial.config.models.items()} == {"mine": 0.5, "reserve": 0.5}


# ---------------------------------------------------------------- pools of keys


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
    return Counter({name: server.answers_to(key) for name, key in KEYS.items()})


def commanded(server, folder, names=NAMES):
    """Hold an auction by the command."""
    (folder / "a.json").write_text(json.dumps(config(spoken("openai chat", server) | {"api_key_env": names})))
    return harbor("auction", "a.json", "--trust", "--out", "run", cwd=folder)


def named(log):
    return Counter(call.key_env for call in made(log))


def assert_without_keys(folder, *texts):
    files = [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    assert files
    for text in (*files, *texts):
        assert not any(key[at : at + 8] in text for key in KEYS.values() for at in range(3, len(key) - 7))


def pooled(form, server, names=NAMES, **more):
    return auction(spoken(form, server), api_key_env=names, **more).run()


def test_calls_are_spread_over_the_keys_each_with_its_own_limit_and_the_log_names_the_variable_of_each(server, offline):
    run = pooled("openai chat", server, max_concurrent=1)
    assert told(run.log) == told(offline.log)
    assert named(run.log) == answered(server)
    assert max(named(run.log).values()) - min(named(run.log).values()) <= 2
    assert server.gate.peak <= 3


@pytest.mark.parametrize(("form", "fault"), REVOKED)
def test_a_key_that_is_refused_costs_its_pool_one_key_and_one_request(form, fault, server, offline):
    fated(server, KEY_A=(fault, 3))
    with pytest.warns(UserWarning, match="the key in KEY_A is left out: model 'mine' .* is refused") as said:
        run = pooled(form, server)
    assert len(said) == 1
    assert told(run.log) == told(offline.log)
    assert {call.outcome for call in made(run.log)} == {"ok"}
    assert named(run.log) == answered(server)
    assert answered(server)["KEY_A"] == 3
    assert retries(run.log) == len(server.requests) - answered(server).total() == 1


@pytest.mark.parametrize("form", ["openai chat", "google"])
def test_a_pool_with_every_key_revoked_is_refused_after_one_request_a_key_and_names_the_variables(form, server):
    fated(server, KEY_A="401", KEY_B="401", KEY_C="403")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ModelError, match="KEY_A, KEY_B, KEY_C") as refused:
        pooled(form, server)
    assert len(server.requests) == 3
    assert not any(key in str(refused.value) for key in KEYS.values())
    server.fates = {}
    assert named(pooled(form, server).log) == answered(server)  # a later run of the same process asks anew


def test_a_pool_without_a_key_that_is_left_ends_the_command_with_one_line_and_is_resumed_with_another(
    tmp_path, server, offline, monkeypatch
):
    fated(server, KEY_A=("401", 4), KEY_B=("401", 5))
    done = commanded(server, tmp_path, NAMES[:2])
    assert done.returncode == 2
    assert done.stderr.count("is refused with every key of its pool: KEY_A, KEY_B") == 1
    monkeypatch.setenv("KEY_B", KEYS["KEY_C"])
    done = harbor("resume", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert answered(server).total() == len(made(offline.log))
    assert_without_keys(tmp_path, done.stderr, done.stdout)


@pytest.mark.studies
@pytest.mark.parametrize("executor", ["asyncio", "processes"])
def test_an_experiment_that_is_killed_in_the_middle_of_a_pool_goes_on_and_is_the_one_that_is_held_offline(
    executor, tmp_path
):
    """One key of three is revoked before, and one after; nothing is paid twice but what was under way."""

    def logs(folder):
        return [told(read_log(trial_path(folder, one) / "events.jsonl").entries) for one in games]

    plain = experiment_of(config({}), repeats=4)
    games = trials(plain)
    asyncio.run(run_experiment(plain, tmp_path / "offline"))
    with provider(seed=games[0].config.seed, latency=0.02) as server:
        fated(server, KEY_A=("401", 3), KEY_B=("401", 14))
        design = experiment_of(config(spoken("openai chat", server) | {"api_key_env": NAMES}), repeats=4)
        (tmp_path / "wire.json").write_text(design.model_dump_json())
        words = ["--executor", executor, "--jobs", "2", "--no-cache"]
        command = [*HARBOR, "experiment", "run", "wire.json", "--trust", "--out", "run", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=tmp_path, process_group=0, **pipes) as running:
            when(lambda: answered(server).total() >= 12, running)
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate(timeout=60)
        before = answered(server).total()
        done = process("experiment", "resume", "run", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert logs(tmp_path / "run") == logs(tmp_path / "offline")
    recorded = calls(tmp_path / "run")
    assert before < len(recorded)
    assert ({call["outcome"] for call in recorded}, {call["key_env"] for call in recorded}) == ({"ok"}, set(NAMES))
    assert set(paid(tmp_path / "run").values()) == {1}
    assert 0 <= answered(server).total() - len(recorded) <= 4  # two games with two bidders
    assert answered(server)["KEY_A"] <= 3 + 4
    if executor == "asyncio":  # workers have nobody to tell it to
        assert done.stderr.count("the key in KEY_B is left out") == 1
    assert_without_keys(tmp_path, done.stdout, done.stderr)


@pytest.mark.parametrize("fault", ["429", "503"])
def test_a_key_that_gives_no_answer_leaves_the_others_to_play(fault, server, offline):
    fated(server, KEY_B=(fault, 2))
    with pytest.warns(UserWarning, match="the key in KEY_B is left out: .* has not answered"):
        run = pooled("openai chat", server, retry_seconds=1.5)
    assert told(run.log) == told(offline.log)
    assert answered(server)["KEY_B"] == 2


def test_a_provider_that_answers_no_key_pauses_the_run(server):
    fated(server, KEY_A="503", KEY_B="503")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(RunPaused, match="has not answered"):
        pooled("openai chat", server, NAMES[:2], retry_seconds=0.2)
    server.fates = {}
    pooled("openai chat", server, NAMES[:2])


def test_variables_of_a_pool_that_are_not_set_are_all_named_before_anything_is_asked(server, monkeypatch, tmp_path):
    for name in ("KEY_B", "KEY_C"):
        monkeypatch.delenv(name)
    said = mistake(commanded(server, tmp_path))
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
