"""The one line about all that is waited for: its words, at a terminal, each minute elsewhere, and a wrong address."""

from __future__ import annotations

import json
import re
import socket
from contextlib import closing
from datetime import datetime

import pytest

from harbor._cli.display import progress
from harbor._cli.display.progress import in_words
from harbor._models.governor.terms import Asked, UnderWay, Wait
from support.cases import some
from support.commands import harbor, process
from support.processes import Terminal
from support.providers import Faults, provider

NOON = datetime(2026, 11, 23, 12, 0)
DOWN = Wait("api.openai.com", "gpt-4o-mini", "503", seconds=42.9, left=500.0, tries=4)
LATER = Wait("api.anthropic.com", "haiku", "429", seconds=3.0, left=900.0, tries=1, pause=7_200.0)
BATCH = Wait("openai", "", "a batch of 120 calls", seconds=3_723.0)
SLOW = Asked("api.openai.com", "o3-mini", 48.0)
MODELS = """
items = [{{ name = "Lot A", start = 1000, true_value = 2000 }}]
bidders = [{{ name = "Ann", model = "mine" }}, {{ name = "Ben", model = "mine" }}]
models.mine.use = "openai:gpt-4o-mini"
models.mine.base_url = "{url}"
models.mine.retry_seconds = {patience}
models.mine.input_price = 1.0
models.mine.output_price = 2.0
"""
AUCTION = 'name = "small"\nseed = 5' + MODELS
EXPERIMENT = f"""
title = "Small"
question = "?"
source = "nobody"
repeats = 2
metrics = ["profit"]
arms = [{{{{ name = "all" }}}}]
name = "small"
[auction]{MODELS}"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")
    return tmp_path


def write(folder, url, patience=600):
    for name, text in (("auction.toml", AUCTION), ("experiment.toml", EXPERIMENT)):
        (folder / name).write_text(text.format(url=url, patience=patience))


# ---------------------------------------------------------------- its words


@pytest.mark.parametrize(("state", "width", "words"), [
    (UnderWay(dollars=None), 80, "cost unknown"),
    (UnderWay((DOWN,), calls=12, queued=1, longest=SLOW, dollars=0.0312), 200,
     "waiting for api.openai.com (gpt-4o-mini): 503 for 0:42, tries again until 12:08 (try 5)"
     " · 12 calls under way · 1 call to start · $0.0312 this session"),
    (UnderWay((DOWN,), calls=12, dollars=0.0312), 100,
     "api.openai.com (gpt-4o-mini): 503, 0:42, until 12:08, try 5 · 12 calls · $0.0312"),
    (UnderWay((DOWN,), calls=12, dollars=0.0312), 70,
     "api.openai.com: 503, 0:42, until 12:08, try 5 · 12 calls · $0.0312"),
    (UnderWay((DOWN, DOWN, LATER, BATCH), dollars=1.0), 200,
     "waiting for api.openai.com (gpt-4o-mini): 503 for 0:42, tries again until 12:08 (try 5), and 2 more"
     " · $1.00 this session"),
    (UnderWay((LATER,)), 200,
     "waiting for api.anthropic.com (haiku): 429, asked to wait until 14:00 for 0:03, tries again until 12:15"
     " (try 2) · $0.00 this session"),
    (UnderWay((BATCH,)), 100, "waiting for openai: a batch of 120 calls for 1:02:03 · $0.00 this session"),
    (UnderWay((Wait("h", "", "503", left=86_400.0),)), 100,
     "waiting for h: 503 for 0:00, tries again until 24 Nov 12:00 · $0.00 this session"),
])  # fmt: skip
def test_the_line_says_how_things_stand_in_the_longest_form_that_fits(state, width, words):
    assert in_words(state, width, NOON) == words


# ---------------------------------------------------------------- at a terminal

WATCHED = [("auction", "auction.toml"), ("experiment", "run", "experiment.toml")]


@pytest.mark.parametrize("command", some(WATCHED, WATCHED[1:]))
def test_at_a_terminal_an_outage_and_its_end_are_seen(folder, command):
    with provider(seed=5) as server:
        server.fail("unavailable")
        write(folder, server.openai_url)
        with Terminal(folder, *command, columns=160) as shown:
            shown.expect(f"waiting for 127.0.0.1:{server.port} (mine): 503 for 0:0")
            shown.expect("tries again until")
            server.recover()
            assert shown.end() == 0
    assert re.search(r"\$0\.\d+ this session", shown.shown)


def test_at_a_terminal_a_slow_answer_is_seen(folder):
    with provider(seed=5, faults=Faults("hang")) as server:
        write(folder, server.openai_url)
        with Terminal(folder, "auction", "auction.toml", columns=160) as shown:
            shown.expect(f"1 call under way, the longest for 0:01 (127.0.0.1:{server.port}, mine)")


# ---------------------------------------------------------------- elsewhere


@pytest.mark.parametrize(
    "command",
    ["auction auction.toml", "auction auction.toml --quiet", "experiment run experiment.toml --no-cache --json"],
)
def test_elsewhere_a_line_a_minute_on_stderr_says_what_is_waited_for_unless_quiet_is_wanted(
    folder, monkeypatch, command
):
    monkeypatch.setattr(progress, "MINUTE", 0.02)
    with provider(seed=5, faults=Faults("429", only={1}, retry_after=1)) as server:
        write(folder, server.openai_url)
        done = harbor(*command.split(), "--out", "run", cwd=folder)
    waits = f"waiting for 127.0.0.1:{server.port} (mine): 429, asked to wait until "
    told = "--quiet" not in command
    assert (done.returncode, waits in done.stderr, "waiting" in done.stdout) == (0, told, False)
    assert told or done.stderr == ""
    if "--json" in command:
        json.loads(done.stdout)


# ---------------------------------------------------------------- a wrong address


DEAD = [
    "auction auction.toml --quiet", "auction auction.toml --json",
    "experiment run experiment.toml --json --executor processes --jobs 2",
]  # fmt: skip


@pytest.mark.parametrize("command", some(DEAD, DEAD[:1]))
def test_an_address_at_which_nobody_listens_is_told_once_at_once_and_in_the_end(folder, command):
    with closing(socket.socket()) as taken:  # nobody listens there
        taken.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{taken.getsockname()[1]}"
        write(folder, f"http://{dead}/v1", patience=1)
        done = process(*command.split(), cwd=folder)
    assert done.returncode == 75
    at_once, paused = [line for line in done.stderr.splitlines() if dead in line]
    why = f"no connection to {dead} (connection refused)"
    assert at_once.startswith(f"harbor: warning: {why} for model 'mine'; it is tried again until ")
    assert f"last: {why}; resume with: " in paused
