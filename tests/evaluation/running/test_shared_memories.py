"""Games of an experiment may share one store of memories; what they come to is as if each had its own."""

from __future__ import annotations

import asyncio
import json

import pytest

from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import BiddersAsked
from harbor._core.log.log import of_type, read_log
from harbor._core.log.thoughts import Recalled
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import RunOptions, run_experiment
from harbor.memory import ChromaStore
from support.processes import chroma_server

LOTS = [{"name": name, "start": 1_000, "true_value": 2_000} for name in ("Lot A", "Lot B")]


def design(series=True, **memory) -> Experiment:
    remembering = [{"name": name, "memory": "full", "learning": True} for name in ("Ann", "Ben")]
    auction = {"items": LOTS, "bidders": remembering, "memory": memory} | (
        {"series": {"auctions": 2}} if series else {}
    )
    metrics = ("series_profit",) if series else ("profit",)
    about = {"name": "sharing", "title": "Sharing", "question": "Who remembers what?", "source": "made up"}
    return Experiment(**about, repeats=4, auction=auction, arms=[{"name": "plain"}], metrics=metrics)


def run(experiment, folder, **running):
    return asyncio.run(run_experiment(experiment, folder, RunOptions(**running)))


def recalled(folder):
    """How many memories came back in each auction, those of a series one after the other."""
    logs = [read_log(log).entries for log in sorted(folder.glob("games/plain/all/**/events.jsonl"))]
    return [[len(one.memories) for one in of_type(log, Recalled)] for log in logs if of_type(log, BiddersAsked)]


def found(folder):
    """The results of an experiment, and how many memories came back."""
    return json.loads((folder / "results.json").read_text())["games"], recalled(folder)


def test_games_side_by_side_in_one_folder_come_to_what_games_with_a_store_each_come_to(tmp_path):
    run(design(), tmp_path / "apart")
    run(design(store=str(tmp_path / "memory"), carry_over="series"), tmp_path / "shared", jobs=4)
    assert found(tmp_path / "shared") == found(tmp_path / "apart")
    assert sum(map(any, recalled(tmp_path / "shared"))) == 4  # the second auction of each
    with ChromaStore(tmp_path / "memory", embedding=None) as store:  # nobody holds it any longer
        assert len({namespace[0] for namespace in store.list_namespaces(limit=100)}) == 4


def test_games_share_a_memory_that_is_only_read(tmp_path):
    run(design(store=str(tmp_path / "memory"), carry_over="series"), tmp_path / "first")
    assert not any(map(any, recalled(tmp_path / "first")[::2]))
    run(design(series=False, store=str(tmp_path / "memory"), frozen=True), tmp_path / "later")
    assert len(recalled(tmp_path / "later")) == 4


def test_games_that_would_recall_each_other_are_refused_before_anything_is_written(tmp_path):
    for also in ({}, {"embedding": "hashing"}):
        with pytest.raises(ConfigError, match=r"arm 'plain' share the memory .*carry_over = \"series\""):
            run(design(store=str(tmp_path / "memory"), **also), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_workers_that_cannot_open_one_folder_are_refused_with_the_remedy(tmp_path):
    shared = design(store=str(tmp_path / "memory"), carry_over="series")
    with pytest.raises(ConfigError, match=r"executor 'processes' can't open .*chroma run --path"):
        run(shared, tmp_path / "run", executor="processes")


@pytest.mark.studies
def test_games_in_several_processes_share_a_chroma_server(tmp_path):
    address, server = chroma_server(tmp_path / "served")
    try:
        run(design(), tmp_path / "apart")
        run(design(store=address, carry_over="series"), tmp_path / "shared", executor="processes", jobs=2)
    finally:
        server.kill()
        server.wait()
    assert found(tmp_path / "shared") == found(tmp_path / "apart")
