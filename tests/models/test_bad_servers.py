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


MOST_MEMORY = 400 * 2**20
"""Bytes; a run whose answers are short takes half of that."""


def at(server, **settings):
    """The words of an auction at a server."""
    given = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url, **settings}
    return ["demo", "--model", "mine", *(f"--set=models.mine.{name}={value}" for name, value in given.items())]


def test_a_model_that_cannot_be_made_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "needs langchain-groq, which is not installed" in mistake(harbor("auction", "demo", "--model", "groq:llama"))
    assert "is its API key set?" in mistake(harbor("auction", "demo", "--model", "openai:gpt-4o"))


@pytest.mark.parametrize("form", FORMATS)
def test_a_wrong_key_is_told_without_the_key(form, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    with provider(seed=SEED, key="another") as server:
        with pytest.raises(ModelError, match=r"is refused: .*(API key|x-api-key)") as refused:
            auction(spoken(form, server), api_key_env="A_KEY").run()
        assert len(server.requests) == 1
        assert not any(KEY[start : start + 8] in str(refused.value) for start in range(len(KEY) - 7))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_an_address_where_only_web_pages_are_is_not_asked_for_ten_minutes(form):
    with provider(seed=SEED, faults=Faults("html")) as server:
        with pytest.raises(ModelError, match=r"web page; is base_url the address of its API\?"):
            auction(spoken(form, server)).run()
        assert len(server.requests) <= 6  # by both bidders


def test_a_web_page_once_there_were_answers_is_a_fault_that_passes(server):
    server.faults = Faults("html", only=range(3, 10))
    run = auction(spoken("openai chat", server)).run()
    assert {call.outcome for call in of_type(run.log, ModelCalled)} == {"ok"}


@pytest.mark.parametrize("name", ["max_concurrent", "requests_per_minute", "tokens_per_minute"])
def test_a_limit_of_an_account_is_a_number_above_0_or_refused_in_one_line(name):
    for value in (0, -1, float("nan"), float("inf"), "no"):
        with pytest.raises(ConfigError, match=rf"^ModelSettings: {name} [^\n]*must be [^\n]*$"):
            ModelSettings(use="openai:gpt-4o-mini", **{name: value})


def test_a_negative_limit_is_refused_before_anything_is_asked(server):
    assert "retry_seconds" in mistake(harbor("auction", *at(server, retry_seconds=-1)))
    assert not server.requests


def test_a_provider_that_asks_for_two_hours_pauses_the_command_with_the_end_and_how_to_go_on(tmp_path):
    with provider(faults=Faults("429", retry_after=7200)) as server:
        ends = [harbor("auction", *at(server), "--out", "run", cwd=tmp_path), harbor("resume", "run", cwd=tmp_path)]
        assert len(server.requests) == 1
    for ended in ends:
        assert ended.returncode == 75
        assert "paused: model 'mine' (openai:gpt-4o-mini) asks to wait until " in ended.stderr
        assert ended.stderr.endswith("resume with: harbor resume run\n")


LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""A process begins with the memory of the one that starts it, so a small one has to."""


@pytest.mark.slow
def test_an_answer_without_an_end_is_given_up_and_does_not_fill_the_memory(server):
    server.faults = Faults("endless")
    command = [sys.executable, "-c", LAUNCHER, *map(str, [*HARBOR, "auction", *at(server)])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "the answer is longer than" in done.stderr
    assert int(done.stdout) * 2**10 < MOST_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_reply_of_ten_megabytes_is_play_and_does_not_fill_the_memory(form):
    with provider(seed=SEED, faults=Faults("huge", only={2, 3})) as server:
        before = psutil.Process().memory_info().rss
        run = auction(spoken(form, server)).run()
        assert {call.outcome for call in of_type(run.log, ModelCalled)} <= {"ok", "unreadable"}
        assert psutil.Process().memory_info().rss - before < MOST_MEMORY
