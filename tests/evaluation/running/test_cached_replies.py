"""Experiments over the wire: what is kept is not bought twice, and a temperature that a design states is taken."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from harbor import ReplyCache
from harbor._core.basics.errors import ConfigError, ModelError
from harbor._core.files.layout import RESULTS
from harbor._models.replies.reply_folder import ReplyFolder
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._report.page.verdict import caveats
from harbor.evaluation._running.experiment_folder import read_results
from harbor.evaluation._running.runner import RunOptions, resume_experiment, run_experiment
from support.commands import harbor
from support.folders import calls, cut, halve
from support.formats import config, experiment_of
from support.providers import Provider, as_openai, provider

HOSTED = "openai:gpt-4o-mini"
ITEM = {"start": 1_000, "true_value": 2_000}
ARMS = {"thrifty": {"Ann": {"budget": 1_500}}, "rich": {"Ann": {"budget": 4_000}}}


@pytest.fixture
def host(monkeypatch, tmp_path):
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    with as_openai(monkeypatch, seed=5) as server:
        yield server


def experiment(*arms: str, temperature: float = 0.0, same_seed: bool = False) -> Experiment:
    auction = config({"use": HOSTED}, items=[ITEM | {"name": f"Lot {letter}"} for letter in "AB"])
    varied = [{"name": arm, "auction": {"bidders": ARMS[arm]}} for arm in arms]
    return experiment_of(auction, arms=varied, repeats=2, temperature=temperature, same_seed=same_seed)


def run(host: Provider, design: Experiment, out: Path, **options: object) -> tuple[int, list[dict[str, object]]]:
    """Run an experiment; give how many requests it has cost, and the numbers of its games."""
    before = len(host.requests)
    asyncio.run(run_experiment(design, out, RunOptions(**options)))
    assert {call["outcome"] for call in calls(out)} == {"ok"}
    return len(host.requests) - before, numbers(out)


def numbers(folder: Path) -> list[dict[str, object]]:
    """Read what was measured of each game, but for what it has cost and what was found."""
    games = json.loads((folder / RESULTS).read_text())["games"]
    untold = ("cost", "cached_calls", "imported_calls")
    return [{name: value for name, value in game.items() if name not in untold} for game in games]


def asked(folder: Path) -> Counter[str]:
    """Count the calls of an experiment by what was asked."""
    return Counter(json.dumps([call["prompt"], call["attempt"]]) for call in calls(folder))


@pytest.mark.slow
@pytest.mark.parametrize(("temperature", "jobs"), [(0.0, 4), (1.0, 1)])
def test_a_re_run_makes_no_request_and_an_added_arm_pays_for_that_arm_alone(host, tmp_path, temperature, jobs):
    small, large = (experiment(*arms, temperature=temperature) for arms in (["thrifty"], ["thrifty", "rich"]))
    paid, found = run(host, small, tmp_path / "first", jobs=jobs)
    assert paid > 0
    assert run(host, small, tmp_path / "again", jobs=jobs) == (0, found)
    assert all(call["cached"] and call["cost_dollars"] == 0 for call in calls(tmp_path / "again"))
    added, both = run(host, large, tmp_path / "both", jobs=jobs)
    assert [game for game in both if game["arm"] == "thrifty"] == found
    assert 0 < added < len(calls(tmp_path / "both" / "games" / "rich"))  # what the arms have in common is there too
    if temperature == 0:  # games side by side pay once for what they ask alike
        first, all_asked = asked(tmp_path / "first"), asked(tmp_path / "both")
        assert paid == len(first)
        assert len(all_asked) < all_asked.total()
        assert added == len(all_asked.keys() - first.keys())


@pytest.mark.slow
def test_workers_share_what_is_kept_and_without_a_cache_every_call_is_paid(host, tmp_path):
    design = experiment("thrifty")
    first, _ = run(host, design, tmp_path / "uncached", cache=False)
    assert ReplyCache(tmp_path / "replies").is_empty
    run(host, design, tmp_path / "first")
    assert run(host, design, tmp_path / "again", cache=False)[0] == first == len(calls(tmp_path / "again"))
    assert run(host, design, tmp_path / "workers", executor="processes", jobs=2)[0] == 0


@pytest.mark.slow
def test_an_exported_cache_repeats_an_experiment_elsewhere(host, tmp_path, monkeypatch):
    design, file = experiment("thrifty", temperature=1.0), tmp_path / "replies.jsonl.gz"
    _, found = run(host, design, tmp_path / "first")
    run(host, experiment("rich"), tmp_path / "other")
    assert harbor("cache", "export", file, "--experiment", tmp_path / "first").returncode == 0
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "elsewhere"))
    assert harbor("cache", "import", file, "--trust").returncode == 0
    entries = list(ReplyFolder(tmp_path / "elsewhere").files())
    assert len(entries) == len({call["address"] for call in calls(tmp_path / "first")})
    assert run(host, design, tmp_path / "again") == (0, found)
    assert any(one.startswith("Imported replies answered") for one in caveats(read_results(tmp_path / "again")))
    for name, imported in (("again", True), ("first", False)):
        assert {call["imported"] for call in calls(tmp_path / name)} == {imported}
        told = harbor("verify", tmp_path / name).stdout
        assert ("not checked: calls were answered by imported replies" in told) == ("imported" in told) == imported


@pytest.mark.slow
def test_what_an_interrupted_experiment_has_kept_is_not_paid_again_when_it_is_resumed(host, tmp_path):
    folder = tmp_path / "whole"
    _, found = run(host, experiment("thrifty", temperature=1.0), folder, jobs=1)
    [log] = (folder / "games" / "thrifty").rglob("0001/events.jsonl")
    halve(log)
    cut(log.with_name("calls.jsonl"), -3)
    for file in (*folder.rglob("record.json"), folder / "results.json"):
        file.unlink()
    before = len(host.requests)
    asyncio.run(resume_experiment(folder))
    assert (len(host.requests), numbers(folder)) == (before, found)


@pytest.mark.slow
def test_an_auction_keeps_replies_if_it_is_asked_to(host, tmp_path):
    (tmp_path / "sale.json").write_text(json.dumps(config({"use": HOSTED})))
    heard = [len(host.requests)]
    for number, flags in enumerate([[], ["--cache"], ["--cache"], []]):
        words = ["auction", tmp_path / "sale.json", "--trust", "--quiet", *flags, "--out", tmp_path / str(number)]
        assert harbor(*words).returncode == 0
        heard.append(len(host.requests))
    first, kept, found, unkept = (after - before for before, after in pairwise(heard))
    assert first == kept == unkept > found == 0


@pytest.mark.slow
def test_repeats_of_one_seed_share_no_reply_even_at_temperature_0(host, tmp_path):
    design = experiment("thrifty", same_seed=True)
    paid, found = run(host, design, tmp_path / "first")
    assert paid == 2 * len(asked(tmp_path / "first"))
    assert run(host, design, tmp_path / "again") == (0, found)


@pytest.mark.slow
def test_whoever_has_the_replies_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    with provider(seed=5, key="my-own-key") as host:
        monkeypatch.setenv("OPENAI_BASE_URL", host.openai_url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(ConfigError, match="is its API key set"):
            run(host, experiment("thrifty"), tmp_path / "none")
        assert not (tmp_path / "none").exists()
        monkeypatch.setenv("OPENAI_API_KEY", "my-own-key")
        _, found = run(host, experiment("thrifty"), tmp_path / "first")
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.warns(UserWarning, match="nothing is played but replies that are kept"):
            assert run(host, experiment("thrifty"), tmp_path / "again") == (0, found)
        with pytest.warns(UserWarning, match="kept"), pytest.raises(ModelError, match="refused"):
            run(host, experiment("rich"), tmp_path / "other")
        assert {heard.status for heard in host.requests} == {200, 401}


REMEDY = r"leave it out with --set models\.mine\.temperature="


def study(out: Path, model: str = "local", own: dict | None = None, **stated: float) -> None:
    design = experiment_of(config({"use": f"openai:{model}", **(own or {})}), repeats=1, same_seed=False, **stated)
    asyncio.run(run_experiment(design, out, RunOptions(cache=False)))


@pytest.mark.parametrize("stated", [{"temperature": 0.0}, {"own": {"temperature": 0.5}}])
def test_a_first_refusal_of_a_stated_temperature_stops_the_study_and_its_resume_at_one_request_each(
    tmp_path, monkeypatch, stated
):
    with as_openai(monkeypatch, seed=5, refuses=["temperature"]) as server:
        with pytest.raises(ModelError, match=REMEDY):
            study(tmp_path / "run", **stated)
        assert len(server.requests) <= 2
        with pytest.raises(ModelError, match=REMEDY):
            asyncio.run(resume_experiment(tmp_path / "run", RunOptions()))
        assert {heard.status for heard in server.requests} == {400}
        asked = len(server.requests)
        for model in ("local", "gpt-5-mini"):  # now it is known; and the package of the provider leaves it out
            with pytest.raises(ConfigError, match=REMEDY):
                study(tmp_path / "again", model, **stated)
        assert len(server.requests) == asked
        assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(("model", "refuses", "stated", "left_out"), [
    ("local", ["temperature"], {}, ("temperature",)),
    ("gpt-5-mini", [], {}, ("temperature",)),
    ("local", [], {"temperature": 0.0}, ()),
    ("local", ["temperature"], {"temperature": 0.7, "own": {"temperature": None}}, ()),
], ids=["refused", "left out by the package", "taken", "left out by the user"])  # fmt: skip
def test_a_temperature_that_nobody_wrote_is_left_out_and_logged_and_one_that_is_taken_is_sent(
    tmp_path, monkeypatch, model, refuses, stated, left_out
):
    with as_openai(monkeypatch, seed=5, refuses=refuses) as server:
        study(tmp_path / "run", model, **stated)
        assert {heard.status for heard in server.requests} - ({400} if left_out else set()) == {200}
    assert {tuple(call["not_taken"]) for call in calls(tmp_path / "run")} == {left_out}


def test_a_game_of_an_earlier_version_whose_settings_lack_what_must_be_taken_is_of_its_experiment(
    tmp_path, monkeypatch
):
    with as_openai(monkeypatch, seed=5):
        study(tmp_path / "run", temperature=0.0)
    file = tmp_path / "run" / "games" / "all" / "all" / "0001" / "config.json"
    told = json.loads(file.read_text())
    assert told["models"]["mine"].pop("must_take") == ["temperature"]
    file.write_text(json.dumps(told, indent=2) + "\n")
    assert [record.status for record in read_results(tmp_path / "run").records] == ["finished"]


@pytest.mark.slow
def test_the_form_that_a_server_takes_is_found_among_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("HARBOR_CACHE", str(tmp_path / "replies"))
    design = experiment("thrifty", temperature=1.0)
    with as_openai(monkeypatch, seed=5, refuses=["tools", "response_format"]) as host:
        paid, found = run(host, design, tmp_path / "first")
        assert paid > len(calls(tmp_path / "first"))
        shutil.rmtree(tmp_path / "replies" / "passports")  # forget what servers take, as another machine would
        assert run(host, design, tmp_path / "again") == (0, found)
