"""Every metric on a real log of every game, whole and broken off, and `harbor score` from the shell."""

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
from harbor.evaluation._analysis import inverse_planner
from harbor.evaluation._metrics import built_in
from harbor.evaluation._metrics.measurement import fitting, measure
from harbor.evaluation._metrics.summary import score
from support.commands import harbor, mistake

METRICS = {one.name: one for one in (*built_in.METRICS, *inverse_planner.METRICS)}
ITEMS = (Item(name="Vase", start=100, true_value=300), Item(name="Urn", start=100, true_value=250))
THINKERS = [
    Bidder("Ann", persona="urban-dwellers", theory_of_mind="inferred", strategy="on", planning="adaptive"),
    Bidder("Ben", persona="rural-home-seekers", planning="static"),
    Bidder("Cho", rule="minimum-raise"),
]
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
    assert all(name in heading for name in ("Ann", "Ben", "Cho"))
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
