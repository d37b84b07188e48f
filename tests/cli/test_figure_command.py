"""`harbor figure` and `harbor report --figures`: figures listed, written, and refused in one line."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from harbor._core.plugins.finding import find
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._report.plots import figures
from harbor.evaluation._running.runner import run_experiment
from support.commands import harbor, mistake

SMALL = Experiment(
    name="small", title="A <b>small</b> experiment_1", question="Does a limit cost?", source="nobody", repeats=2,
    auction={
        "items": [{"name": "Vase", "start": 100, "true_value": 300}],
        "bidders": [{"name": name, "rule": "minimum-raise"} for name in ("Ann", "Ben")],
    },
    arms=(Variation(name="one"), Variation(name="two", auction={"bidders": {"Ann": {"max_bids": 1}}})),
    metrics=("profit",),
    comparisons=(Comparison(metric="profit", of=Side(arm="one"), against=Side(arm="two")),),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("experiments") / "small"
    asyncio.run(run_experiment(SMALL, path))
    return path


def test_without_a_name_the_figures_are_listed_and_none_is_drawn(folder, monkeypatch):
    monkeypatch.setattr(figures, "_drawn", lambda *_: pytest.fail("a figure is drawn to be listed"))
    done = harbor("figure", folder)
    assert done.returncode == 0, done.stderr
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
    done = harbor("report", folder, *words)
    assert done.returncode == 0, done.stderr
    assert {one.stem for one in (tmp_path / "out").glob("*.svg")} == set(listed)
    assert {one.stem for one in (tmp_path / "out").glob("*.txt")} == {f"{name}-caption" for name in listed}


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
    copy = shutil.copytree(folder, tmp_path / "copy")
    shutil.rmtree(copy / "games")
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
