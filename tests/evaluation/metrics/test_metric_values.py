"""Metrics from a stranger's package or module: found by name or reference, and one that fails costs no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harbor import Auction, Bidder
from harbor._config.auction import Item
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import lacks
from harbor.evaluation import Metric, metric
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._metrics.built_in import METRICS
from harbor.evaluation._metrics.measurement import measure
from support.commands import Done, harbor
from support.plugins import installed

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


def test_each_of_harbors_own_metrics_is_whole_and_one_without_a_part_or_of_an_unknown_interval_says_what_it_lacks():
    assert {lacks(one) for one in METRICS} == {""}
    assert len({one.name for one in METRICS}) == len(METRICS)
    parts = {"name": "mine", "description": "it", "unit": "number", "measure": lambda *_: []}
    for part, what in {
        "name": "lower case",
        "description": "measures",
        "unit": "dollars",
        "measure": "function",
    }.items():
        said = lacks(Metric(**parts | {part: None}))
        assert said.startswith(f"lacks {part}: ")
        assert what in said
    said = lacks(metric("it", "number", "median", name="mine")(lambda *_: []))
    assert said == "has the interval 'median'; choose one of: mean, skewed, binary"


# ---------------------------------------------------------------- harbor score


def scored(run: Path, *words: str, cwd: Path) -> Done:
    with installed():
        return harbor("score", run, *(word for name in words for word in ("--metric", name)), "--json", cwd=cwd)


def test_score_follows_a_reference_from_the_working_directory(mine, run):
    found = json.loads(scored(run, "mine:letters", "mine:one_by_one", cwd=mine).stdout)["measurements"]
    assert [(one["bidder"], one["value"]) for one in found] == [("Ann", 3), ("Benedict", 8), ("Ann", 1)]


FAILED = {
    "explodes": "KeyError: 'what is not there'", "infinite": "it gave inf, and no number",
    "elsewhere": "it measured 'profit' under the name 'mine:elsewhere'",
    "silent": "it gave a missing value without a reason", "beyond": "it gave 1.5, and no share",
    "half": "it gave 0.5, neither 0 nor 1",
    "nobody": "it measured of None about '' at None, where texts and a whole number belong",
    "somewhere": "it measured of '' about '' at 'noon', where texts and a whole number belong",
    "nothing": "TypeError: 'NoneType' object is not iterable",
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_a_metric_that_fails_is_missing_with_the_reason_and_costs_no_other(name, mine, run):
    done = scored(run, "profit", f"mine:{name}", cwd=mine)
    assert (done.returncode, done.stderr) == (0, "")
    found = [(one["metric"], one["value"], one["missing"]) for one in json.loads(done.stdout)["measurements"]]
    failed = (f"mine:{name}", None, f"the metric failed ({FAILED[name]})")
    assert [one for one in found if one[0] != "profit"] == [failed]
    assert sum(value is not None for _, value, _ in found) == len(BIDDERS)


# ---------------------------------------------------------------- experiments

DESIGN = {
    "name": "named", "title": "Names", "question": "Who has the longest?", "source": "nobody", "repeats": 2,
    "auction": {
        "items": [{"name": "Vase", "start": 100, "true_value": 300}],
        "bidders": [{"name": "Ann", "rule": "truthful"}, {"name": "Benedict", "rule": "minimum-raise"}],
    }, "arms": [{"name": "one"}],
}  # fmt: skip


def test_an_experiment_measures_and_compares_by_a_reference(mine, monkeypatch):
    monkeypatch.chdir(mine)
    named = {
        "metrics": ["mine:letters"], "correlations": [["mine:letters", "mine:explodes"]],
        "comparisons": [{"metric": "mine:letters", "of": {"bidder": "Benedict"}, "against": {"bidder": "Ann"}}],
    }  # fmt: skip
    with installed():
        log = Auction(seed=5, items=ITEMS, bidders=BIDDERS).run().log
        assert {one.value for one in measure(Experiment.model_validate(DESIGN | named).metrics, log)} == {3, 8}


def test_a_metric_of_a_design_that_there_is_not_is_refused_in_one_line():
    for changes, complaint in (
        ({"metrics": ["proft"]}, "unknown metric 'proft'; did you mean 'profit'?"),
        ({"metrics": ["profit"], "correlations": [["profit", "bid"]]}, "unknown metric 'bid'; did you mean 'bids'?"),
        ({"metrics": ["nowhere:IT"]}, "metric 'nowhere:IT': 'nowhere:IT' can't be imported (ModuleNotFoundError"),
    ):
        with pytest.raises(ConfigError, match=re.escape(complaint)):
            Experiment(**DESIGN | changes)
