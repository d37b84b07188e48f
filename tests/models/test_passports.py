"""What is learned of a model at its first calls: it is kept, goes with each call, and nothing is paid unseen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from harbor import Auction, ModelSettings, ReplyCache
from harbor._core.basics.errors import ModelError
from harbor._core.log.events import NO_REQUESTS, ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.forms import refused_in
from harbor._models.passports.passport import FOLDER, Answer, Known, Passport, known_of, passports_in
from harbor._models.replies.cache import plain
from harbor._models.replies.reply_folder import own_folder
from harbor._runs.series import resume
from support import formats
from support.commands import harbor
from support.formats import SEED, told
from support.providers import Provider, provider


def auction(server: Provider, **settings: object) -> Auction:
    return formats.auction({"use": "openai:local", "base_url": server.openai_url} | settings)


ANY_FORM = ("tools", "response_format")
OWN = {"temperature": 0, "api_key_env": "OPENAI_API_KEY"}


def calls(run) -> list[ModelCalled]:
    return of_type(run.log, ModelCalled)


def only() -> Passport:
    [found] = passports_in(own_folder() / FOLDER)
    return found


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")


@pytest.mark.parametrize(
    ("refuses", "form"),
    [(["tool_choice.required"], "json"), (["temperature"], "tool"), (["temperature", *ANY_FORM], "text")],
)
def test_what_a_server_refuses_is_left_out_from_the_second_run_on_until_it_refuses_more(refuses, form):
    with provider(seed=SEED, refuses=refuses) as server:
        first = auction(server, temperature=0).run()
        before = len(server.requests)
        second = auction(server, temperature=0).run()
        untaken = ("temperature",) if "temperature" in refuses else ()
        assert (only().form, only().not_taken) == (form, untaken)
        for run in (first, second):
            assert {(call.outcome, call.not_taken) for call in calls(run)} == {("ok", untaken)}
        assert first.standings == second.standings
        assert [heard.status for heard in server.requests[before:]] == [200] * len(calls(second))
        server.refuses = ANY_FORM  # a form that it no longer takes is corrected
        assert {call.outcome for call in calls(auction(server).run())} == {"ok"}
        assert only().form == "text"


def test_requests_that_found_the_form_out_stand_in_the_ledger_to_the_token():
    with provider(seed=SEED, ignores=["tools"]) as server:
        made = calls(auction(server, input_price=1.0, output_price=1.0).run())
        served = [heard for heard in server.requests if heard.status == 200]
    read, written = sum(heard.read for heard in served), sum(heard.written for heard in served)
    probes = sum((call.probes for call in made), NO_REQUESTS)
    assert len(served) - len(made) == probes.requests > 0
    assert sum(call.input_tokens for call in made) + probes.input_tokens == read
    assert sum(call.output_tokens for call in made) + probes.output_tokens == written
    dollars = sum(call.cost_dollars for call in made) + probes.cost_dollars
    assert dollars == pytest.approx((read + written) / 1_000_000)


@pytest.mark.parametrize("refuses", [[], ["temperature", "tools"]])
def test_cold_and_warm_runs_with_and_without_a_passport_play_alike(refuses):
    with provider(seed=SEED, refuses=refuses) as server:
        cold = auction(server, temperature=0).run(cache=ReplyCache())
        paid = len(server.requests)
        warm = auction(server, temperature=0).run(cache=ReplyCache())
        shutil.rmtree(own_folder() / FOLDER)
        unknown = auction(server, temperature=0).run(cache=ReplyCache())
        assert len(server.requests) == paid
    for run in (warm, unknown):
        assert run.standings == cold.standings
        assert ways(run) == ways(cold)


def ways(run) -> list[tuple[object, ...]]:
    return [(call.form, call.not_taken, call.outcome) for call in calls(run)]


def test_neither_another_seed_where_no_temperature_is_taken_nor_a_wish_that_may_be_is_answered_from_the_cache(server):
    with provider(seed=SEED, refuses=["temperature"]) as refusing:
        auction(refusing, temperature=0).run(cache=ReplyCache())
        other = auction(refusing, temperature=0).model_copy(update={"seed": SEED + 1})
        assert not any(call.cached for call in calls(other.run(cache=ReplyCache())))
    auction(server).run(cache=ReplyCache())
    shutil.rmtree(own_folder() / FOLDER)
    assert not any(call.cached for call in calls(auction(server, temperature=0.7).run(cache=ReplyCache())))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1).", "temperature"),
        ("Unsupported parameter: 'max_completion_tokens' is not supported with this model.", "max_tokens"),
        ("`temperature` may only be set to 1 when thinking is enabled", "temperature"),
        ("body.top_p: Extra inputs are not permitted", "extra.top_p"),
        ('Invalid JSON payload received. Unknown name "seed"', "seed"),
        ("temperature must be between 0 and 1", ""), ("Unsupported parameter: 'tools'", ""),
        ("Unsupported value: 'reasoning_effort'. Supported values are: 'low', 'high'.", ""),
    ],
)  # fmt: skip
def test_only_a_refusal_of_a_setting_as_such_takes_it_out(words, name):
    wished = {"temperature": 0, "max_tokens": 5, "seed": 1, "reasoning": "low", "extra": {"top_p": 0.5}}
    assert refused_in(words, ModelSettings(use="openai:local", **wished)) == name


def test_a_passport_is_private_and_a_broken_one_or_one_of_another_server_is_passed_over(tmp_path):
    assert plain("https://me:secret@host.example:8000/v1/?key=secret") == "https://host.example:8000/v1"
    server = "http://one/v1"
    broken = [b"", b"{", b"[]", b"x" * 50_000, b'{"server": "a", "model": "b", "calls": -1}']
    known_of(tmp_path, server, "m").learn(form="json")
    [file] = tmp_path.glob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    for number, wrong in enumerate([*broken, file.read_bytes().replace(b"//one", b"//other")]):
        (folder := tmp_path / str(number)).mkdir()
        (folder / file.name).write_bytes(wrong)
        with pytest.warns(UserWarning, match="it is (no|the) passport"):
            assert known_of(folder, server, "m").passport == Passport(server, "m")


def test_counters_are_written_at_powers_of_two_and_what_others_have_learned_meanwhile_is_kept():
    first = known_of(own_folder() / FOLDER, "openai", "m")
    Known(Passport("openai", "m"), first.save).learn(form="json", context_tokens=9)
    first.learn(thinks=("tags",))
    assert (only().form, only().context_tokens, only().thinks) == ("json", 9, ("tags",))
    written = []
    first.save = lambda passport: written.append(passport.calls)
    for _ in range(20):
        first.answered(Answer(1.0, 10, 4, ("tokens",), "m-1"))
    assert written == [1, 2, 4, 8, 16]
    counted = first.passport
    assert (counted.output_tokens, counted.seconds, counted.slowest) == (200, 20.0, 1.0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_where_nothing_can_be_written_a_process_knows_all_the_same(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.warns(UserWarning, match="can't be kept"):
        known_of(tmp_path, "openai", "m").learn(form="json")
    assert known_of(tmp_path, "openai", "m").passport.form == "json"


def test_the_command_shows_what_was_learned():
    assert "Nothing is known of any model yet" in harbor("models").stdout
    with provider(seed=SEED, refuses=["temperature"], thought=50) as server:
        made = calls(auction(server, temperature=0).run())
    [told] = json.loads(harbor("models", "--json").stdout)["models"]
    facts = {"server": server.openai_url, "model": "local", "form": "tool", "not_taken": ["temperature"]}
    assert (facts | {"thinks": ["tokens"]}).items() <= told.items()
    assert told["calls"] >= len(made) / 2
    assert str(own_folder()) in harbor("models").stdout


SALE = """
items = [{{name = "Lot A", start = 1000, true_value = 2000}}]
bidders = [{{name = "Ann", model = "mine"}}]
[models.mine]
use = "{use}"
"""


@pytest.mark.parametrize(
    ("use", "own", "words"),
    [
        ("openai:gpt-5-mini", "", "not counted, as nothing is known of them before its first calls"),
        ("google_genai:gemini-2.5-flash", "reasoning = 700", "up to 700 tokens per call, by its settings"),
        ("openai:gpt-4o-mini", "", ""),
        ("openai:local", "", "50 tokens per call, as in"),
    ],
)
def test_an_estimate_says_and_counts_what_it_knows_of_thoughts(tmp_path, use, own, words):
    with provider(seed=SEED, thought=50) as server:
        if use == "openai:local":
            auction(server).run()
            own = f'base_url = "{server.openai_url}"'
        before = len(server.requests)
        (tmp_path / "sale.toml").write_text(SALE.format(use=use) + own + "\n")
        done = harbor("estimate", str(tmp_path / "sale.toml"), "--json")
        assert len(server.requests) == before
    [model] = json.loads(done.stdout)["models"]
    assert words in done.stderr
    assert ("thinks" in done.stderr) == bool(words)
    each = 50 if before else 700 if own else 0
    assert model["reasoning_tokens"] == each * model["calls"]
    assert model["output_tokens"] > model["reasoning_tokens"]


@pytest.mark.parametrize("between", ["kept", "lost", "changed"])
def test_a_run_that_is_resumed_goes_on_alike_whatever_its_passport_says_by_then(tmp_path, between):
    with provider(seed=SEED, refuses=["temperature", "tools"], key="nobody") as server:
        whole = auction(server, **OWN).run()
        shutil.rmtree(own_folder() / FOLDER)
        server.fates = {"nobody": ("401", len(server.requests) + 6)}
        with pytest.raises(ModelError):
            auction(server, **OWN).run(tmp_path / "run")
        server.fates = {}
        if between != "kept":
            shutil.rmtree(own_folder() / FOLDER, ignore_errors=True)
        if between == "changed":
            known_of(own_folder() / FOLDER, server.openai_url, "local").learn(form="text", calls=3)
        resumed = resume(tmp_path / "run")
        assert told(resumed.log) == told(whole.log)
        assert ways(resumed) == ways(whole)


LEARN = """
import sys
from pathlib import Path
from harbor._models.passports.passport import known_of
known = known_of(Path(sys.argv[1]) / "passports", "openai", "m")
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    known.learn(not_taken=(*known.passport.not_taken, f"extra.{sys.argv[2]}{number}"))
"""


def test_processes_that_learn_at_once_lose_no_fact_of_either():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", LEARN, str(own_folder()), name], **pipes) for name in "ab"]
    assert [one.stdout.readline() for one in both] == ["ready\n"] * 2
    for one in both:
        one.communicate("\n")
        assert one.returncode == 0
    assert set(only().not_taken) == {f"extra.{name}{number}" for name in "ab" for number in range(20)}
    assert [file.suffix for file in (own_folder() / FOLDER).glob("[!.]*")] == [".json"]
