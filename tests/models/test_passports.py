"""What is learned of a model at its first calls: it is kept, goes with each call, and nothing is paid unseen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harbor import Auction, Bidder, Item, ModelSettings, ReplyCache
from harbor._core.basics.errors import ModelError
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.forms import refused_in
from harbor._models.passports.passport import FOLDER, Answer, Known, Passport, known_of, passports_in
from harbor._models.replies.cache import plain
from harbor._models.replies.reply_folder import own_folder
from harbor._runs.series import resume
from support.commands import harbor
from support.formats import told
from support.providers import Provider, provider

SEED = 5
ITEMS = [Item(name="Lot A", start=1_000, true_value=2_000)]
BIDDERS = [Bidder(name, model="mine", bidding="call") for name in ("Ann", "Ben")]


def auction(server: Provider, **settings: object) -> Auction:
    own = {"use": "openai:local", "base_url": server.openai_url} | settings
    return Auction(items=ITEMS, bidders=BIDDERS, models={"mine": ModelSettings(**own)}, seed=SEED)


def calls(run) -> list[ModelCalled]:
    return of_type(run.log, ModelCalled)


def only() -> Passport:
    [found] = passports_in(own_folder() / FOLDER)
    return found


def known() -> Known:
    return known_of(own_folder() / FOLDER, "openai", "m")


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")


@pytest.mark.parametrize(
    ("refuses", "form"),
    [
        ([], "tool"), (["tools"], "json"), (["tool_choice.required"], "json"), (["tools", "response_format"], "text"),
        (["temperature"], "tool"), (["temperature", "tools", "response_format"], "text"),
    ],
)  # fmt: skip
def test_what_a_server_refuses_is_left_out_from_the_second_run_on(refuses, form):
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


def test_requests_that_found_the_form_out_stand_in_the_ledger_to_the_token():
    with provider(seed=SEED, ignores=["tools"]) as server:
        made = calls(auction(server, input_price=1.0, output_price=1.0).run())
        served = [heard for heard in server.requests if heard.status == 200]
    read, written = sum(heard.read for heard in served), sum(heard.written for heard in served)
    assert sum(call.probes.requests for call in made) > 0
    assert sum(call.input_tokens + call.probes.input_tokens for call in made) == read
    assert sum(call.output_tokens + call.probes.output_tokens for call in made) == written
    assert len(served) == len(made) + sum(call.probes.requests for call in made)
    dollars = sum(call.cost_dollars + call.probes.cost_dollars for call in made)
    assert dollars == pytest.approx((read + written) / 1_000_000)


def test_a_form_that_a_server_no_longer_takes_is_corrected():
    with provider(seed=SEED) as server:
        auction(server).run()
        assert only().form == "tool"
        server.refuses = ["tools"]
        run = auction(server).run()
        assert {call.outcome for call in calls(run)} == {"ok"}
        assert only().form == "json"


@pytest.mark.parametrize("refuses", [[], ["temperature"], ["temperature", "tools"]])
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


def test_a_model_that_takes_no_temperature_shares_no_reply_among_seeds():
    with provider(seed=SEED, refuses=["temperature"]) as server:
        auction(server, temperature=0).run(cache=ReplyCache())
        other = auction(server, temperature=0).model_copy(update={"seed": SEED + 1})
        assert not any(call.cached for call in calls(other.run(cache=ReplyCache())))


def test_a_reply_without_a_wish_does_not_answer_a_wish_that_may_be_taken():
    with provider(seed=SEED) as server:
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
        ("temperature must be between 0 and 1", ""),
        ("Unsupported value: 'reasoning_effort'. Supported values are: 'low', 'high'.", ""),
        ("Unsupported parameter: 'tools'", ""),
        ("the model does not exist", ""),
    ],
)
def test_only_a_refusal_of_a_setting_as_such_takes_it_out(words, name):
    wished = {"temperature": 0, "max_tokens": 5, "seed": 1, "reasoning": "low", "extra": {"top_p": 0.5}}
    assert refused_in(words, ModelSettings(use="openai:local", **wished)) == name


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"x" * 50_000, b'{"server": "a", "model": "b", "calls": -1}'])
def test_a_broken_passport_or_one_of_another_server_is_passed_over(content):
    folder = own_folder() / FOLDER
    known_of(folder, "http://one/v1", "m").learn(form="json")
    [file] = folder.glob("*.json")
    other = json.loads(file.read_text()) | {"server": "http://other/v1"}
    for wrong in (content, json.dumps(other).encode()):
        file.write_bytes(wrong)
        with pytest.warns(UserWarning, match="it is (no|the) passport"):
            assert known_of(folder, "http://one/v1", "m").passport == Passport("http://one/v1", "m")


def test_passports_are_private_and_name_no_key():
    assert plain("https://me:secret@host.example:8000/v1/?key=secret") == "https://host.example:8000/v1"
    known().learn(form="json")
    [file] = (own_folder() / FOLDER).glob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600


def test_counters_are_written_at_powers_of_two():
    counting, written = known(), []
    counting.save = lambda passport: written.append(passport.calls)
    for _ in range(20):
        counting.answered(Answer(1.0, 10, 4, ("tokens",), "m-1"))
    assert written == [1, 2, 4, 8, 16]
    counted = counting.passport
    assert (counted.output_tokens, counted.seconds, counted.slowest) == (200, 20.0, 1.0)


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
    for one in both:
        one.stdout.readline()
    for one in both:
        one.communicate("\n")
        assert one.returncode == 0
    assert set(only().not_taken) == {f"extra.{name}{number}" for name in "ab" for number in range(20)}
    assert [file.suffix for file in (own_folder() / FOLDER).glob("[!.]*")] == [".json"]


def test_what_another_process_has_learned_is_kept_by_one_that_does_not_know_it():
    first = known()
    Known(Passport("openai", "m"), first.save).learn(form="json", context_tokens=9)
    first.learn(thinks=("tags",))
    assert (only().form, only().context_tokens, only().thinks) == ("json", 9, ("tags",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_where_nothing_can_be_written_a_process_knows_all_the_same(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.warns(UserWarning, match="can't be kept"):
        known_of(Path(tmp_path), "openai", "m").learn(form="json")
    assert known_of(Path(tmp_path), "openai", "m").passport.form == "json"


def test_the_command_shows_what_was_learned():
    assert "Nothing is known of any model yet" in harbor("models").stdout
    with provider(seed=SEED, refuses=["temperature"], thought=50) as server:
        made = calls(auction(server, temperature=0).run())
    [told] = json.loads(harbor("models", "--json").stdout)["models"]
    assert (told["server"], told["model"]) == (server.openai_url, "local")
    assert (told["form"], told["not_taken"], told["thinks"]) == ("tool", ["temperature"], ["tokens"])
    assert told["calls"] >= len(made) / 2
    shown = harbor("models").stdout
    assert "Speed and price" in shown
    assert str(own_folder()) in shown


SALE = """
items = [{{name = "Lot A", start = 1000, true_value = 2000}}]
bidders = [{{name = "Ann", model = "mine"}}]
[models.mine]
use = "{use}"
"""


def estimated(folder, use, own):
    """Return what an estimate says of the one model of a sale, and what it tells beside."""
    (folder / "sale.toml").write_text(SALE.format(use=use) + own + "\n")
    done = harbor("estimate", str(folder / "sale.toml"), "--json")
    [model] = json.loads(done.stdout)["models"]
    return model, done.stderr


@pytest.mark.parametrize(
    ("use", "own", "words"),
    [
        ("openai:gpt-5-mini", "", "not counted, as nothing is known of them before its first calls"),
        ("google_genai:gemini-2.5-flash", "reasoning = 700", "up to 700 tokens per call, by its settings"),
        ("openai:gpt-4o-mini", "", ""),
    ],
)
def test_an_estimate_says_what_it_knows_of_thoughts(tmp_path, use, own, words):
    model, said = estimated(tmp_path, use, own)
    assert words in said
    assert ("thinks" in said) == bool(words)
    assert model["reasoning_tokens"] == (700 * model["calls"] if own else 0)
    assert model["output_tokens"] > model["reasoning_tokens"]


def test_an_estimate_counts_the_thoughts_that_were_learned(tmp_path):
    with provider(seed=SEED, thought=50) as server:
        auction(server).run()
        before = len(server.requests)
        model, said = estimated(tmp_path, "openai:local", f'base_url = "{server.openai_url}"')
        assert len(server.requests) == before
    assert model["reasoning_tokens"] == 50 * model["calls"]
    assert "50 tokens per call, as in" in said


@pytest.mark.parametrize("between", ["kept", "lost", "changed"])
def test_a_run_that_is_resumed_goes_on_alike_whatever_its_passport_says_by_then(tmp_path, between):
    with provider(seed=SEED, refuses=["temperature", "tools"], key="nobody") as server:
        own = {"temperature": 0, "api_key_env": "OPENAI_API_KEY"}
        whole = auction(server, **own).run()
        shutil.rmtree(own_folder() / FOLDER, ignore_errors=True)
        server.fates = {"nobody": ("401", len(server.requests) + 6)}
        with pytest.raises(ModelError):
            auction(server, **own).run(tmp_path / "run")
        server.fates = {}
        if between != "kept":
            shutil.rmtree(own_folder() / FOLDER, ignore_errors=True)
        if between == "changed":
            known_of(own_folder() / FOLDER, server.openai_url, "local").learn(form="text", calls=3)
        resumed = resume(tmp_path / "run")
        assert told(resumed.log) == told(whole.log)
        assert ways(resumed) == ways(whole)
