"""A model that can't answer has another answer in its place, which log and ledger name; without one it is told why."""

from __future__ import annotations

import asyncio
import json

import pytest

from harbor import ModelSettings, ReplyCache
from harbor._core.basics.errors import ConfigError, ModelError, PromptTooLong, RunPaused
from harbor._core.files.layout import FAILURE
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from harbor._models.calls.faults import fault_of
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._running.experiment_folder import trial_path
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.cases import crossed
from support.commands import harbor, process
from support.folders import calls, paid
from support.formats import FORMATS, SEED, auction, config, experiment_of, spoken, told
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
        cost = (10 * call.input_tokens + 20 * call.output_tokens) / 1e6
        assert call.cost_dollars == pytest.approx(cost, rel=0.6)  # cached input may be cheaper, or dearer
        assert call.cost_dollars > (call.input_tokens + 2 * call.output_tokens) / 1e6


def test_an_outage_in_the_middle_leads_to_the_fallback_and_no_reply_is_paid_twice(server, spare, offline):
    def listen(entry):
        if isinstance(entry.event, ModelCalled) and served(server) >= 5 and not server.unavailable:
            server.fail("unavailable")

    with pytest.warns(UserWarning, match="has not answered .* answers in its place"):
        run = auction_of(models(server, spare, retry_seconds=0.3)).run(listen=listen)
    assert told(run.log) == told(offline.log)
    by = [call.fallback for call in made(run.log)]
    assert (by.count(""), by.count("other")) == (served(server), served(spare))
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


@pytest.mark.parametrize("form", FORMATS)
def test_a_prompt_that_is_too_long_goes_to_the_fallback_alone(form, server, spare, offline):
    whole = [call.input_tokens for call in made(auction(spoken(form, spare)).run().log)]
    server.context, before = sorted(whole)[len(whole) // 2], served(spare)
    run = auction_of(models(server, spare, form)).run()
    assert told(run.log) == told(offline.log)
    by = [call.fallback for call in made(run.log)]
    assert (by.count(""), by.count("other")) == (served(server), served(spare) - before)
    assert {*by} == {"", "other"}


def experiment(models, arms, **more):
    """Build a design of two arms; in the long one there are more items."""
    sale = config({}) | {"models": models}
    sizes = {"short": {}, "long": {"items": [sale["items"][0] | {"name": f"Lot {letter}"} for letter in "ABCDEFGH"]}}
    return experiment_of(sale, arms=[{"name": arm, "auction": sizes[arm]} for arm in arms], repeats=2, **more)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["asyncio", "processes"])
def test_a_prompt_that_is_too_long_fails_its_game_and_not_the_experiment(executor, server, tmp_path):
    short, design = (
        experiment({"mine": spoken("openai chat", server)}, arms) for arms in (["short"], ["short", "long"])
    )
    asyncio.run(run_experiment(short, tmp_path / "short", RunOptions(cache=False)))
    server.context = max(call["input_tokens"] for call in calls(tmp_path / "short"))
    asyncio.run(run_experiment(design, tmp_path / "run", RunOptions(executor, jobs=2, cache=False)))
    failures = [(one.arm, trial_path(tmp_path / "run", one) / FAILURE) for one in trials(design)]
    failed = [(arm, json.loads(path.read_text())["failure"]) for arm, path in failures if path.exists()]
    assert [(arm, "no prompt as long" in why) for arm, why in failed] == [("long", True)] * 2


def test_the_words_of_each_server_for_a_prompt_that_is_too_long_are_known():
    class Refused(Exception):
        status_code = 400

    for words, most in {
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens": 8192,
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.": 4096,
        "prompt is too long: 208310 tokens > 200000 maximum": 200_000,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease": 200_000,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": 1_048_576,
        "the request exceeds the available context size (4096 tokens), try increasing it": 4_096,
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length": 32_768,
        "{'code': 'context_length_exceeded', 'message': 'Please reduce the length of the messages'}": None,
        "Input is too long for requested model.": None,
        "maximum context length is 99999999999999999999 tokens": None,
    }.items():
        fault = fault_of(Refused(words))
        assert (fault.kind, fault.most_tokens) == ("long", most)
    assert fault_of(ValueError("finish reason: length")).kind == "odd"


def test_a_fallback_that_an_experiment_names_under_its_models_plays_with_the_temperature_of_the_design():
    models = {"mine": {"use": "openai:gone", "fallback": "reserve"}, "reserve": {"use": "openai:gpt-4o-mini"}}
    for trial in trials(experiment(models, ["short"], temperature=0.5)):
        assert {name: one.temperature for name, one in trial.config.models.items()} == {"mine": 0.5, "reserve": 0.5}
