"""What a host's client is told and can do."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module

import pytest
from mcp import Client

from harbor._mcp.experiment_tools import apart
from support.mcp_clients import Played, tools

BEN = {"name": "Ben", "rule": "minimum-raise", "max_bids": 1}
SMALL = {
    "name": "small",
    "items": [{"name": "Vase", "start": 100, "true_value": 200}],
    "bidders": [{"name": "Ann", "agent": True}, BEN],
}


def small(**cho: object) -> dict[str, object]:
    """Settings of a small auction, with more of them for a third bidder."""
    return SMALL | {"bidders": [*SMALL["bidders"], {"name": "Cho", **cho}]}


DEAR = small(model="openai:gpt-4o-mini")


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-is-asked-in-this-test")


@asynccontextmanager
async def hosting(runs, **how):
    """Serve a host: yield the server, the way to call its tools, and what was heard."""
    async with tools(runs, **how) as served, Client(served.hosts) as client:
        played = Played()
        yield served, partial(played.call, client), played


async def test_every_preset_that_is_listed_can_be_held_with_clients_in_the_seats_that_are_named(tmp_path):
    async with hosting(tmp_path) as (served, call, played):
        held = await call("hold_auction", preset="water", seats=["Bob", "Eric"], seed=5)
        assert sorted(held["seats"]) == ["Bob", "Eric"]
        assert served.held.auction(held["auction"]).config.seed == 5
        assert (await call("list_auctions"))["auctions"] == [held]
        listed = await call("list_presets")
        for one in listed["auctions"]:
            assert one["about"]
            await call("hold_auction", preset=one["name"], seats=one["bidders"][:1])
        assert {one["name"] for one in listed["experiments"]} >= {"bidding", "water"}
    assert played.refused == []


async def test_standings_tell_no_secret_while_an_auction_goes_on(tmp_path):
    async with hosting(tmp_path) as (_, call, played):
        held = await call("hold_auction", settings=small(rule="minimum-raise", budget=123_457))
        await call("wait_for_turn", seat=held["seats"]["Ann"])
        found = await call("read_standings", auction=held["auction"])
        assert found.keys() == {"auction", "status", "so_far"}
        assert "Vase opens at $100" in found["so_far"]
        assert not any("123,457" in words or "123457" in words for words in played.heard)


@pytest.mark.parametrize(("settings", "refusal"), [
    (small(agent="os:system"), "names the code 'os:system'"),
    (small(agent={"command": ["touch", "made"]}), "takes from nobody (starts programs"),
    (small(agent={"url": "http://10.0.0.1/"}), "takes from nobody"),
    (small(agent="somebodys"), "takes from nobody (runs extensions)"),
    (SMALL | {"memory": {"store": "/etc"}}, "takes from nobody (opens memories)"),
    (SMALL | {"models": {"openai:x": {"base_url": "http://10.0.0.1/v1"}}}, "takes from nobody (contacts)"),
    (DEAR, "model 'openai:gpt-4o-mini' may cost money; give max_cost"),
    (SMALL | {"bidders": [BEN]}, "no seat of auction 'small' is for a client"),
    (SMALL | {"surprise": 1}, "surprise"),
    ({}, "give a preset, such as 'demo', or settings"),
])  # fmt: skip
async def test_a_host_can_name_no_code_no_server_no_folder_and_no_model_that_costs(tmp_path, settings, refusal):
    async with hosting(tmp_path) as (served, call, played):
        await call("hold_auction", settings=settings)
        assert refusal in played.refused[0]
        assert served.held.by_name == {}
    assert list(tmp_path.iterdir()) == []


async def test_a_host_can_name_no_code_and_no_server_for_an_experiment_and_no_file_at_all(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "loaded.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "mine.toml"
    file.write_text("[[bidders]]\nname = 'Ann'\nagent = true\n", encoding="utf-8")
    async with hosting(tmp_path / "runs", max_cost=1.0) as (_, call, played):
        for model in ("mine.loaded:MODEL", "http://10.0.0.1/v1"):
            await call("estimate", experiment="bidding", models=[model], repeats=1)
            await call("run_experiment", name="bidding", models=[model], repeats=1, max_cost=1.0)
        await call("hold_auction", preset=str(file))
        await call("estimate", experiment=str(file))
        await call("estimate", auction=str(file))
        await call("run_experiment", name=str(file))
        await call("read_standings", auction="../mine.toml")
    refusals = ["names the code 'mine.loaded:MODEL'"] * 2 + ["takes from nobody (contacts"] * 2 + ["unknown"] * 5
    assert [said for said, words in zip(refusals, played.refused, strict=True) if said not in words] == []
    assert not (tmp_path / "ran").exists()


async def test_hosts_together_spend_no_more_than_the_server_may_and_what_one_has_not_used_is_for_the_next(tmp_path):
    async with hosting(tmp_path, max_cost=1.0) as (served, call, played):
        held = await call("hold_auction", settings=SMALL, max_cost=1.0, wait_seconds=0)
        await served.held.auction(held["auction"]).ended()
        await call("hold_auction", settings=DEAR, max_cost=0.7)
        await call("hold_auction", settings=DEAR, max_cost=0.7)
        await call("run_experiment", name="bidding", models=["openai:gpt-4o-mini"], max_cost=0.7)
        assert len(served.held.by_name) == 2
    assert ["more than the $0.30 that are left here" in words for words in played.refused] == [True, True]


async def test_a_server_without_a_limit_of_cost_asks_no_model_that_costs_and_no_server_holds_a_series(tmp_path):
    async with hosting(tmp_path) as (served, call, played):
        await call("hold_auction", settings=DEAR, max_cost=0.5)
        await call("hold_auction", preset="learning", seats=["Learner"])
        assert served.held.by_name == {}
    dear, series = played.refused
    assert "start it with: harbor mcp --max-cost DOLLARS" in dear
    assert "series" in series


async def test_an_estimate_counts_the_calls_and_an_experiment_has_at_most_a_thousand_repeats(tmp_path):
    async with hosting(tmp_path) as (_, call, played):
        found = await call("estimate", auction="second-price")
        assert (found["games"], found["calls"], found["cost_dollars"]) == (1, 17, 0.0)
        await call("estimate", experiment="multiverse", repeats=1_001)
        await call("run_experiment", name="multiverse", repeats=1_001)
    assert ["1000" in words for words in played.refused] == [True, True]
    assert list(tmp_path.iterdir()) == []


WATCHED = """
import threading

THREAD = threading.current_thread()


def make(settings, seed):
    raise NotImplementedError
"""


@pytest.mark.parametrize(("tool", "choices"), [
    ("estimate", {"experiment": "second-price"}),
    ("run_experiment", {"name": "second-price", "max_cost": 1.0}),
])  # fmt: skip
async def test_an_experiment_is_prepared_in_no_thread_that_serves_clients(tmp_path, monkeypatch, tool, choices):
    module = f"watched_by_{tool}.model"
    (tmp_path / f"watched_by_{tool}").mkdir()
    (tmp_path / f"watched_by_{tool}" / "model.py").write_text(WATCHED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    async with hosting(tmp_path / "runs", max_cost=1.0, trust=True) as (_, call, played):
        await call(tool, **choices, models=[f"{module}:make"], arms=["melee"], repeats=1)
    assert played.refused == []
    assert import_module(module).THREAD is not threading.current_thread()


@pytest.mark.slow
async def test_an_experiment_is_run_and_read(tmp_path):
    async with hosting(tmp_path) as (_, call, played):
        [arms] = [one["arms"] for one in (await call("list_presets"))["experiments"] if one["name"] == "second-price"]
        begun = await call("run_experiment", name="second-price", arms=arms[:1], repeats=1)
        [working] = [task for task in asyncio.all_tasks() if task.get_name() == begun["experiment"]]
        await working
        found = await call("read_experiment", experiment=begun["experiment"])
    assert (found["status"], found["finished"], found["simulated"]) == ("over", begun["games"], True)
    assert found["estimates"][0].keys() >= {"metric", "arm", "bidder", "mean", "low", "high"}
    json.dumps(found, allow_nan=False)
    assert played.refused == []


# ---------------------------------------------------------------- work apart


async def test_work_that_fails_fails_here():
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await apart(work())


async def test_work_that_is_cancelled_has_ended_when_that_is_heard():
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    working = asyncio.ensure_future(apart(work()))
    await asyncio.to_thread(begun.wait)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended.is_set()
