"""Every metric on a real log of every game, whole and broken off; `harbor score`; and metrics of a stranger."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, run_series
from harbor._config.auction import Houses, Item, Series
from harbor._core.files.layout import EVENTS
from harbor._core.log.log import read_log
from harbor._core.plugins.extensions import lacks
from harbor.evaluation import Metric, metric
from harbor.evaluation._analysis import inverse_planner
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._metrics import built_in
from harbor.evaluation._metrics.measurement import fitting, measure
from harbor.evaluation._metrics.summary import score
from support.commands import harbor, mistake
from support.plugins import installed

METRICS = {one.name: one for one in (*built_in.METRICS, *inverse_planner.METRICS)}
ITEMS = (Item(name="Vase", start=100, true_value=300), Item(name="Urn", start=100, true_value=250))
THINKERS = [
    Bidder("Ann", persona="urban-dwellers", theory_of_mind="inferred", strategy="on", planning="adaptive"),
    Bidder("Ben", persona="rural-home-seekers", planning="static"),
    Bidder("Cho", rule="minimum-raise"),
]
NAMES = ("Ann", "Ben", "Cho")
RIVALS = [Bidder(name) for name in ("Alex", "Bob", "Cindy")]
SESSIONS = ("second-price", "first-price", "english-private", "beauty")
AUCTIONS = {
    "english": Auction(seed=5, items=Houses(count=3, matched=1), bidders=THINKERS),
    "water": Auction(rules={"game": "water", "days": 3, "supply": "low"}, bidders=RIVALS),
    **{game: Auction(rules={"game": game, "runs": 2}, bidders=RIVALS) for game in SESSIONS},
}
PAIR = [Bidder("Ann", budget=500), Bidder("Ben", budget=500, rule="minimum-raise")]
ROW = Auction(items=ITEMS, bidders=PAIR, series=Series(auctions=2))
GAMES = (*AUCTIONS, "series")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A finished run of each game, and a series."""
    place = tmp_path_factory.mktemp("runs")
    for game, auction in AUCTIONS.items():
        auction.run(out=place / game)
    run_series(ROW, out=place / "series")
    return {game: place / game for game in GAMES}


@pytest.fixture(scope="module")
def logs(folders):
    return {game: read_log(folder / EVENTS).entries for game, folder in folders.items()}


# ---------------------------------------------------------------- every metric, every game


@pytest.mark.parametrize("game", GAMES)
def test_every_metric_is_a_finite_number_or_a_reason_and_one_of_another_game_is_missing_once_with_it(game, logs):
    found = measure(METRICS, logs[game])
    assert {one.metric for one in found} == set(METRICS)
    for one in found:
        assert (one.value is None) == bool(one.missing)
        assert one.value is None or (type(one.value) is float and math.isfinite(one.value))
    strangers = [name for name in METRICS if name not in fitting(logs[game])]
    assert [(one.metric, one.value, one.missing) for one in found if one.metric in strangers] == [
        (name, None, f"the log is of another game: it has no {METRICS[name].wanted}") for name in strangers
    ]


def test_every_metric_fits_a_game_and_a_thinking_auction_gives_a_number_to_every_metric_of_its_game(logs):
    fits = {game: set(fitting(entries)) for game, entries in logs.items()}
    assert set().union(*fits.values()) == set(METRICS)
    assert all(fits.values())
    found = {one.metric for one in measure(fits["english"], logs["english"]) if one.value is not None}
    assert found == fits["english"] - {"efficiency", "efficiency_by_item"}  # its items are worth the same to all


@settings(max_examples=40)
@given(st.sampled_from(GAMES), st.floats(0, 1))
def test_a_log_that_broke_off_anywhere_is_measured_or_says_why_not(logs, game, share):
    entries = logs[game][: math.ceil(share * len(logs[game]))]
    for one in measure(METRICS, entries):
        assert (one.value is None) == bool(one.missing)
        assert one.value is None or math.isfinite(one.value)


# ---------------------------------------------------------------- harbor score


@pytest.mark.parametrize("game", ["english", "series"])
def test_score_prints_what_the_metrics_of_the_game_say(game, folders, logs):
    done = harbor("score", folders[game], "--json")
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert shown == json.loads(json.dumps(score(logs[game]).as_json()))
    assert set(shown) == {"run", "seed", "simulated", "measurements", "left_out"}
    assert (shown["run"], shown["simulated"]) == (game, True)
    assert set(shown["measurements"][0]) == {"metric", "bidder", "about", "at", "value", "missing", "counted"}
    assert {one["metric"] for one in shown["measurements"]} == set(fitting(logs[game]))


def test_score_prints_a_table_of_metrics_by_bidder_and_lists_what_is_missing(folders):
    lines = harbor("score", folders["english"]).stdout.splitlines()
    heading = next(line for line in lines if "metric" in line)
    assert all(name in heading for name in NAMES)
    assert any("profit_ratio" in line for line in lines)
    [missing] = [line for line in lines if line.endswith(": the bidder has no persona")]  # a reason is told once
    assert "acquisition_rate of Cho" in missing
    assert "seed 5 (simulated bidders)" in lines
    assert any(line.startswith("left out: survived, ") and line.endswith(": it has no WaterOpened") for line in lines)


def test_score_takes_the_metrics_it_is_asked_for_and_a_log_for_a_folder(folders):
    done = harbor("score", folders["water"] / EVENTS, "--metric", "survivors", "--metric", "profit_ratio", "--json")
    survivors, ratio = json.loads(done.stdout)["measurements"]
    assert (survivors["metric"], survivors["value"] is None) == ("survivors", False)
    assert (ratio["metric"], ratio["value"]) == ("profit_ratio", None)
    assert ratio["missing"] == "the log is of another game: it has no Listed"


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_log_that_broke_off_in_or_after_a_line_is_measured_as_far_as_it_goes_with_a_warning(
    is_cut, folders, tmp_path
):
    lines = (folders["english"] / EVENTS).read_bytes().splitlines(keepends=True)
    whole = len(lines) // 2
    rest = lines[whole][: len(lines[whole]) // 2] if is_cut else b""
    (tmp_path / EVENTS).write_bytes(b"".join([*lines[:whole], rest]))
    done = harbor("score", tmp_path, "--json")
    cut = f"line {whole + 1} is cut short; read up to line {whole};"
    early = f"the log ends at line {whole}, before the sale closed; it is measured as far as it goes\n"
    assert done.stderr.startswith(f"harbor: warning: {cut if is_cut else early}")
    assert done.stderr.endswith("it is measured as far as it goes\n")
    assert any(one["value"] for one in json.loads(done.stdout)["measurements"])


def test_an_unknown_metric_and_a_folder_without_a_run_are_refused_in_one_line(folders):
    for words, error in (
        ([folders["english"], "--metric", "proft"], "unknown metric 'proft'; did you mean 'profit'"),
        ([folders["english"].parent], "contains no run.* give its folder"),
    ):
        assert re.search(error, mistake(harbor("score", *words)))


def test_a_name_from_a_file_is_shown_as_text_and_never_as_markup(tmp_path):
    bidders = [Bidder("[bold]Ann", rule="truthful"), Bidder("Ben", rule="minimum-raise")]
    Auction(items=ITEMS, bidders=bidders).run(out=tmp_path / "run")
    assert "[bold]Ann" in harbor("score", tmp_path / "run").stdout


# ---------------------------------------------------------------- metrics of a stranger

MINE = """
from harbor import of_type
from harbor.evaluation import by_bidder, measured, metric
from harbor.events import BidderSeated

@metric("names, by the place of their first letter", "number")
def initial(name, entries):
    return by_bidder(name, {seat.bidder: ord(seat.bidder[0]) - 64 for seat in of_type(entries, BidderSeated)})

@metric("one by one", "number")
def one_by_one(name, entries):
    yield from by_bidder(name, {"Ann": 1})

def giving(name, unit, values, interval="mean"):
    return metric("odd", unit, interval, name=name)(lambda name, entries: values(name))

explodes = giving("explodes", "number", lambda name: {}["what is not there"])
nothing = giving("nothing", "number", lambda name: None)
infinite = giving("infinite", "number", lambda name: [measured(name, float("inf"))])
elsewhere = giving("elsewhere", "number", lambda name: [measured("profit", 1)])
silent = giving("silent", "number", lambda name: [measured(name, None)])
beyond = giving("beyond", "share", lambda name: [measured(name, 1.5)])
half = giving("half", "share", lambda name: [measured(name, 0.5)], "binary")
nobody = giving("nobody", "number", lambda name: by_bidder(name, {None: 1}))
somewhere = giving("somewhere", "number", lambda name: [measured(name, 1, at="noon")])
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Work in a folder with the module of a stranger."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    with installed():
        yield


def scored(run, *names):
    done = harbor("score", run, *(word for name in names for word in ("--metric", name)), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["measurements"]


@pytest.mark.usefixtures("mine")
def test_score_and_an_experiment_follow_a_reference_from_the_working_directory(folders, logs):
    found = scored(folders["english"], "mine:initial", "mine:one_by_one")
    assert [(one["bidder"], one["value"]) for one in found] == [("Ann", 1), ("Ben", 2), ("Cho", 3), ("Ann", 1)]
    about = {"name": "named", "title": "Names", "question": "Who is the first?", "source": "nobody", "repeats": 2}
    sale = {"items": [ITEMS[0].model_dump()], "bidders": [{"name": "Ann"}, {"name": "Ben"}]}
    named = {
        "metrics": ["mine:initial"], "correlations": [["mine:initial", "mine:explodes"]],
        "comparisons": [{"metric": "mine:initial", "of": {"bidder": "Ben"}, "against": {"bidder": "Ann"}}],
    }  # fmt: skip
    design = Experiment.model_validate(about | named | {"auction": sale, "arms": [{"name": "one"}]})
    assert [one.value for one in measure(design.metrics, logs["english"])] == [1, 2, 3]


FAILED = {
    "explodes": "KeyError: 'what is not there'", "infinite": "it gave inf, and no number",
    "elsewhere": "it measured 'profit' under the name 'mine:elsewhere'",
    "silent": "it gave a missing value without a reason", "beyond": "it gave 1.5, and no share",
    "half": "it gave 0.5, neither 0 nor 1",
    "nobody": "it measured of None about '' at None, where texts and a whole number belong",
    "somewhere": "it measured of '' about '' at 'noon', where texts and a whole number belong",
    "nothing": "TypeError: 'NoneType' object is not iterable",
}  # fmt: skip


@pytest.mark.usefixtures("mine")
def test_a_metric_that_fails_is_missing_with_the_reason_and_costs_no_other(folders):
    found = scored(folders["english"], "profit", *(f"mine:{name}" for name in FAILED))
    failed = [(f"mine:{name}", None, f"the metric failed ({why})") for name, why in FAILED.items()]
    assert [(one["metric"], one["value"], one["missing"]) for one in found if one["metric"] != "profit"] == failed
    assert sum(one["value"] is not None for one in found) == len(NAMES)


def test_each_of_harbors_own_metrics_is_whole_and_one_without_a_part_or_of_an_unknown_interval_says_what_it_lacks():
    assert {lacks(one) for one in built_in.METRICS} == {""}
    assert len({one.name for one in built_in.METRICS}) == len(built_in.METRICS)
    parts = {"name": "mine", "description": "it", "unit": "number", "measure": lambda *_: []}
    remedies = {"name": "lower case", "description": "measures", "unit": "dollars", "measure": "function"}
    for part, what in remedies.items():
        assert re.match(f"lacks {part}: .*{what}", lacks(Metric(**parts | {part: None})))
    said = lacks(metric("it", "number", "median", name="mine")(lambda *_: []))
    assert said == "has the interval 'median'; choose one of: mean, skewed, binary"
