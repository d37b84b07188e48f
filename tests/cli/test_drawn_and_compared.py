"""The commands that draw an experiment, or set experiments or two runs side by side: what is written and refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from harbor._core.plugins.finding import find
from harbor.evaluation._report.plots import figures
from support.commands import harbor, mistake
from support.folders import contents

DESIGN = """
name = "small"
title = "A <b>small</b> experiment_1"
question = "Does a limit cost?"
source = "nobody"
repeats = 2
metrics = ["profit", "rank", "revenue"]
arms = [{ name = "only" }, { name = "two", auction.bidders.Ann.budget = 15000 }]
comparisons = [{ metric = "profit", of.arm = "two", against.arm = "only" }]
[auction]
items = [{ name = "A", start = 1000, true_value = 9000 }, { name = "B", start = 1000, true_value = 8000 }]
bidders = [{ name = "Ann", rule = "minimum-raise", budget = 20000 }, { name = "Ben", rule = "random", budget = 20000 }]
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


@pytest.fixture
def folder(folders) -> Path:
    return folders / "one"


# ---------------------------------------------------------------- figures


def test_without_a_name_the_figures_are_listed_and_none_is_drawn(folder, monkeypatch):
    monkeypatch.setattr(figures, "_drawn", lambda *_: pytest.fail("a figure is drawn to be listed"))
    done = harbor("figure", folder)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["differences", "  Does a limit cost?"]
    assert lines[lines.index("means-profit") + 1] == f"  {find('metric', 'profit').description}"
    assert "write one with: harbor figure" in done.stderr


def test_a_figure_is_written_with_its_caption_beside_it_and_both_paths_are_printed(folder, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "one.tex").write_text("the manuscript")
    done = harbor("figure", folder, "means-profit", "--out", tmp_path / "new" / "one.pdf", "--width", "page")
    assert done.stdout.splitlines() == [str(tmp_path / "new" / name) for name in ("one.pdf", "one-caption.tex")]
    assert (tmp_path / "new" / "one.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "new" / "one.tex").read_text() == "the manuscript"
    beside = (tmp_path / "new" / "one-caption.tex").read_text()
    assert r"\includegraphics[width=\textwidth]{one.pdf}" in beside
    assert r"\label{fig:one}" in beside


def test_a_report_writes_every_figure_into_a_folder(folder, tmp_path):
    listed = [line for line in harbor("figure", folder).stdout.splitlines() if not line.startswith(" ")]
    words = ("--out", tmp_path / "page.html", "--figures", tmp_path / "out", "--figure-format", "svg")
    assert harbor("report", folder, *words).returncode == 0
    written = {one.name for one in (tmp_path / "out").iterdir()}
    assert written == {f"{name}{ending}" for name in listed for ending in (".svg", "-caption.txt")}


@pytest.mark.parametrize(("words", "why"), [
    ("means-profitt", "unknown figure 'means-profitt'; did you mean 'means-profit'?"),
    ("means-profit --out one.gif", "--out 'one.gif' ends in no format of a figure; choose one of: pdf"),
    ("means-profit --out one.png --format pdf", "--format pdf contradicts --out 'one.png'"),
    ("means-profit --format jpg", "'jpg' is not one of"),
    ("means-profit --out /proc/no/such.pdf", "'/proc/no/such.pdf' can't be written"),
])  # fmt: skip
def test_what_can_t_be_written_is_refused_in_one_line(folder, words, why):
    assert why in mistake(harbor("figure", folder, *words.split()))


def test_an_experiment_without_a_finished_game_says_how_to_go_on(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("games"))
    done = harbor("figure", copy, "means-profit")
    assert done.returncode == 2
    assert "is finished, so there is nothing to draw; go on with: harbor experiment resume" in done.stderr


def test_of_a_folder_that_somebody_sent_figures_and_pages_go_into_the_working_directory(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "sent")
    (tmp_path / "sent" / "mark").unlink()
    before = sorted((tmp_path / "sent").rglob("*"))
    (tmp_path / "afile").touch()
    told = mistake(harbor("report", "sent", "--figures", "afile", cwd=tmp_path))
    assert told == "'afile' can't be written (File exists); name another with --figures"
    assert not (tmp_path / "sent-report.html").exists()
    done = harbor("figure", "sent", "means-profit", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "sent-figures/means-profit.pdf"
    assert harbor("report", "sent", "--format", "csv", cwd=tmp_path).stdout == "sent-csv\n"
    assert sorted((tmp_path / "sent").rglob("*")) == before


# ---------------------------------------------------------------- side by side


def game(experiment: Path) -> Path:
    return experiment / "games" / "only" / "all" / "0001"


def test_the_verdict_stands_first_then_differences_settings_and_nothing_is_wider_than_the_screen(folders):
    done = harbor("compare", folders / "one", folders / "other")
    assert re.match(r"No difference is found|\d of", done.stdout)
    assert re.search("as independent games, not as pairs: other seeds.*bidders.Ben.budget", done.stdout, re.DOTALL)
    told = json.loads(harbor("compare", folders / "one", folders / "other", "--json").stdout)
    assert {one["how"] for one in told["differences"]} == {"independent"}
    assert {one["setting"] for one in told["settings"]} == {"seed", "auction.bidders.Ben.budget"}
    assert [one["simulated"] for one in (told, *told["experiments"])] == [False] * 3


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
