"""`harbor verify`, and what replay, score and report say of logs that do not follow from their rules."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor import run_series
from harbor._config.auction import AuctionConfig, read_settings
from harbor._games.english.game import ENGLISH
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from harbor.testing._playing import table
from support import forging, sent
from support.commands import harbor, mistake
from support.folders import DATA, shared
from support.held_games import GAMES, auction

SERIES = """
seed = 5
[series]
auctions = 2
[rules]
game = "english"
[[items]]
name = "First House"
start = 1000
true_value = 2000
[[bidders]]
name = "Ann"
rule = "random"
budget = 4000
[[bidders]]
name = "Ben"
rule = "minimum-raise"
budget = 4000
"""
EXPERIMENT = """
name = "short"
title = "Short games"
question = "Do they follow?"
source = "nobody"
repeats = 2
metrics = ["profit"]
auction.items = { count = 2 }
[[auction.bidders]]
name = "Ann"
rule = "random"
[[auction.bidders]]
name = "Ben"
rule = "minimum-raise"
[[arms]]
name = "one"
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Iterator[Path]:
    """A run, a series and an experiment, in folders of these names."""
    here = tmp_path_factory.mktemp("whole")
    seats = [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben")]
    table(ENGLISH, seats, {}, seed=4).run(out=here / "run")
    for name, text in (("series", SERIES), ("experiment", EXPERIMENT)):
        (here / f"{name}.toml").write_text(text)
    run_series(read_settings(here / "series.toml", AuctionConfig), out=here / "series")
    asyncio.run(run_experiment(read_settings(here / "experiment.toml", Experiment), here / "experiment"))
    with shared(here):
        yield here


@pytest.fixture
def here(whole, tmp_path) -> Path:
    """A copy to spoil."""
    shutil.copytree(whole, tmp_path / "copy")
    return tmp_path / "copy"


def forge(log: Path) -> None:
    """Sell everything for a dollar."""
    lines = forging.lines_of(log)
    for line in forging.of_type(lines, "item_sold"):
        line["price"] = 1
    forging.write(log, lines)


def forge_profit(experiment: Path, file: str) -> None:
    """Give somebody a million."""
    [path, *_] = sorted(experiment.rglob(file))
    written = json.loads(path.read_text())
    record = written["games"][0] if file == "results.json" else written["record"]
    record["measurements"][0]["value"] = 10**6
    path.write_text(json.dumps(written))


@pytest.mark.parametrize("kind", ["run", "run/events.jsonl", "series", "experiment"])
def test_what_was_run_follows(kind, whole):
    done = harbor("verify", whole / kind)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"follows from the rules: {whole / kind.split('/')[0]}")
    found = json.loads(harbor("verify", whole / kind, "--json").stdout)
    assert found["follows"] is True
    assert (found["checked"], found["differ"]) == ({"series": 3, "experiment": 3}.get(kind, 1), 0)


@pytest.mark.parametrize(
    ("kind", "log"),
    [("run", "events.jsonl"), ("series", "2/events.jsonl"), ("experiment", "games/one/fixed/0002/events.jsonl")],
)
def test_a_forged_log_is_exit_1_with_the_first_difference_on_one_screen(kind, log, here):
    [log] = (here / kind).glob(log.replace("fixed", "*"))
    forge(log)
    done = harbor("verify", here / kind)
    assert (done.returncode, done.stderr) == (1, "")
    assert len(done.stdout.splitlines()) == 4
    assert str(log) in done.stdout
    found = json.loads(harbor("verify", here / kind, "--json").stdout)
    assert (found["follows"], found["level"], found["event"]) == (False, "rules", "item_sold")
    assert (found["path"], found["differ"]) == (str(log), 1)
    assert json.loads(found["found"]) == {"price": 1}
    assert json.loads(found["expected"])["price"] >= 1000


def test_a_log_of_a_game_that_tells_no_rules_is_said_to_be_unchecked_and_is_exit_2(tmp_path, monkeypatch):
    auction("english").run(out=tmp_path / "run")
    (tmp_path / "run" / "config.json").unlink()
    monkeypatch.setattr("harbor._house.checking.game_of", lambda _: replace(ENGLISH, from_public=None))
    done = harbor("verify", tmp_path / "run")
    assert done.returncode == 2
    assert done.stdout.startswith("not checked whether it follows from the rules: ")
    assert "not checked: the rules: the game 'english' does not make them of public events" in done.stdout
    done = harbor("verify", tmp_path / "run", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["follows"], found["level"]) == (2, None, "heading")
    log = tmp_path / "run" / "events.jsonl"
    log.write_text(log.read_text().replace('"amount":', '"amount":1', 1))
    done = harbor("verify", tmp_path / "run", "--json")
    assert (done.returncode, json.loads(done.stdout)["follows"]) == (1, False)


def test_an_edited_line_is_exit_1_with_its_line(here):
    log = here / "run" / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"item_sold"' in line)
    lines[place] = lines[place].replace(b'"price":', b'"price":9')
    log.write_bytes(b"".join(lines))
    found = json.loads(harbor("verify", here / "run", "--json").stdout)
    assert (found["follows"], found["event"], found["line"]) == (False, "item_sold", place + 1)


def test_a_series_whose_profits_are_not_those_of_its_auctions_does_not_follow(here):
    log = here / "series" / "events.jsonl"
    lines = forging.lines_of(log)
    lines[2]["profits"]["Ann"] = 10**6
    forging.write(log, lines)
    done = harbor("verify", here / "series")
    assert (done.returncode, "auction_held" in done.stdout) == (1, True)
    assert f'found:    {{"profits": {{"Ann": {10**6}}}}}' in done.stdout


def test_words_say_what_is_counted(here):
    assert "(3 logs checked)" in harbor("verify", here / "series").stdout
    assert "(2 logs and the results checked)" in harbor("verify", here / "experiment").stdout
    forge_profit(here / "experiment", "results.json")
    assert "(1 of 2 logs and the results checked; this is the first)" in harbor("verify", here / "experiment").stdout


@pytest.mark.parametrize("file", ["results.json", "record.json"])
def test_results_that_are_not_what_the_logs_give_do_not_follow(file, here):
    forge_profit(here / "experiment", file)
    done = harbor("verify", here / "experiment")
    assert (done.returncode, file in done.stdout) == (1, True)
    [found] = json.loads(harbor("verify", here / "experiment", "--json").stdout)["found"].splitlines()
    [[measured]] = json.loads(found).values()
    assert (measured["metric"], measured["value"]) == ("profit", 10**6)


def changed_results(experiment: Path, **fields) -> None:
    """Change the first game of the results of an experiment."""
    written = json.loads((experiment / "results.json").read_text())
    written["games"][0] |= fields
    (experiment / "results.json").write_text(json.dumps(written))


def test_a_game_without_a_log_is_counted(here):
    shutil.rmtree(here / "experiment" / "games" / "one" / "all" / "0001")
    changed_results(here / "experiment", status="unfinished", measurements=[])
    done = harbor("verify", here / "experiment")
    assert (done.returncode, "not checked: 1 of 2 games have no log" in done.stdout) == (0, True)


def test_a_game_that_was_stopped_before_its_first_line_is_no_reason_to_refuse_the_others(here):
    game = here / "experiment" / "games" / "one" / "all" / "0002"
    for made_later in (here / "experiment" / "results.json", game / "record.json"):
        made_later.unlink()
    (game / "events.jsonl").write_bytes(b"")
    done = harbor("verify", here / "experiment")
    assert (done.returncode, done.stderr) == (0, "")
    assert "(1 log and the results checked)" in done.stdout


def test_results_that_call_a_finished_game_unfinished_are_told_and_have_no_values(here):
    changed_results(here / "experiment", status="unfinished")
    assert harbor("verify", here / "experiment").returncode == 1
    changed_results(here / "experiment", measurements=[])
    done = harbor("verify", here / "experiment")
    assert (done.returncode, "1 of 2 games have ended since results.json" in done.stdout) == (0, True)


def test_results_of_this_version_are_compared_whatever_version_they_name(here):
    written = json.loads((here / "experiment" / "results.json").read_text())
    written["games"][0]["measurements"][0]["value"] = 10**6
    (here / "experiment" / "results.json").write_text(json.dumps(written | {"harbor": "9.9"}))
    assert harbor("verify", here / "experiment").returncode == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "does not begin as a Harbor log does"),
        ("no json\n", "does not begin as a Harbor log does"),
        ('{"type": "log_opened", "schema": 1}\n', "schema 1 of an earlier Harbor"),
    ],
)
def test_what_is_no_log_is_one_line_and_exit_2(content, says, tmp_path):
    (tmp_path / "events.jsonl").write_text(content)
    assert says in mistake(harbor("verify", tmp_path))


def test_a_line_that_is_not_json_is_one_line_and_exit_2(here):
    log = here / "run" / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b"{", b"[", 2))
    assert "does not begin" in mistake(harbor("verify", here / "run"))
    log.write_bytes((DATA.parent / "data" / "tiny.toml").read_bytes())
    mistake(harbor("verify", here / "run"))


@pytest.mark.parametrize("command", ["replay", "score"])
def test_commands_that_measure_a_log_warn_in_one_line_if_it_does_not_follow(command, here, whole):
    assert "does not follow" not in harbor(command, whole / "run").stderr
    forge(here / "run" / "events.jsonl")
    done = harbor(command, here / "run")
    [line] = done.stderr.splitlines()
    assert done.returncode == 0
    assert "the log does not follow from its rules: line " in line
    assert "harbor verify" in line


@pytest.mark.slow
def test_a_report_warns_of_a_game_that_does_not_follow(here):
    [log, *_] = sorted((here / "experiment" / "games").rglob("events.jsonl"))
    forge(log)
    done = harbor("report", here / "experiment")
    assert done.returncode == 0
    assert "does not follow from its rules" in done.stderr


@pytest.mark.parametrize("file", ["results.json", "record.json"])
@pytest.mark.parametrize("words", [["report", "--format", "csv"], ["experiment", "resume", "--quiet"]], ids=" ".join)
def test_who_tells_what_an_experiment_found_warns_of_results_that_do_not_follow(words, file, here):
    assert "does not follow" not in harbor(*words, here / "experiment").stderr
    shutil.rmtree(here / "experiment" / "csv", ignore_errors=True)
    forge_profit(here / "experiment", file)
    done = harbor(*words, here / "experiment")
    assert done.returncode == 0, done.stderr
    assert f"warning: {file}, game one" in done.stderr
    assert "does not follow from its log" in done.stderr


def test_resuming_an_experiment_warns_of_a_log_that_does_not_follow(here):
    [log, *_] = sorted((here / "experiment" / "games").rglob("events.jsonl"))
    forge(log)
    done = harbor("experiment", "resume", "--quiet", here / "experiment")
    assert "does not follow from its rules" in done.stderr


@pytest.mark.parametrize(
    ("kind", "log"),
    [("run", "events.jsonl"), ("series", "2/events.jsonl"), ("experiment", "games/one/*/0002/events.jsonl")],
)
def test_who_publishes_what_does_not_follow_is_warned(kind, log, here):
    [log] = (here / kind).glob(log)
    forge(log)
    done = harbor("pack", here / kind, "--public")
    assert done.returncode == 0, done.stderr
    assert f"warning: {log.relative_to(here / kind)}: the log does not follow from its rules" in done.stderr
    assert "harbor verify" in done.stderr


@pytest.mark.parametrize(
    "words", [["view", "run"], ["view", "run/events.jsonl"], ["compare", "old", "run"]], ids=" ".join
)
def test_who_shows_or_compares_a_run_that_does_not_follow_is_warned(words, here):
    options = ["--no-open", "--out", "page.html"] if words[0] == "view" else []
    shutil.copytree(here / "run", here / "old")
    assert "does not follow" not in harbor(*words, *options, cwd=here).stderr
    forge(here / "run" / "events.jsonl")
    done = harbor(*words, *options, cwd=here)
    assert done.returncode == 0, done.stderr
    assert "warning: events.jsonl: the log does not follow from its rules: line " in done.stderr


def test_replay_of_a_series_warns_of_its_auctions(here):
    forge(here / "series" / "1" / "events.jsonl")
    assert "warning: 1: the log does not follow from its rules" in harbor("replay", here / "series").stderr


# ---------------------------------------------------------------- any log


@pytest.fixture(scope="module", params=GAMES)
def lines(request, tmp_path_factory) -> tuple[Path, list]:
    """A folder to write forged logs to, and the lines of an honest one."""
    out = tmp_path_factory.mktemp(request.param) / "run"
    auction(request.param, seed=1).run(out=out)
    return out, forging.lines_of(out / "events.jsonl")


def everything(lines: list) -> list:
    return lines


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 3), st.booleans())
def test_no_command_ends_in_a_traceback_on_any_forged_log(lines, rng, times, of_all):
    out, forged = lines[0], deepcopy(lines[1])
    for _ in range(times):
        _, forged = forging.forged(forged, rng, everything if of_all else forging.public)
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
    assert harbor("verify", here / "experiment").returncode == 0
    shutil.copytree(games / "0001", games / "0009")
    done = harbor("verify", here / "experiment")
    assert (done.returncode, done.stderr) == (1, "")
    assert "games/one/all/0009" in done.stdout
    assert "found:    a game that the design does not have" in done.stdout


PLAN = "not checked: whether question, title, comparisons and published numbers were written before the games"


def test_a_plan_is_as_it_was_only_where_the_mark_of_the_user_covers_it(here):
    own = harbor("verify", here / "experiment")
    assert (own.returncode, PLAN in own.stdout) == (0, False)
    sent.forge(here / "experiment", {"question": "What we have found?"}, "experiment.json")
    changed = harbor("verify", here / "experiment")
    assert (changed.returncode, f"{PLAN}: no mark of yours covers experiment.json, or it" in changed.stdout) == (
        0,
        True,
    )
    (here / "experiment" / "mark").unlink()
    assert f"{PLAN}: no mark of yours covers experiment.json\n" in harbor("verify", here / "experiment").stdout
