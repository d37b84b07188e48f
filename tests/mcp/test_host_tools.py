"""What a host's client is told and can do."""

from __future__ import annotations

import asyncio
import json
import threading
from importlib import import_module

import pytest
from mcp import Client

from harbor._core.files.layout import EVENTS
from support.mcp_clients import Played, play, tools, withdraw

SMALL = {
    "name": "small",
    "items": [{"name": "Vase", "start": 100, "true_value": 200}],
    "bidders": [{"name": "Ann", "agent": True}, {"name": "Ben", "rule": "minimum-raise", "max_bids": 1}],
}


def small(**ann: object) -> dict[str, object]:
    """Settings of a small auction, with more of them for a third bidder."""
    return SMALL | {"bidders": [*SMALL["bidders"], {"name": "Cho", **ann}]}


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


async def test_a_preset_is_held_with_clients_in_the_seats_that_are_named(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        held = await Played().call(client, "hold_auction", preset="water", seats=["Bob", "Eric"], seed=5)
        assert sorted(held["seats"]) == ["Bob", "Eric"]
        assert served.held.auction(held["auction"]).config.seed == 5
        [listed] = (await Played().call(client, "list_auctions"))["auctions"]
        assert listed == held


async def test_every_preset_that_is_listed_can_be_held(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        listed = await played.call(client, "list_presets")
        for one in listed["auctions"]:
            assert one["about"]
            await played.call(client, "hold_auction", preset=one["name"], seats=one["bidders"][:1])
        assert {one["name"] for one in listed["experiments"]} >= {"bidding", "water"}
    assert played.refused == []


async def test_standings_tell_no_secret_while_an_auction_goes_on(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        settings = small(rule="minimum-raise", budget=123_457)
        held = await played.call(client, "hold_auction", settings=settings)
        await played.call(client, "wait_for_turn", seat=held["seats"]["Ann"])
        found = await played.call(client, "read_standings", auction=held["auction"])
        assert found.keys() == {"auction", "status", "so_far"}
        assert "Vase opens at $100" in found["so_far"]
        assert not any("123,457" in words or "123457" in words for words in played.heard)


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        (small(agent="os:system"), "names the code 'os:system'"),
        (small(agent={"command": ["touch", "made"]}), "takes from nobody (starts programs"),
        (small(agent={"url": "http://10.0.0.1/"}), "takes from nobody"),
        (small(agent="somebodys"), "takes from nobody (runs extensions)"),
        (SMALL | {"memory": {"store": "/etc"}}, "takes from nobody (opens memories)"),
        (SMALL | {"models": {"openai:x": {"base_url": "http://10.0.0.1/v1"}}}, "takes from nobody (contacts)"),
        (small(model="openai:gpt-4o-mini"), "model 'openai:gpt-4o-mini' may cost money; give max_cost"),
        (SMALL | {"bidders": [{"name": "Ben", "rule": "minimum-raise"}]}, "no seat of auction 'small' is for a client"),
        (SMALL | {"surprise": 1}, "surprise"),
        ({}, "give a preset, such as 'demo', or settings"),
    ],
)
async def test_a_host_can_name_no_code_no_server_no_folder_and_no_model_that_costs(tmp_path, settings, refusal):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, "hold_auction", settings=settings)
        assert refusal in played.refused[0]
        assert served.held.by_name == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "refusal"),
    [
        ("mine.loaded:MODEL", "names the code 'mine.loaded:MODEL'"),
        ("http://10.0.0.1/v1", "takes from nobody (contacts"),
    ],
)
async def test_a_host_can_name_no_code_and_no_server_for_an_experiment(tmp_path, monkeypatch, model, refusal):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "loaded.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    async with tools(tmp_path / "runs", max_cost=1.0) as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, "estimate", experiment="bidding", models=[model], repeats=1)
        await played.call(client, "run_experiment", name="bidding", models=[model], repeats=1, max_cost=1.0)
    assert [refusal in words for words in played.refused] == [True, True]
    assert not (tmp_path / "ran").exists()


async def test_a_host_can_name_no_file(tmp_path):
    settings = tmp_path / "mine.toml"
    settings.write_text("[[bidders]]\nname = 'Ann'\nagent = true\n", encoding="utf-8")
    async with tools(tmp_path / "runs") as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, "hold_auction", preset=str(settings))
        await played.call(client, "estimate", experiment=str(settings))
        await played.call(client, "estimate", auction=str(settings))
        await played.call(client, "run_experiment", name=str(settings))
        await played.call(client, "read_standings", auction="../mine.toml")
    assert len(played.refused) == 5
    assert all("unknown" in words for words in played.refused)


async def test_hosts_together_can_spend_no_more_than_the_server_may(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-is-asked-in-this-test")
    async with tools(tmp_path, max_cost=1.0) as served, Client(served.hosts) as client:
        played, settings = Played(), small(model="openai:gpt-4o-mini")
        await played.call(client, "hold_auction", settings=settings, max_cost=0.7)
        await played.call(client, "hold_auction", settings=settings, max_cost=0.7)
        await played.call(client, "run_experiment", name="bidding", models=["openai:gpt-4o-mini"], max_cost=0.7)
        assert len(served.held.by_name) == 1
    assert len(played.refused) == 2
    assert all("more than the $0.30 that are left here" in words for words in played.refused)


async def test_what_an_auction_has_not_used_can_be_spent_by_the_next(tmp_path):
    async with tools(tmp_path, max_cost=1.0) as served, Client(served.hosts) as client:
        held = await Played().call(client, "hold_auction", settings=SMALL, max_cost=1.0, wait_seconds=0)
        await served.held.auction(held["auction"]).ended()
        again = await Played().call(client, "hold_auction", settings=SMALL, max_cost=1.0)
        assert again["status"] == "waiting for clients"


async def test_a_server_without_a_limit_of_cost_asks_no_model_that_costs(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-is-asked-in-this-test")
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, "hold_auction", settings=small(model="openai:gpt-4o-mini"), max_cost=0.5)
    assert "start it with: harbor mcp --max-cost DOLLARS" in played.refused[0]


async def test_a_series_is_refused_and_costs_the_server_nothing(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, "hold_auction", preset="learning", seats=["Learner"])
        assert "series" in played.refused[0]
        assert served.held.by_name == {}


async def test_an_estimate_counts_the_calls_of_an_auction(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        found = await Played().call(client, "estimate", auction="second-price")
    assert (found["games"], found["calls"], found["cost_dollars"]) == (1, 17, 0.0)


@pytest.mark.parametrize("tool", ["estimate", "run_experiment"])
async def test_an_experiment_has_at_most_a_thousand_repeats(tmp_path, tool):
    named = {"estimate": "experiment", "run_experiment": "name"}[tool]
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        await played.call(client, tool, **{named: "multiverse"}, repeats=1_001)
    assert "1000" in played.refused[0]
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
    async with tools(tmp_path / "runs", max_cost=1.0, trust=True) as served, Client(served.hosts) as client:
        played, models = Played(), [f"{folder.name}.model:make"]
        await played.call(client, tool, **choices, models=models, arms=["melee"], repeats=1)
    assert played.refused == []
    assert import_module(f"{folder.name}.model").THREAD is not threading.current_thread()


@pytest.mark.slow
async def test_an_experiment_is_run_and_read(tmp_path):
    async with tools(tmp_path) as served, Client(served.hosts) as client:
        played = Played()
        listed = (await played.call(client, "list_presets"))["experiments"]
        [arms] = [one["arms"] for one in listed if one["name"] == "second-price"]
        begun = await played.call(client, "run_experiment", name="second-price", arms=arms[:1], repeats=1)
        [working] = [task for task in asyncio.all_tasks() if task.get_name() == begun["experiment"]]
        await working
        found = await played.call(client, "read_experiment", experiment=begun["experiment"])
    assert (found["status"], found["finished"], found["simulated"]) == ("over", begun["games"], True)
    assert found["estimates"][0].keys() >= {"metric", "arm", "bidder", "mean", "low", "high"}
    json.dumps(found, allow_nan=False)
    assert played.refused == []
