"""Metrics from a stranger's package or module: found by name or reference, and one that fails costs no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor import Auction, Bidder
from harbor._config.auction import Item
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import lacks
from harbor._core.plugins.finding import everything, find
from harbor.evaluation import Metric, metric
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._metrics.built_in import METRICS
from harbor.evaluation._metrics.measurement import measure
from support.commands import Done, harbor, mistake
from support.plugins import install, installed

MINE = """
from harbor import of_type
from harbor.evaluation import by_bidder, measured, metric
from harbor.events import BidderSeated

@metric("names, in letters", "letters")
def letters(name, entries):
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})

@metric("never", "number")
def explodes(name, entries):
    raise KeyError("what is not there")

@metric("one by one", "number")
def one_by_one(name, entries):
    yield from by_bidder(name, {"Ann": 1})

@metric("no list", "number")
def nothing(name, entries):
    return None

def giving(unit, values, interval="mean"):
    return metric("odd", unit, interval, name="odd")(lambda name, entries: values(name))

infinite = giving("number", lambda name: [measured(name, float("inf"))])
elsewhere = giving("number", lambda name: [measured("profit", 1)])
silent = giving("number", lambda name: [measured(name, None)])
beyond = giving("share", lambda name: [measured(name, 1.5)])
half = giving("share", lambda name: [measured(name, 0.5)], "binary")
nobody = giving("number", lambda name: by_bidder(name, {None: 1}))
somewhere = giving("number", lambda name: [measured(name, 1, at="noon")])
ALL = (letters, explodes)
"""
ITEMS = (Item(name="Vase", start=100, true_value=300),)
BIDDERS = [Bidder("Ann", rule="truthful"), Bidder("Benedict", rule="minimum-raise")]


@pytest.fixture
def mine(tmp_path) -> Path:
    """The module of a stranger, in a folder of its own."""
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "run"
    Auction(seed=5, items=ITEMS, bidders=BIDDERS).run(out=place)
    return place


def test_each_of_harbors_own_metrics_is_whole():
    assert [lacks(one) for one in METRICS] == [""] * len(METRICS)
    assert len({one.name for one in METRICS}) == len(METRICS)


@pytest.mark.parametrize(
    ("part", "what"),
    [("name", "lower case"), ("description", "measures"), ("unit", "dollars"), ("measure", "function")],
)
def test_a_metric_without_a_part_says_which(part, what):
    parts = {"name": "mine", "description": "it", "unit": "number", "measure": lambda *_: []}
    said = lacks(Metric(**parts | {part: None}))
    assert said.startswith(f"lacks {part}: ")
    assert what in said


def test_an_interval_that_nobody_can_make_is_refused():
    said = lacks(metric("it", "number", "median", name="mine")(lambda *_: []))
    assert said == "has the interval 'median'; choose one of: mean, skewed, binary"


# ---------------------------------------------------------------- harbor score


def scored(run: Path, reference: str, *words: str, cwd: Path) -> Done:
    with installed():
        return harbor("score", run, "--metric", reference, *words, cwd=cwd)


@pytest.mark.parametrize(("name", "found"), [("letters", {"Ann": 3, "Benedict": 8}), ("one_by_one", {"Ann": 1})])
def test_score_follows_a_reference_from_the_working_directory(name, found, mine, run):
    done = scored(run, f"mine:{name}", "--json", cwd=mine)
    assert done.returncode == 0, done.stderr
    assert {one["bidder"]: one["value"] for one in json.loads(done.stdout)["measurements"]} == found


def test_score_shows_a_unit_that_it_does_not_know_as_a_plain_number(mine, run):
    assert "8.000" in scored(run, "mine:letters", cwd=mine).stdout


@pytest.mark.parametrize(("reference", "complaint"), [
    ("mine:nowhere", "metric 'mine:nowhere': 'mine:nowhere' can't be imported (AttributeError"),
    ("mine:MINE", "metric 'mine:MINE': 'mine:MINE' can't be imported"),
    ("mine:metric", "metric 'mine:metric': 'mine:metric' is no metric, but "),
    ("./mine.py", "metric './mine.py' is no name and no 'package.module:NAME'"),
])  # fmt: skip
def test_a_reference_to_no_metric_is_refused_in_one_line(reference, complaint, mine, run):
    assert mistake(scored(run, reference, cwd=mine)).startswith(complaint)


BELONG = "where texts and a whole number belong"


@pytest.mark.parametrize(("name", "why"), [
    ("explodes", "KeyError: 'what is not there'"), ("infinite", "it gave inf, and no number"),
    ("elsewhere", "it measured 'profit' under the name 'mine:elsewhere'"),
    ("silent", "it gave a missing value without a reason"), ("beyond", "it gave 1.5, and no share"),
    ("half", "it gave 0.5, neither 0 nor 1"), ("nobody", f"it measured of None about '' at None, {BELONG}"),
    ("somewhere", f"it measured of '' about '' at 'noon', {BELONG}"),
    ("nothing", "TypeError: 'NoneType' object is not iterable"),
])  # fmt: skip
def test_a_metric_that_fails_is_missing_with_the_reason_and_costs_no_other(name, why, mine, run):
    done = scored(run, f"mine:{name}", "--metric", "profit", "--json", cwd=mine)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["measurements"]
    odd = [(one["value"], one["missing"]) for one in found if one["metric"] == f"mine:{name}"]
    assert odd == [(None, f"the metric failed ({why})")]
    assert sum(one["value"] is not None for one in found) == len(BIDDERS)


def test_score_takes_the_metrics_of_all_packages_and_warns_of_a_broken_one_once(mine, run, tmp_path):
    good = install(tmp_path / "good", "good", {"good.py": MINE}, {"harbor.metrics": {"good": "good:ALL"}})
    bad = install(tmp_path / "bad", "bad", {"bad.py": "import nowhere"}, {"harbor.metrics": {"bad": "bad:IT"}}, "0.3")
    with installed(good, bad):
        done = harbor("score", run, "--json")
    warned = "harbor: warning: package 'bad' 0.3, entry point 'bad' of 'harbor.metrics': 'bad:IT' can't be imported"
    assert done.returncode == 0
    assert done.stderr.startswith(warned)
    assert done.stderr.count("\n") == 1
    found = {one["metric"]: one for one in json.loads(done.stdout)["measurements"]}
    assert found["letters"]["value"] == 8
    assert found["explodes"]["missing"].startswith("the metric failed")
    assert found["profit"]["value"] is not None


def test_a_package_can_t_take_the_name_of_one_of_harbors_metrics(run, tmp_path):
    code = MINE.partition("ALL")[0].replace("def letters", "def profit")
    place = install(tmp_path, "thief", {"thief.py": code}, {"harbor.metrics": {"profit": "thief:profit"}})
    with installed(place), pytest.warns(UserWarning, match="the name of the metric 'profit' is taken by 'harbor-auc"):
        assert [one.package for one in everything("metric") if one.name == "profit"] == ["harbor-auctions"]
    with installed(place):
        assert find("metric", "profit") in METRICS


# ---------------------------------------------------------------- experiments

DESIGN = {
    "name": "named", "title": "Names", "question": "Who has the longest?", "source": "nobody", "repeats": 2,
    "auction": {
        "items": [{"name": "Vase", "start": 100, "true_value": 300}],
        "bidders": [{"name": "Ann", "rule": "truthful"}, {"name": "Benedict", "rule": "minimum-raise"}],
    },
    "arms": [{"name": "one"}],
}  # fmt: skip


def test_an_experiment_measures_and_compares_by_a_reference(mine, monkeypatch):
    monkeypatch.chdir(mine)
    compared = {"metric": "mine:letters", "of": {"bidder": "Benedict"}, "against": {"bidder": "Ann"}}
    named = {
        "metrics": ["mine:letters"],
        "correlations": [["mine:letters", "mine:explodes"]],
        "comparisons": [compared],
    }
    with installed():
        log = Auction(seed=5, items=ITEMS, bidders=BIDDERS).run().log
        assert {one.value for one in measure(Experiment.model_validate(DESIGN | named).metrics, log)} == {3, 8}


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"metrics": ["proft"]}, "unknown metric 'proft'; did you mean 'profit'?"),
    ({"metrics": ["profit"], "correlations": [["profit", "bid"]]}, "unknown metric 'bid'; did you mean 'bids'?"),
    ({"metrics": ["nowhere:IT"]}, "metric 'nowhere:IT': 'nowhere:IT' can't be imported (ModuleNotFoundError"),
])  # fmt: skip
def test_a_metric_of_a_design_that_there_is_not_is_refused_in_one_line(changes, complaint):
    with pytest.raises(ConfigError) as refused:
        Experiment(**DESIGN | changes)
    assert complaint in str(refused.value)
