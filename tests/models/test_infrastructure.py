"""A provider's bad minute never becomes play, and what is wrong for good is one line that says it, soon."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

import psutil
import pytest

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.basics.errors import ModelError, RunPaused
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.terms import Gone
from harbor._runs.inputs import RunInputs
from harbor._runs.run import Run, start
from support.commands import HARBOR, harbor
from support.formats import FORMATS, SEED, spoken
from support.providers import PERMANENT, Faults, provider

KEY = "sk-harbor-0123456789abcdefghij"
MOST_MEMORY = 400 * 2**20
"""Bytes; a run whose answers are short takes half of that."""
ITEMS = [Item(name=f"Lot {number}", start=1_000, true_value=2_000 + 300 * number) for number in (1, 2)]


def auction(server, form="openai chat", failed_calls="stop", **settings):
    own = {"models": {"mine": ModelSettings(**spoken(form, server), **settings)}, "failed_calls": failed_calls}
    bidders = [Bidder(name, model="mine", bidding="call") for name in ("Ann", "Ben")]
    return Auction(items=ITEMS, bidders=bidders, seed=SEED, **own)


def at(server):
    """The words of an auction at a server."""
    given = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url}
    return ["demo", "--model", "mine", *(f"--set=models.mine.{name}={value}" for name, value in given.items())]


def outcomes(log):
    return {call.outcome for call in of_type(log, ModelCalled)}


@pytest.mark.parametrize("kind", PERMANENT)
def test_what_is_refused_stops_the_run_with_the_words_of_the_provider(kind):
    with provider(seed=SEED, faults=Faults(kind, seed=1)) as server:
        with pytest.raises(ModelError, match=r"'mine' \(openai:gpt-4o-mini\) is refused: OpenAI\w+: Error code: 4"):
            auction(server).run()
        assert len(server.requests) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_a_wrong_key_is_told_without_the_key(form, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    with provider(seed=SEED, key="another") as server:
        with pytest.raises(ModelError, match=r"is refused: .*(API key|x-api-key)") as refused:
            auction(server, form, api_key_env="A_KEY").run()
        assert len(server.requests) == 1
        assert not any(KEY[start : start + 8] in str(refused.value) for start in range(len(KEY) - 7))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_an_address_where_only_web_pages_are_is_not_asked_for_ten_minutes(form):
    with provider(seed=SEED, faults=Faults("html")) as server:
        with pytest.raises(ModelError, match=r"web page; is base_url the address of its API\?"):
            auction(server, form).run()
        assert len(server.requests) <= 6  # by both bidders


def test_a_web_page_once_there_were_answers_is_a_fault_that_passes(server):
    server.faults = Faults("html", only=range(3, 10))
    assert outcomes(auction(server).run().log) == {"ok"}


@pytest.mark.parametrize("kind", ["prose", "wrong arguments", "refusal"])
def test_what_the_model_does_wrong_is_play(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.2, seed=3)) as server:
        run = auction(server, reply="tool").run()
        assert outcomes(run.log) == {"ok", "refused" if kind == "refusal" else "unreadable"}
        assert not any(call.retries for call in of_type(run.log, ModelCalled))


@pytest.mark.parametrize("kind", ["429", "429 date", "503 later"])
def test_a_pause_of_two_hours_pauses_the_command_at_once_and_every_later_one_of_the_process(kind, tmp_path):
    words = r"paused: model 'mine' .* asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d .* \((2 h 0|1 h 5\d) min\), and a"
    with provider(seed=SEED, faults=Faults(kind, only=range(7, 1_000), retry_after=7200)) as server:
        for command in (["auction", *at(server), "--out", "run"], ["resume", "run"], ["auction", *at(server)]):
            done = harbor(*command, cwd=tmp_path)
            assert done.returncode == 75
            assert re.search(words, done.stderr)
            assert "--out" not in command or done.stderr.endswith("resume with: harbor resume run\n")
    assert sum(heard.status == 200 for heard in server.requests) == 6


@pytest.mark.parametrize("kind", ["503", "401"])
def test_a_run_plays_on_without_answers_only_if_it_is_told_to_and_is_no_result_if_nothing_was_answered(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.3, seed=2)) as server:
        run = auction(server, failed_calls="play on", retry_seconds=0).run()
        assert outcomes(run.log) >= {"ok", "failed"}
        server.faults = Faults(kind)
        with pytest.raises(ModelError, match="no model has answered any of"):
            auction(server, failed_calls="play on", retry_seconds=0).run()


def test_two_servers_play_in_one_auction(server):
    with provider(seed=SEED, name="yours") as other:
        yours = ModelSettings(use="anthropic:claude", base_url=other.anthropic_url)
        sale = auction(server)
        bidders = (sale.bidders[0], Bidder("Ben", model="yours", bidding="call"))
        run = sale.model_copy(update={"bidders": bidders, "models": {**sale.models, "yours": yours}}).run()
    assert outcomes(run.log) == {"ok"}
    assert server.requests
    assert other.requests


class GoneAfterSix(LocalGovernor):
    """The governor of a driver that ends in the middle of a game."""

    calls = 0

    async def enter(self, request):
        self.calls += 1
        if self.calls > 6:
            raise Gone("the driver is gone")
        return await super().enter(request)


def test_a_worker_whose_driver_is_gone_does_not_play_on_without_answers(server):
    run = Run(auction(server, failed_calls="play on"), RunInputs(governor=GoneAfterSix()))
    with pytest.raises(RunPaused, match="the driver is gone"):
        asyncio.run(start(run))


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
@pytest.mark.parametrize("form", ["openai chat", "google"])
def test_a_reply_of_ten_megabytes_is_play_and_does_not_fill_the_memory(form):
    with provider(seed=SEED, faults=Faults("huge", only={2, 3})) as server:
        before = psutil.Process().memory_info().rss
        assert outcomes(auction(server, form).run().log) <= {"ok", "unreadable"}
        assert psutil.Process().memory_info().rss - before < MOST_MEMORY
