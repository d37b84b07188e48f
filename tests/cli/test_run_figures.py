"""`harbor figure RUN`: the pictures of a run listed and written for a paper, as its page has them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Sheet

from harbor._core.log.log import of_type
from harbor._games.board import Mark, Picture
from harbor._view.page_data import run_page
from harbor._view.run_figures import EXPECTED, _drawing, _marks, run_drawings
from harbor._view.run_record import read_run
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._report.drawing.canvas import colour
from harbor.evaluation._report.paper.paging import TALLEST
from harbor.events import ItemSold
from support.cases import some
from support.commands import harbor, mistake
from support.folders import ROOT, halve
from support.shown_runs import hold_preset, think_much

GAMES = ("houses", "english-private", "second-price", "beauty", "water")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("runs") / "run")


def listed(folder):
    return [line for line in harbor("figure", folder).stdout.splitlines() if not line.startswith(" ")]


def drawn(drawing):
    axes = Sheet(layout="constrained").subplots()
    drawing.panels[0].drawn(axes)
    return axes


def pictured(*marks):
    """The axes of one panel of these marks, each as bidder, role, shape, y, x and upper end."""
    told = {("", "", ""): [Mark("bids", *mark) for mark in marks]}
    return drawn(_drawing(Picture("bids", "Bids", "x", "y", x_scale="number"), told, ("Ann", "Ben"), ""))


@pytest.mark.parametrize("name", some(GAMES, ("beauty", "water")))
def test_each_picture_of_each_game_is_written_at_both_widths_or_it_is_said_that_there_is_none(name, tmp_path):
    folder = hold_preset(name, tmp_path / "run")
    if not (names := listed(folder)):
        assert "has no picture: nothing in its log is drawn; see: harbor view" in mistake(harbor("figure", folder))
    for picture in names:
        for width in ("column", "page"):
            done = harbor("figure", folder, picture, "--width", width, "--out", tmp_path / f"{picture}-{width}.svg")
            assert done.returncode == 0, done.stderr
            for file in done.stdout.splitlines()[::2]:
                [height] = re.findall(r'height="([\d.]+)pt"', Path(file).read_text())[:1]
                assert float(height) <= TALLEST * 72
            assert "Simulated: " in (tmp_path / done.stdout.splitlines()[1]).read_text()


def test_a_figure_has_the_marks_of_the_page_a_panel_per_item_and_a_point_per_bid(run):
    assert harbor("figure", run).stdout.splitlines()[:2] == ["bids", "  Price and bids"]
    record = read_run(run)
    heads, chunks = run_page(run)
    names = [one[0] for one in heads["pictures"]]
    on_page = Counter(names[row[1]] for chunk in chunks for row in chunk["marks"] if row[-1] & 1)
    assert {one.name: sum(map(len, parts.values())) for one, parts in _marks(record).items()} == on_page
    drawing = run_drawings(run)["bids"]
    items = list(dict.fromkeys(one.item for one in of_type(record.entries, ItemSold)))
    assert [panel.heading for panel in drawing.panels] == items
    [ann] = [one for one in drawing.legend if one.label == "Ann"]
    told = [one for one in bids(record.entries) if (one.item, one.bidder) == (items[0], "Ann")]
    points = [one for one in drawn(drawing).lines if (one.get_marker(), one.get_color()) == (ann.marker, ann.colour)]
    assert [list(one.get_ydata()) for one in points] == [[float(bid.amount) for bid in told]]


def test_what_is_no_run_or_no_picture_of_one_is_refused_in_one_line(run, tmp_path):
    said = "contains neither an experiment (experiment.json) nor a run (events.jsonl); give the folder of one"
    assert mistake(harbor("figure", tmp_path)) == f"{str(tmp_path)!r} {said}"
    assert mistake(harbor("figure", run, "bid")) == "unknown figure 'bid'; did you mean 'bids'?"
    series = tmp_path / "series"
    shutil.copytree(run, series / "0001")
    shutil.copy(run / "events.jsonl", series)
    told = mistake(harbor("figure", series))
    assert told == f"'{series}' is a series; give the folder of one of its auctions, such as '{series / '0001'}'"


def test_a_log_that_is_cut_short_is_drawn_up_to_there_and_the_caption_says_so(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "copy")
    halve(copy / "events.jsonl")
    done = harbor("figure", copy, "bids", "--out", tmp_path / "bids.svg")
    assert done.returncode == 0, done.stderr
    assert "It is not over." in (tmp_path / "bids-caption.txt").read_text()
    part, whole = (sum(map(len, _marks(read_run(folder)).values())) for folder in (copy, run))
    assert part < whole


# ---------------------------------------------------------------- each kind of mark

BARS = [("Ann", "need", "bar", 9, x) for x in (1, 2)]


@pytest.mark.parametrize(("marks", "line"), [
    ([("Ann", "budget", "line", y, x) for x, y in ((3, 30), (1, 10), (2, None))], [[1, 10], [2, np.nan], [3, 30]]),
    ([("price", "price", "step", 5, 1), ("Ann", "bid", "point", 9, 4)], [[1, 5], [4, 5]]),
    ([*(("supply", "supply", "step", y, x) for y, x in ((5, 1), (6, 2))), *BARS], [[0.5, 5], [1.5, 6], [2.5, 6]]),
], ids=["by x to where there is no y", "held to the end", "between bars"])  # fmt: skip
def test_a_line_or_step_goes_through_its_marks_in_the_order_of_x(marks, line):
    assert pictured(*marks).lines[0].get_xydata() == pytest.approx(np.array(line), nan_ok=True)


def test_of_levels_and_of_bars_at_a_place_the_last_stands_and_none_where_it_was_ended():
    levels = pictured(*((name, "limit", "line", y) for name, y in (("Ann", 5), ("Ann", 7), ("Ben", 6), ("Ben", None))))
    assert [one.get_ydata()[0] for one in levels.lines] == [7]
    told = (("Ann", 1, "urban"), ("Ann", 3, "urban"), ("Ann", 2, "rural"), ("Ben", 4, "rural"))
    bars = pictured(*((name, "profile", "bar", y, x) for name, y, x in told))
    assert sorted(one.get_height() for one in bars.patches) == [2, 3, 4]
    assert [one.get_text() for one in bars.get_xticklabels()] == ["urban", "rural"]


def test_a_band_goes_from_y_to_its_upper_end():
    axes = pictured(("Ann", "belief", "band", 1, 1, 3), ("Ann", "belief", "band", 2, 2, 5))
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (1, 5)


def test_thoughts_are_dashed_or_open_and_facts_are_not():
    kinds = ("limit", "bid")
    lines = pictured(*(("Ann", role, "line", y, x) for role in kinds for x, y in ((1, 2), (2, 3)))).lines
    assert [one.get_linestyle() for one in lines] == ["--", "-"]
    points = pictured(*(("Ann", role, "point", 2, 1) for role in kinds)).lines
    assert [one.get_markerfacecolor() for one in points] == ["none", colour(0)]
    bars = pictured(*(("Ann", role, "bar", 2, 1) for role in ("profile", "truth"))).patches
    assert [one.get_linestyle() for one in bars] == ["--", "-"]
    assert {to_hex(one.get_edgecolor()) for one in bars} == {colour(0)}


def test_what_is_dashed_in_a_file_is_what_is_dashed_on_the_page():
    script = (ROOT / "harbor" / "_view" / "chart.js").read_text(encoding="utf-8")
    if not (found := re.search(r"EXPECTED = new Set\(\[(.*?)\]\)", script, re.DOTALL)):
        pytest.skip("the page draws nothing yet")
    assert set(re.findall(r'"(\w+)"', found[1])) == EXPECTED
