"""A hosted model over real sockets, at a server on loopback that speaks OpenAI's chat completions.

It answers with the built-in model, so that a faultless run over the wire is the one that is held offline.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_openai import ChatOpenAI

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._config.auction import check
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._rating.judging import judge
from harbor.evaluation._rating.sheets import write_sheets
from harbor.evaluation._rating.transcript import rateables
from harbor.evaluation._running.runner import RunOptions, run_experiment
from support.providers import provider

SEED, NAME, HOSTED = 5, "mine", "openai:gpt-4o-mini"
ITEMS = [Item(name="Lot A", start=1_000, true_value=2_000)]
BIDDERS = [Bidder(name, model=NAME, bidding="call") for name in ("Ann", "Ben")]


@pytest.fixture
def host(monkeypatch):
    with provider(seed=SEED, name=NAME) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "nobody")
        yield server


def auction(use=HOSTED):
    return Auction(items=ITEMS, bidders=BIDDERS, models={NAME: ModelSettings(use=use)}, seed=SEED)


def outcomes(log):
    return [call.outcome for call in of_type(log, ModelCalled)]


def test_auctions_in_a_row_over_the_wire_are_the_one_that_is_held_offline(host):
    offline = auction("simulated").run()
    for _ in range(3):
        held = auction().run()
        assert outcomes(held.log) == outcomes(offline.log)
        assert set(outcomes(held.log)) == {"ok"}
        assert held.standings == offline.standings


class OtherProvider(ChatOpenAI):
    """A model of a package that builds on OpenAI's, as those of DeepSeek and xAI do."""


@pytest.mark.parametrize("kind", [ChatOpenAI, OtherProvider])
def test_a_model_that_is_given_to_runs_in_a_row_has_no_failed_call_and_stays_as_it_was(host, kind):
    chat = kind(model="gpt-4o-mini", max_retries=0)
    client = chat.root_async_client
    for _ in range(3):
        log = Auction(items=ITEMS, bidders=BIDDERS, seed=SEED).run(models={NAME: chat}).log
        assert {(call.outcome, call.retries) for call in of_type(log, ModelCalled)} == {("ok", 0)}
    assert chat.root_async_client is client


@pytest.mark.slow
def test_a_run_closes_its_connections_when_it_ends(host):
    for _ in range(2):
        before = host.connections
        auction().run()
        assert host.connections > before
        assert host.is_left()


def test_a_run_that_breaks_off_closes_its_connections_too(host):
    def listen(entry):
        if isinstance(entry.event, ModelCalled):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        auction().run(listen=listen)
    assert host.connections
    assert host.is_left()


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["asyncio", "processes"])
def test_an_experiment_over_the_wire_has_no_failed_call_by_whichever_executor(host, tmp_path, executor):
    bidders = [{"name": name, "model": HOSTED, "bidding": "call"} for name in ("Ann", "Ben")]
    settings = {"items": [{"name": "Lot A", "start": 1_000, "true_value": 2_000}], "bidders": bidders}
    design = {"name": "wire", "title": "Wire", "question": "?", "source": "nobody", "repeats": 3, "metrics": ["profit"]}
    experiment = check(Experiment, design | {"auction": settings, "arms": [{"name": "all"}]}, "design")
    asyncio.run(run_experiment(experiment, tmp_path / "run", RunOptions(executor, jobs=1)))
    calls = [json.loads(line) for path in tmp_path.rglob("calls.jsonl") for line in path.read_text().splitlines()]
    assert calls
    assert {call["outcome"] for call in calls} == {"ok"}
    assert host.is_left()


def test_a_judge_over_the_wire_has_no_failed_call_and_closes_its_connections(host, tmp_path):
    auction("simulated").run(out=tmp_path / "run")
    for ratings in (tmp_path / "one", tmp_path / "two", tmp_path / "three"):
        write_sheets(ratings, rateables([tmp_path / "run"]), raters=0)
        judged = asyncio.run(judge(ratings, HOSTED))
        assert {call.outcome for call in judged.calls} == {"ok"}
        assert host.is_left()
