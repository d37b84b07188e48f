"""Runs as logs of Inspect: what each sample has, what it lacks, and that Inspect's own reader and viewer take them."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path

import pytest

from harbor import run_series
from harbor._config.auction import AuctionConfig
from support.adapters import needs
from support.commands import harbor, mistake
from support.folders import calls

DESIGN = """
name = "written"
title = "Two arms"
question = "Does a test pass?"
source = "made up"
repeats = 2
metrics = ["profit", "rank", "revenue"]
auction.items = [{ name = "A", start = 1000000, true_value = 1987613 },
                 { name = "B", start = 1000000, true_value = 2143837 }]
auction.bidders = [{ name = "Ann", budget = 7351829 },
                   { name = "Ben", budget = 8462917, objective = "canary of Ben" }]
arms = [{ name = "plain", auction.rules.reveal = "price" },
        { name = "richer", auction.bidders.Ann = { budget = 9182736 } }]
"""


FIRST = "games/plain/all/0001"


@pytest.fixture(scope="module")
def experiment(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("design")
    (folder / "design.toml").write_text(DESIGN, encoding="utf-8")
    assert harbor("experiment", "run", folder / "design.toml", "--out", folder / "run", "--quiet").returncode == 0
    return folder / "run"


@pytest.fixture
def reader():
    needs("inspect_ai")
    from inspect_ai.log import read_eval_log

    return lambda path: read_eval_log(str(path), resolve_attachments=True)


@pytest.mark.slow
def test_every_call_is_in_the_sample_of_its_bidder_and_of_no_other(experiment, reader, tmp_path):
    run = experiment / FIRST
    assert harbor("export", run, "--out", tmp_path / "run.eval").returncode == 0
    log, made = reader(tmp_path / "run.eval"), calls(run)
    written = Counter(
        (sample.id, tuple(message.text for message in event.input), event.output.completion)
        for sample in log.samples
        for event in sample.events
        if event.event == "model"
    )
    assert Counter((call["bidder"], tuple(call["prompt"]), call["reply"]) for call in made) == written
    for sample in log.samples:
        assert ("canary of Ben" in sample.model_dump_json()) == (sample.id == "Ben")
        said = [message.text for message in sample.messages if message.role == "assistant"]
        assert said == [call["reply"] for call in made if call["bidder"] == sample.id]
        assert sample.metadata["simulated"]
        assert {"profit", "rank"} <= sample.scores.keys()
    tokens = sum(call["input_tokens"] + call["output_tokens"] for call in made)
    assert log.stats.model_usage["simulated"].total_tokens == tokens


@pytest.mark.slow
def test_an_experiment_is_a_log_per_arm_with_a_sample_per_seat_and_an_epoch_per_repeat_which_the_viewer_shows(
    experiment, reader, tmp_path
):
    from inspect_ai.log import bundle_log_dir

    done = harbor("export", experiment, "--out", tmp_path / "logs")
    files = [Path(line) for line in done.stdout.splitlines()]
    assert [file.name for file in files] == ["plain.eval", "richer.eval"]
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        log = reader(file)
        assert (log.status, log.eval.task) == ("success", file.stem)
        samples = [("Ann", 1), ("Ann", 2), ("Ben", 1), ("Ben", 2)]
        assert sorted((sample.id, sample.epoch) for sample in log.samples) == samples
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert "exists" in mistake(harbor("export", experiment, "--out", tmp_path / "logs"))
    bundle_log_dir(str(tmp_path / "logs"), str(tmp_path / "site"))
    assert (tmp_path / "site" / "index.html").is_file()
    assert {one.name for one in (tmp_path / "site" / "logs").glob("*.eval")} == {"plain.eval", "richer.eval"}


@pytest.mark.slow
def test_a_series_has_an_epoch_per_auction_and_a_public_copy_has_no_call(experiment, reader, tmp_path):
    series = AuctionConfig(
        items=[{"name": "A", "start": 100, "true_value": 900}],
        bidders=[{"name": "Ann", "rule": "rational"}, {"name": "Ben", "rule": "random"}],
        series={"auctions": 2},
    )
    run_series(series, tmp_path / "series")
    assert harbor("export", tmp_path / "series").returncode == 0
    assert sorted(one.epoch for one in reader(tmp_path / "series.eval").samples) == [1, 1, 2, 2]
    assert harbor("pack", experiment / FIRST, "--public", "--out", tmp_path / "p.zip").returncode == 0
    assert harbor("unpack", tmp_path / "p.zip", "--out", tmp_path / "public").returncode == 0
    assert harbor("export", tmp_path / "public", "--out", tmp_path / "public.eval").returncode == 0
    told = reader(tmp_path / "public.eval")
    assert {event.event for sample in told.samples for event in sample.events} == {"info"}
    assert "7351829" not in told.model_dump_json()


def test_without_inspect_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai", None)
    assert "harbor-auctions[inspect]" in mistake(harbor("export", tmp_path))
    assert "does not exist" in mistake(harbor("export", tmp_path / "nope"))
