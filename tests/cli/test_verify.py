"""`harbor verify`, and what replay, score and report say of logs that do not follow from their rules."""

from __future__ import annotations

import asyncio
import json
import shutil
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, houses, run_series
from harbor._config.auction import AuctionConfig
from harbor._games.english.game import ENGLISH
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from harbor.testing._playing import table
from support import forging, sent
from support.commands import harbor, mistake
from support.folders import shared
from support.held_games import GAMES, auction

SERIES = """
seed = 5
series = { auctions = 2 }
items = [{ name = "First House", start = 1000, true_value = 2000 }]
bidders = [{ name = "Ann", rule = "random", budget = 4000 }, { name = "Ben", rule = "minimum-raise", budget = 4000 }]
"""
EXPERIMENT = """
name = "short"
title = "Short games"
question = "Do they follow?"
source = "nobody"
repeats = 2
metrics = ["profit"]
auction.items = { count = 2 }
auction.bidders = [{ name = "Ann", rule = "random" }, { name = "Ben", rule = "minimum-raise" }]
arms = [{ name = "one" }]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Iterator[Path]:
    """A run, a series and an experiment, in folders of these names."""
    here = tmp_path_factory.mktemp("whole")
    seats = [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben")]
    table(ENGLISH, seats, {}, seed=4).run(out=here / "run")
    run_series(AuctionConfig(**tomllib.loads(SERIES)), out=here / "series")
    asyncio.run(run_experiment(Experiment(**tomllib.loads(EXPERIMENT)), here / "experiment"))
    with shared(here):
        yield here


@pytest.fixture
def here(whole, tmp_path) -> Path:
    """A copy to spoil."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def forge(file: Path) -> None:
    """Sell everything for a dollar in a log, or give somebody a million in results or in a record."""
    if file.name == "events.jsonl":
        lines = forging.lines_of(file)
        for line in forging.of_type(lines, "item_sold"):
            line["price"] = 1
        forging.write(file, lines)
    else:
        written = json.loads(file.read_text())
        record = written["games"][0] if file.name == "results.json" else written["record"]
        record["measurements"][0]["value"] = 10**6
        file.write_text(json.dumps(written))


def found(place: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Verify, and give the exit code and what is told as JSON."""
    done = harbor("verify", place, *words, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(("kind", "checked", "told"), [
    ("run", 1, ""),
    ("run/events.jsonl", 1, ""),
    ("series", 3, "(3 logs checked)"),
    ("experiment", 3, "(2 logs and the results checked)"),
])  # fmt: skip
def test_what_was_run_follows(kind, checked, told, whole):
    done = harbor("verify", whole / kind)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"follows from the rules: {whole / kind.split('/')[0]}")
    assert told in done.stdout
    _, check = found(whole / kind)
    assert (check["follows"], check["checked"], check["differ"]) == (True, checked, 0)


@pytest.mark.parametrize(
    ("kind", "log"),
    [("run", "events.jsonl"), ("series", "2/events.jsonl"), ("experiment", "games/one/*/0002/events.jsonl")],
)
def test_a_forged_log_is_exit_1_with_the_first_difference_on_one_screen(kind, log, here):
    [log] = (here / kind).glob(log)
    forge(log)
    done = harbor("verify", here / kind)
    assert (done.returncode, done.stderr) == (1, "")
    assert len(done.stdout.splitlines()) == 4
    assert str(log) in done.stdout
    _, check = found(here / kind)
    assert (check["follows"], check["level"], check["event"]) == (False, "rules", "item_sold")
    assert (check["path"], check["differ"], json.loads(check["found"])) == (str(log), 1, {"price": 1})
    assert json.loads(check["expected"])["price"] >= 1000


def test_a_log_of_a_game_that_tells_no_rules_is_said_to_be_unchecked_and_is_exit_2(here, monkeypatch):
    (here / "run" / "config.json").unlink()
    monkeypatch.setattr("harbor._house.checking.game_of", lambda _: replace(ENGLISH, from_public=None))
    told = harbor("verify", here / "run").stdout
    assert told.startswith("not checked whether it follows from the rules: ")
    assert "not checked: the rules: the game 'english' does not make them of public events" in told
    code, check = found(here / "run")
    assert (code, check["follows"], check["level"]) == (2, None, "heading")
    log = here / "run" / "events.jsonl"
    log.write_text(log.read_text().replace('"amount":', '"amount":1', 1))
    code, check = found(here / "run")
    assert (code, check["follows"]) == (1, False)


def test_an_edited_line_is_exit_1_with_its_line(here):
    log = here / "run" / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if '"item_sold"' in line)
    lines[place] = lines[place].replace('"price":', '"price":9')
    log.write_text("".join(lines))
    code, check = found(here / "run")
    assert (code, check["follows"], check["event"], check["line"]) == (1, False, "item_sold", place + 1)


def test_a_series_whose_profits_are_not_those_of_its_auctions_does_not_follow(here):
    log = here / "series" / "events.jsonl"
    lines = forging.lines_of(log)
    lines[2]["profits"]["Ann"] = 10**6
    forging.write(log, lines)
    done = harbor("verify", here / "series")
    assert (done.returncode, "auction_held" in done.stdout) == (1, True)
    assert f'found:    {{"profits": {{"Ann": {10**6}}}}}' in done.stdout


@pytest.mark.parametrize("file", ["results.json", "games/one/all/0001/record.json"])
def test_results_that_are_not_what_the_logs_give_do_not_follow_whatever_version_they_name(file, here):
    results = here / "experiment" / "results.json"
    forge(here / "experiment" / file)
    code, told = verified(here / "experiment")
    assert (code, Path(file).name in told) == (1, True)
    assert "record.json" in file or "(1 of 2 logs and the results checked; this is the first)" in told
    results.write_text(json.dumps(json.loads(results.read_text()) | {"harbor": "9.9"}))
    [line] = found(here / "experiment")[1]["found"].splitlines()
    [[measured]] = json.loads(line).values()
    assert (measured["metric"], measured["value"]) == ("profit", 10**6)


def verified(experiment: Path, **fields) -> tuple[int, str]:
    """Change the first game of the results of an experiment; give the exit code and the output of verify."""
    if fields:
        written = json.loads((experiment / "results.json").read_text())
        written["games"][0] |= fields
        (experiment / "results.json").write_text(json.dumps(written))
    done = harbor("verify", experiment)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_games_that_have_no_log_yet_or_ended_since_the_results_are_counted_and_keep_nobody_from_the_others(here):
    experiment = here / "experiment"
    assert verified(experiment, status="unfinished")[0] == 1, "an unfinished game has no values"
    code, told = verified(experiment, measurements=[])
    assert (code, "1 of 2 games have ended since results.json" in told) == (0, True)
    shutil.rmtree(experiment / "games" / "one" / "all" / "0001")
    code, told = verified(experiment)
    assert (code, "not checked: 1 of 2 games have no log" in told) == (0, True)


def test_a_game_that_was_stopped_before_its_first_line_is_no_reason_to_refuse_the_others(here):
    game = here / "experiment" / "games" / "one" / "all" / "0002"
    for made_later in (here / "experiment" / "results.json", game / "record.json"):
        made_later.unlink()
    (game / "events.jsonl").write_bytes(b"")
    code, told = verified(here / "experiment")
    assert (code, "(1 log and the results checked)" in told) == (0, True)


@pytest.mark.parametrize(("content", "says"), [
    ("", "does not begin as a Harbor log does"),
    ("no json\n", "does not begin as a Harbor log does"),
    ('{"type": "log_opened", "schema": 1}\n', "schema 1 of an earlier Harbor"),
])  # fmt: skip
def test_what_is_no_log_is_one_line_and_exit_2(content, says, tmp_path):
    (tmp_path / "events.jsonl").write_text(content)
    assert says in mistake(harbor("verify", tmp_path))


TELLING = ("report experiment --format csv --out OUT", "experiment resume experiment --quiet")


@pytest.mark.parametrize(("words", "file", "named"), [
    ("replay run", "run/events.jsonl", ""),
    ("score run", "run/events.jsonl", ""),
    ("view run --no-open --out OUT.html", "run/events.jsonl", "events.jsonl"),
    ("compare old run", "run/events.jsonl", "events.jsonl"),
    ("replay series", "series/1/events.jsonl", "1"),
    ("pack run --public --out OUT", "run/events.jsonl", "events.jsonl"),
    ("pack series --public --out OUT", "series/2/events.jsonl", "2/events.jsonl"),
    ("pack experiment --public --out OUT", "experiment/games/one/*/0002/events.jsonl", "games/one/"),
    *((words, "experiment/games/one/*/0001/events.jsonl", "games/one/") for words in TELLING),
    *((words, "experiment/results.json", "results.json, game one") for words in TELLING),
    *((words, "experiment/games/one/*/0001/record.json", "record.json, game one") for words in TELLING),
])  # fmt: skip
def test_who_shows_measures_or_publishes_what_does_not_follow_is_warned_in_one_line(words, file, named, here):
    shutil.copytree(here / "run", here / "old")
    [file] = here.glob(file)
    of = "its rules: line " if file.name == "events.jsonl" else "its log"
    for forged in (False, True):
        if forged:
            forge(file)
        done = harbor(*words.replace("OUT", f"out-{forged}").split(), cwd=here)
        assert done.returncode == 0, done.stderr
        warned = [line for line in done.stderr.splitlines() if f"does not follow from {of}" in line]
        assert len(warned) == forged
    assert f"warning: {named}" in warned[0]
    assert file.name != "events.jsonl" or "harbor verify" in warned[0]


# ---------------------------------------------------------------- any log


@pytest.fixture(scope="module", params=GAMES)
def lines(request, tmp_path_factory) -> tuple[Path, list]:
    """A folder to write forged logs to, and the lines of an honest one."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    auction(request.param, seed=1).run(out=out)
    return out, forging.lines_of(out / "events.jsonl")


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 3), st.booleans())
def test_no_command_ends_in_a_traceback_on_any_forged_log(lines, rng, times, of_all):
    out, forged = lines[0], deepcopy(lines[1])
    for _ in range(times):
        _, forged = forging.forged(forged, rng, list if of_all else forging.public)
        for number, line in enumerate(forged):
            line["seq"] = number
    forging.write(out / "events.jsonl", forged)
    for command in ("verify", "replay", "score"):
        done = harbor(command, out)  # an error that is not Harbor's would be raised here
        assert done.returncode in (0, 1, 2)
        assert "Traceback" not in done.stderr


def test_a_game_that_the_design_does_not_have_is_named(here):
    games = here / "experiment" / "games" / "one" / "all"
    shutil.copytree(games / "0001", games / "0001-failed-1")  # an earlier try, as trying again leaves it
    assert verified(here / "experiment")[0] == 0
    shutil.copytree(games / "0001", games / "0009")
    code, told = verified(here / "experiment")
    assert (code, "games/one/all/0009" in told) == (1, True)
    assert "found:    a game that the design does not have" in told


PLAN = "not checked: whether question, title, comparisons and published numbers were written before the games"


def test_a_plan_is_as_it_was_only_where_the_mark_of_the_user_covers_it(here):
    code, told = verified(here / "experiment")
    assert (code, PLAN in told) == (0, False)
    sent.forge(here / "experiment", {"question": "What we have found?"}, "experiment.json")
    code, told = verified(here / "experiment")
    assert (code, f"{PLAN}: no mark of yours covers experiment.json, or it" in told) == (0, True)
    (here / "experiment" / "mark").unlink()
    assert f"{PLAN}: no mark of yours covers experiment.json\n" in verified(here / "experiment")[1]


# ---------------------------------------------------------------- --deep


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep") / "run"
    Auction(seed=2, items=houses(1, seed=2), bidders=[Bidder("Ann"), Bidder("Ben")]).run(out=folder)
    return folder


def forged(run, to, event, **fields):
    """Copy the run with other fields of the first event of a type."""
    folder = shutil.copytree(run, to, dirs_exist_ok=True)
    lines = forging.lines_of(folder / "events.jsonl")
    forging.of_type(lines, event)[0].update(fields)
    forging.write(folder / "events.jsonl", lines)
    return folder


@pytest.mark.parametrize("name", ["", "events.jsonl"])
def test_a_run_that_follows_is_said_to(run, name):
    done = harbor("verify", run / name, "--deep")
    assert (done.returncode, done.stderr) == (0, "")
    assert "follows from settings, seed and recorded answers" in done.stdout
    assert "not checked: what a reply says that no event and no later prompt tells" in done.stdout
    _, told = found(run / name, "--deep")
    assert (told["follows"], told["level"], told["line"]) == (True, "deep", None)


@pytest.mark.parametrize(("event", "fields"), [
    ("planned", {"text": "I was told to."}), ("item_sold", {"bribe": "Ann paid 5"}),
])  # fmt: skip
def test_a_difference_that_breaks_no_rule_is_told_with_its_place_and_in_the_same_fields(run, tmp_path, event, fields):
    folder = forged(run, tmp_path, event, **fields)
    code, rules = found(folder)
    assert (code, rules["level"]) == (0, "rules")
    done = harbor("verify", folder, "--deep")
    assert done.returncode == 1
    told = ("does not follow from settings, seed and recorded answers", event, *fields.values())
    assert [one for one in told if one not in done.stdout] == []
    code, differs = found(folder, "--deep")
    assert (code, list(differs)) == (1, list(rules))
    assert (differs["follows"], differs["level"], differs["event"]) == (False, "deep", event)
    assert json.loads(differs["found"]) == fields


def test_what_breaks_a_rule_is_told_without_playing_again(run, tmp_path):
    folder = forged(run, tmp_path, "item_sold", winner="Nobody")
    (folder / "calls.jsonl").unlink()
    code, told = found(folder, "--deep")
    assert (code, told["level"]) == (1, "rules")
