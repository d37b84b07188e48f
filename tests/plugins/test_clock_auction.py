"""A stranger's package in a fresh environment: all that it brings is used, with no edit to Harbor."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from harbor import of_type, read_log
from harbor.events import SeatFailed, Signal, ThoughtFailed, Tried
from support.commands import harbor, mistake
from support.folders import ROOT, calls
from support.plugins import installed

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "plugin"
PACKAGE = {"origin": "harbor-clock-auction", "version": "0.1.0"}
RANDOM = '\n[[bidders]]\nname = "Eve"\nrule = "random"\nbudget = 100\n'
REFLECTING = 'items = { count = 3 }\nbidders = [{ name = "Ann", nodes = ["reflect"] }, { name = "Ben" }]\n'
BRINGS = {
    "games": "dutch", "nodes": "reflect", "metrics": "patience", "figures": "falling-prices",
    "policies": "half-value", "catalogues": "flowers", "personas": "market-stalls",
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def run(environment, place) -> Path:
    """A run of the game by the command line, with bidders of every kind."""
    (place / "auction.toml").write_text((EXAMPLE / "auction.toml").read_text() + RANDOM)
    with installed(environment.site):
        done = harbor("auction", "auction.toml", "--out", "run", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Dee" in done.stdout.partition("Standings")[2]
    return place / "run"


@pytest.fixture(scope="module")
def experiment(environment, place) -> Path:
    """The experiment, held in other processes."""
    words = ["--executor", "processes", "--jobs", "2", "--repeats", "2", "--quiet", "--out", "experiment"]
    done = environment.run("harbor", "experiment", "run", EXAMPLE / "experiment.toml", *words, cwd=place)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return place / "experiment"


@pytest.fixture(scope="module")
def reflecting(environment, place) -> Path:
    """A run of Harbor's own game, with a bidder that has the package's thought."""
    (place / "reflecting.toml").write_text(REFLECTING)
    with installed(environment.site):
        done = harbor("auction", "reflecting.toml", "--quiet", "--out", "reflecting", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    return place / "reflecting"


def test_simulated_rational_random_and_scripted_bidders_play_the_game_by_its_rules(run, in_company):
    from clock_auction.rules import FlowerSold, PriceCalled

    log = read_log(run / "events.jsonl").entries
    sold = of_type(log, FlowerSold)
    assert len(sold) == 6
    assert len({one.winner for one in sold}) > 2
    assert not [one for kind in (Tried, SeatFailed, ThoughtFailed) for one in of_type(log, kind)]
    falling = [(one.item, one.price) for one in of_type(log, PriceCalled)]
    assert all(later < before for (item, before), (same, later) in pairwise(falling) if item == same)
    assert all((one.item, one.price) in falling for one in sold if one.winner)
    [estimates] = [one.values for one in of_type(log, Signal) if one.bidder == "Dee"]
    assert max(one.price / estimates[one.item] for one in sold if one.winner == "Dee") <= Decimal("0.5")


def test_the_catalogue_of_the_package_gives_personas_and_items(run):
    first, *others = ["".join(call["prompt"]) for call in calls(run) if call["bidder"] == "Ann"]
    assert all("You decorate weddings." in prompt for prompt in (first, *others))
    assert "White Peonies" in first


def test_a_run_is_measured_by_the_metric_of_the_package_and_replayed_to_its_standings(run, in_company):
    done = harbor("score", run, "--metric", "patience", "--json")
    found = {one["bidder"]: one["value"] for one in json.loads(done.stdout)["measurements"]}
    assert set(found) == {"Ann", "Ben", "Cho", "Dee", "Eve"}
    assert 0 < found["Dee"] < found["Ann"] < 1
    rows = {row["bidder"]: row for row in json.loads(harbor("replay", run, "--json").stdout)["standings"]}
    assert {"bidder", "items_won", "spent", "profit"} == set(rows["Dee"])
    assert rows["Dee"]["items_won"] > 0


def test_what_the_package_brings_is_listed_with_its_origin_and_version(in_company):
    for what, name in BRINGS.items():
        rows = {row["name"]: row for row in json.loads(harbor("list", what, "--json").stdout)}
        version = {"version": "1"} if what in ("catalogues", "personas") else {}
        assert rows[name].items() >= (PACKAGE | version).items()


def test_an_experiment_in_other_processes_has_its_metric(experiment):
    games = json.loads((experiment / "results.json").read_text())["games"]
    assert len(games) == 4
    found = [(game["arm"], one) for game in games for one in game["measurements"] if one["bidder"] == "Ann"]
    equilibrium, half = ([one["value"] for arm, one in found if arm == name] for name in ("equilibrium", "half"))
    assert max(half) <= 0.5 < min(equilibrium)


def test_a_report_contains_its_figure(experiment, in_company):
    done = harbor("report", experiment)
    assert (done.returncode, done.stderr) == (0, "")
    page = (experiment / "report.html").read_text(encoding="utf-8")
    assert page.count('aria-label="How far prices fall') == 2
    assert "Ann pays 0.4" in page


def test_a_bidder_of_the_ascending_auction_has_the_thought_of_the_package(reflecting, in_company):
    from clock_auction.node import Reflected

    thoughts = of_type(read_log(reflecting / "events.jsonl").entries, Reflected)
    assert [(one.bidder, bool(one.lesson)) for one in thoughts] == [("Ann", True)] * len(thoughts)
    assert len(thoughts) >= 2


def test_later_prompts_are_told_what_it_concluded(reflecting):
    mine = [call for call in calls(reflecting) if call["bidder"] == "Ann"]
    first = next(number for number, call in enumerate(mine) if call["purpose"] == "reflect")
    lesson = json.loads(mine[first]["reply"])["lesson"]
    assert not any('"reflect":' in "".join(call["prompt"]) for call in mine[:first])
    assert any(lesson in "".join(call["prompt"]) for call in mine[first + 1 :] if call["purpose"] == "bid")
    assert not any('"reflect":' in "".join(call["prompt"]) for call in calls(reflecting) if call["bidder"] == "Ben")


@pytest.mark.studies  # CI runs the suites of the bundle auction and of a new game
def test_each_value_of_the_package_passes_the_suite_of_its_kind(environment, tmp_path):
    done = environment.suite(EXAMPLE, tmp_path)
    assert (done.returncode, "7 passed" in done.stdout) == (0, True), done.stdout


def test_without_the_package_its_log_and_its_experiment_say_which_one_is_missing(run, experiment, tmp_path):
    missing = "the game 'dutch' from the package 'harbor-clock-auction' 0.1.0, which is not installed"
    copy = shutil.copytree(experiment, tmp_path / "copy")
    of_a_run = (["replay", run], ["score", run], ["resume", run])
    of_games = (["report", experiment], ["experiment", "resume", experiment], ["compare", copy, experiment])
    for words in of_a_run + of_games:
        assert missing in mistake(harbor(*words)), words


def test_without_the_package_its_settings_are_refused_in_one_line(tmp_path):
    assert "unknown game 'dutch'" in mistake(harbor("auction", EXAMPLE / "auction.toml", cwd=tmp_path))
