"""What a user gets wrong about a model, and servers that are none: one line that says it, soon."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from harbor import ModelSettings
from harbor._core.basics.errors import ConfigError, ModelError
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from support.commands import HARBOR, harbor, mistake
from support.formats import FORMATS, SEED, auction, spoken
from support.providers import Faults, provider

KEY = "sk-harbor-0123456789abcdefghij"
LIMITS = ("max_concurrent", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "retry_seconds", "repairs")
MOST_MEMORY = 400 * 2**20
"""Bytes; a run whose answers are short takes half of that."""


def at(server, **settings):
    """The flags of an auction at a server."""
    given = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url, **settings}
    flags = [f"--set=models.mine.{name}={value}" for name, value in given.items()]
    return ["demo", "--model", "mine", *flags]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("opnai:gpt-4o", "unknown provider 'opnai'; did you mean 'openai'?"),
        ("groq:llama", "needs langchain-groq, which is not installed; run: pip install langchain-groq"),
        ("openai:gpt-4o", "is its API key set?"),
    ],
)
def test_a_model_that_cannot_be_made_is_refused_with_the_remedy(use, said, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert said in mistake(harbor("auction", "demo", "--model", use))


@pytest.mark.parametrize("form", FORMATS)
def test_a_wrong_key_is_told_without_the_key(form, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    with provider(seed=SEED, key="another") as server:
        with pytest.raises(ModelError, match=r"is refused: .*(API key|x-api-key)") as refused:
            auction(spoken(form, server), api_key_env="A_KEY").run()
        assert len(server.requests) == 1
        assert not any(KEY[start : start + 8] in str(refused.value) for start in range(len(KEY) - 7))


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_that_is_gone_is_told_after_one_request(form):
    with provider(seed=SEED) as server:
        named = spoken(form, server)
        server.gone = [named["use"].partition(":")[2]]
        with pytest.raises(ModelError, match=r"is refused: .*does not exist"):
            auction(named).run()
        assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_an_address_where_only_web_pages_are_is_not_asked_for_ten_minutes(form):
    with provider(seed=SEED, faults=Faults("html")) as server:
        with pytest.raises(ModelError, match=r"web page; is base_url the address of its API\?"):
            auction(spoken(form, server)).run()
        assert len(server.requests) <= 6  # by both bidders


def test_a_web_page_once_there_were_answers_is_a_fault_that_passes():
    with provider(seed=SEED, faults=Faults("html", only=range(3, 10))) as server:
        run = auction(spoken("openai chat", server)).run()
        assert {call.outcome for call in of_type(run.log, ModelCalled)} == {"ok"}


@pytest.mark.parametrize("name", LIMITS)
def test_negative_limits_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        auction({}, **{name: -1}).run()
    with provider() as server:
        assert name in mistake(harbor("auction", *at(server, **{name: -1})))
        assert not server.requests


@pytest.mark.parametrize("name", LIMITS[:3])
@pytest.mark.parametrize("value", [0, float("nan"), float("inf"), "no"])
def test_a_limit_of_an_account_is_a_number_above_0_or_refused_in_one_line(name, value):
    with pytest.raises(ConfigError, match=rf"^ModelSettings: {name} [^\n]*must be [^\n]*$"):
        ModelSettings(use="openai:gpt-4o-mini", **{name: value})


def test_a_provider_that_asks_for_two_hours_pauses_the_command_with_the_end_and_how_to_go_on(tmp_path):
    with provider(faults=Faults("429", retry_after=7200)) as server:
        done = harbor("auction", *at(server), "--out", "run", cwd=tmp_path)
        again = harbor("resume", "run", cwd=tmp_path)
        assert len(server.requests) == 1
    for ended in (done, again):
        assert ended.returncode == 75
        assert "paused: model 'mine' (openai:gpt-4o-mini) asks to wait until " in ended.stderr
        assert " min), and a run waits for 600 s" in ended.stderr
        assert ended.stderr.endswith("resume with: harbor resume run\n")


LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""A process begins with the memory of the one that starts it, so a small one has to."""


def most_memory(words):
    """Run a command; give its exit code, what it says and the most memory that it had, in bytes."""
    command = [sys.executable, "-c", LAUNCHER, *map(str, [*HARBOR, *words])]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr, int(done.stdout) * 2**10


@pytest.mark.slow
def test_an_answer_without_an_end_is_given_up_and_does_not_fill_the_memory():
    with provider(seed=SEED, faults=Faults("endless")) as server:
        code, said, memory = most_memory(["auction", *at(server)])
        assert code == 2, said
        assert "the answer is longer than" in said
        assert memory < MOST_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_reply_of_ten_megabytes_is_play_and_does_not_fill_the_memory(form):
    with provider(seed=SEED, faults=Faults("huge", only={2, 3})) as server:
        before = psutil.Process().memory_info().rss
        run = auction(spoken(form, server)).run()
        assert {call.outcome for call in of_type(run.log, ModelCalled)} <= {"ok", "unreadable"}
        assert psutil.Process().memory_info().rss - before < MOST_MEMORY


def test_settings_of_a_model_are_checked_where_they_are_given():
    with pytest.raises(ConfigError, match="max_concurrent"):
        ModelSettings(max_concurrent=0)
