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

from harbor._core.files.layout import EVENTS
from support.mcp_clients import Played, play, tools, withdraw

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


async def test_a_client_holds_an_auction_plays_its_seat_and_reads_who_won(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        held = await played.call(client, "hold_auction", settings=SMALL)
        assert (held["status"], held["bidders"]) == ("waiting for clients", ["Ann", "Ben"])
        assert list(held["seats"]) == ["Ann"]
        await play(client, held["seats"]["Ann"], withdraw)
        await served.held.auction(held["auction"]).ended()
        found = await played.call(client, "read_standings", auction=held["auction"])
    assert (found["status"], found["standings"][0]["bidder"], found["items"][0]["winner"]) == ("over", "Ben", "Ben")
    assert (tmp_path / held["auction"] / EVENTS).is_file()
    assert played.refused == []


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


@pytest.mark.parametrize(("model", "refusal"), [
    ("mine.loaded:MODEL", "names the code 'mine.loaded:MODEL'"),
    ("http://10.0.0.1/v1", "takes from nobody (contacts"),
])  # fmt: skip
async def test_a_host_can_name_no_code_and_no_server_for_an_experiment(tmp_path, monkeypatch, model, refusal):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "loaded.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    async with hosting(tmp_path / "runs", max_cost=1.0) as (_, call, played):
        await call("estimate", experiment="bidding", models=[model], repeats=1)
        await call("run_experiment", name="bidding", models=[model], repeats=1, max_cost=1.0)
    assert [refusal in words for words in played.refused] == [True, True]
    assert not (tmp_path / "ran").exists()


async def test_a_host_can_name_no_file(tmp_path):
    settings = tmp_path / "mine.toml"
    settings.write_text("[[bidders]]\nname = 'Ann'\nagent = true\n", encoding="utf-8")
    async with hosting(tmp_path / "runs") as (_, call, played):
        await call("hold_auction", preset=str(settings))
        await call("estimate", experiment=str(settings))
        await call("estimate", auction=str(settings))
        await call("run_experiment", name=str(settings))
        await call("read_standings", auction="../mine.toml")
    assert ["unknown" in words for words in played.refused] == [True] * 5


async def test_hosts_together_can_spend_no_more_than_the_server_may(tmp_path):
    async with hosting(tmp_path, max_cost=1.0) as (served, call, played):
        await call("hold_auction", settings=DEAR, max_cost=0.7)
        await call("hold_auction", settings=DEAR, max_cost=0.7)
        await call("run_experiment", name="bidding", models=["openai:gpt-4o-mini"], max_cost=0.7)
        assert len(served.held.by_name) == 1
    assert ["more than the $0.30 that are left here" in words for words in played.refused] == [True, True]


async def test_what_an_auction_has_not_used_can_be_spent_by_the_next(tmp_path):
    async with hosting(tmp_path, max_cost=1.0) as (served, call, _):
        held = await call("hold_auction", settings=SMALL, max_cost=1.0, wait_seconds=0)
        await served.held.auction(held["auction"]).ended()
        again = await call("hold_auction", settings=SMALL, max_cost=1.0)
        assert again["status"] == "waiting for clients"


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


@pytest.mark.parametrize(
    ("tool", "choices"),
    [("estimate", {"experiment": "second-price"}), ("run_experiment", {"name": "second-price", "max_cost": 1.0})],
)
async def test_an_experiment_is_prepared_in_no_thread_that_serves_clients(tmp_path, monkeypatch, tool, choices):
    folder = tmp_path / f"watched_by_{tool}"
    folder.mkdir()
    (folder / "model.py").write_text(WATCHED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    async with hosting(tmp_path / "runs", max_cost=1.0, trust=True) as (_, call, played):
        await call(tool, **choices, models=[f"{folder.name}.model:make"], arms=["melee"], repeats=1)
    assert played.refused == []
    assert import_module(f"{folder.name}.model").THREAD is not threading.current_thread()


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
