"""The command that sets experiments, or two runs, side by side: what it prints, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.commands import harbor, mistake
from support.folders import contents

DESIGN = """
name = "small"
title = "A small experiment"
question = "Does a test pass?"
source = "made up"
repeats = 2
metrics = ["profit", "rank", "revenue"]
arms = [{ name = "only" }]
[auction]
items = [{ name = "A", start = 1000, true_value = 9000 }, { name = "B", start = 1000, true_value = 8000 }]
bidders = [{ name = "Ann", rule = "rational", budget = 20000 }, { name = "Ben", rule = "random", budget = 20000 }]
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """Three experiments: one, its copy, and one of other seeds and a larger budget."""
    place = tmp_path_factory.mktemp("folders")
    (place / "one.toml").write_text(DESIGN, encoding="utf-8")
    (place / "other.toml").write_text(DESIGN.replace("budget = 20000 }]", "budget = 30000 }]"), encoding="utf-8")
    for name, more in (("one", ()), ("other", ("--seed", "5"))):
        done = harbor("experiment", "run", place / f"{name}.toml", *more, "--out", place / name, "--quiet")
        assert done.returncode == 0
    shutil.copytree(place / "one", place / "copy")
    return place


def game(experiment: Path) -> Path:
    return experiment / "games" / "only" / "all" / "0001"


def test_the_verdict_stands_first_then_differences_settings_and_nothing_is_wider_than_the_screen(folders):
    done = harbor("compare", folders / "one", folders / "other")
    assert done.returncode == 0
    assert done.stdout.startswith(("No difference is found", "1 of", "2 of"))
    assert "as independent games, not as pairs: other seeds" in done.stdout
    assert "bidders.Ben.budget" in done.stdout
    told = json.loads(harbor("compare", folders / "one", folders / "other", "--json").stdout)
    assert {one["how"] for one in told["differences"]} == {"independent"}
    assert {one["setting"] for one in told["settings"]} == {"seed", "auction.bidders.Ben.budget"}
    assert [one["simulated"] for one in told["experiments"]] == [False, False]
    assert told["simulated"] is False


def test_a_copy_is_equal_and_everything_is_written_where_out_says(folders, tmp_path):
    done = harbor("compare", folders / "one", folders / "copy", "--out", tmp_path / "page.html")
    assert done.stdout.startswith("Equal: all")
    assert "Equal: all" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert harbor("compare", folders / "one", folders / "copy", "--out", tmp_path / "t.csv").returncode == 0
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith("experiment,metric,bidder")


def test_two_runs_are_the_same_or_differ_first_somewhere(folders):
    same = harbor("compare", game(folders / "one"), game(folders / "copy"))
    assert same.stdout.startswith("They are the same game")
    apart = json.loads(harbor("compare", game(folders / "one"), game(folders / "other"), "--json").stdout)
    assert apart["event"]["line"] > 1
    assert {"seed", "bidders[1].budget"} & {one["setting"] for one in apart["settings"]}


@pytest.mark.parametrize(("words", "says"), [
    (["one"], "alone is nothing to compare"),
    (["one", "games"], "is no experiment"),
    (["one", "copy", "--metric", "bids"], "no metric that is 'bids' in common"),
    (["one", "copy", "--out", "x.pdf"], "doesn't end in .html or .csv; name it so"),
])  # fmt: skip
def test_what_can_t_be_compared_is_refused_in_one_line(folders, words, says):
    given = [str(game(folders / "one")) if word == "games" else word for word in words]
    assert says in mistake(harbor("compare", *given, cwd=folders))


def test_a_folder_that_was_sent_and_cut_short_is_compared_as_far_as_it_goes_and_nothing_is_written_in_it(
    folders, tmp_path
):
    sent = shutil.copytree(folders / "other", tmp_path / "sent")
    shutil.rmtree(sent / "games" / "only" / "all" / "0002")
    for mark in sent.rglob("mark"):
        mark.unlink()
    before = contents(sent)
    done = harbor("compare", folders / "one", sent)
    assert (done.returncode, "sent: 1 game not finished" in done.stderr) == (0, True)
    assert contents(sent) == before
