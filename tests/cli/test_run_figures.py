"""`harbor figure RUN`: the pictures of a run listed and written for a paper, as its page has them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Sheet

from harbor import Auction
from harbor._core.log.events import SCHEMA_VERSION
from harbor._core.log.log import of_type
from harbor._core.plugins import finding
from harbor._games.board import Mark, Picture
from harbor._view.page_data import run_page
from harbor._view.run_figures import EXPECTED, _drawing, _marks, run_drawings
from harbor._view.run_record import read_run
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._report.drawing.canvas import colour
from harbor.evaluation._report.paper.figure_files import FILE_STYLE
from harbor.evaluation._report.paper.paging import TALLEST, pages
from harbor.events import ItemSold
from support.cases import some
from support.commands import harbor, mistake
from support.folders import ROOT
from support.plugins import remembering
from support.shown_runs import hold_preset, think_much
from support.third_price import THIRD

GAMES = ("houses", "english-private", "second-price", "beauty", "water")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("runs") / "run")


def listed(folder):
    return [line for line in harbor("figure", folder).stdout.splitlines() if not line.startswith(" ")]


def drawn(drawing, panel=0):
    axes = Sheet(layout="constrained").subplots()
    drawing.panels[panel].drawn(axes)
    return axes


def pictured(*marks, x_scale="number", seats=("Ann", "Ben")):
    """The axes of one panel of these marks."""
    return drawn(_drawing(Picture("bids", "Bids", "x", "y", x_scale=x_scale), {("", "", ""): marks}, seats, ""))


def test_without_a_name_the_pictures_of_a_run_are_listed_with_their_titles(run):
    done = harbor("figure", run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["bids", "  Price and bids"]
    assert "harbor: write one with: harbor figure" in done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize("name", some(GAMES, ("english", "water")))
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
    points = [one for one in drawn(drawing).lines if one.get_marker() == ann.marker and one.get_color() == ann.colour]
    assert [list(one.get_ydata()) for one in points] == [[float(bid.amount) for bid in told]]


def test_panels_of_parts_stand_in_two_columns_on_a_column(run):
    with mpl.rc_context(FILE_STYLE):
        [page] = pages(run_drawings(run)["bids"], 3.4)
    assert [len(row) for row in page.rows] == [2, 1]


def test_of_a_folder_that_has_neither_both_that_are_taken_are_named(tmp_path):
    said = "contains neither an experiment (experiment.json) nor a run (events.jsonl); give the folder of one"
    assert mistake(harbor("figure", tmp_path)) == f"{str(tmp_path)!r} {said}"


def test_an_unknown_name_is_told_the_ones_that_there_are(run):
    assert mistake(harbor("figure", run, "bid")) == "unknown figure 'bid'; did you mean 'bids'?"


def test_a_log_that_is_cut_short_is_drawn_up_to_there_and_the_caption_says_so(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "copy")
    content = (copy / "events.jsonl").read_bytes()
    (copy / "events.jsonl").write_bytes(content[: len(content) // 2])
    done = harbor("figure", copy, "bids", "--out", tmp_path / "bids.svg")
    assert done.returncode == 0, done.stderr
    assert "It is not over." in (tmp_path / "bids-caption.txt").read_text()
    assert sum(len(one) for one in _marks(read_run(copy)).values()) < sum(
        len(one) for one in _marks(read_run(run)).values()
    )


def test_a_log_of_an_earlier_schema_is_named_with_its_schema(run, tmp_path):
    text = (run / "events.jsonl").read_text()
    (tmp_path / "events.jsonl").write_text(text.replace(f'"schema":{SCHEMA_VERSION}', '"schema":2', 1))
    assert "has schema 2 of an earlier Harbor" in mistake(harbor("figure", tmp_path))


def test_a_series_names_one_of_its_auctions(run, tmp_path):
    series = tmp_path / "series"
    shutil.copytree(run, series / "0001")
    shutil.copy(run / "events.jsonl", series)
    told = mistake(harbor("figure", series))
    assert told == f"'{series}' is a series; give the folder of one of its auctions, such as '{series / '0001'}'"


class Steps:
    """The board of a stranger, who draws what was closed, in the order of the log."""

    pictures = (Picture("steps", "Steps <b>", "run", "closed"),)

    def __init__(self):
        self.closed = 0

    def note(self, event):
        self.closed += type(event).__name__ == "ThirdClosed"

    def shown(self):
        from harbor._games.board import Shown

        return Shown()

    def marks(self, event):
        if type(event).__name__ == "ThirdClosed":
            yield Mark("steps", "closed", "closed", "step", Decimal(self.closed), self.closed)


@pytest.mark.parametrize(("board", "names"), [(Steps, ["steps"]), (None, [])])
def test_a_stranger_s_game_has_the_pictures_of_its_board(board, names, tmp_path, monkeypatch):
    with remembering(monkeypatch):
        finding.use(replace(THIRD, board=board) if board else THIRD)
        bidders = [{"name": name, "rule": "rational"} for name in ("Ann", "Ben", "Cho")]
        Auction(rules={"game": "third-price"}, bidders=bidders, seed=1).run(out=tmp_path / "run")
        assert listed(tmp_path / "run") == names
        if names:
            assert drawn(run_drawings(tmp_path / "run")["steps"]).lines[0].get_ydata().tolist() == [1, 2, 2]


# ---------------------------------------------------------------- each kind of mark


def test_a_line_goes_by_x_and_ends_where_there_is_no_y():
    rows = [(3, 30), (1, 10), (2, None)]
    axes = pictured(*(Mark("bids", "Ann", "budget", "line", y, x) for x, y in rows))
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert str(axes.lines[0].get_ydata().tolist()) == "[10.0, nan, 30.0]"


def test_a_step_is_held_up_to_the_end_of_the_panel():
    axes = pictured(Mark("bids", "price", "price", "step", 5, 1), Mark("bids", "Ann", "bid", "point", 9, 4))
    assert axes.lines[0].get_xydata().tolist() == [[1, 5], [4, 5]]


def test_a_step_beside_bars_changes_between_them():
    bars = [Mark("bids", "Ann", "need", "bar", 9, x) for x in (1, 2)]
    axes = pictured(*(Mark("bids", "supply", "supply", "step", y, x) for y, x in ((5, 1), (6, 2))), *bars)
    assert axes.lines[0].get_xydata().tolist() == [[0.5, 5], [1.5, 6], [2.5, 6]]


def test_of_levels_the_last_stands_and_none_where_it_was_ended():
    def limit(y, bidder):
        return Mark("bids", bidder, "limit", "line", y)

    axes = pictured(limit(5, "Ann"), limit(7, "Ann"), limit(6, "Ben"), limit(None, "Ben"))
    assert [one.get_ydata()[0] for one in axes.lines] == [7]


def test_levels_at_one_height_take_turns_so_that_each_is_seen():
    axes = pictured(*(Mark("bids", name, "limit", "line", 5) for name in ("Ann", "Ben")))
    patterns = [line._unscaled_dash_pattern for line in axes.lines]  # matplotlib tells it nowhere else
    assert [(offset, list(dashes)) for offset, dashes in patterns] == [(0, [6, 6]), (6, [6, 6])]


def test_bars_of_bidders_who_are_alone_at_a_place_stand_in_its_middle():
    axes = pictured(Mark("bids", "Ann", "price", "bar", 1, "urban"), Mark("bids", "Ben", "price", "bar", 2, "rural"))
    assert [one.get_x() + one.get_width() / 2 for one in axes.patches] == [0, 1]


def test_of_bars_at_a_place_the_last_stands_and_names_stand_along_x():
    def bar(bidder, y, x):
        return Mark("bids", bidder, "profile", "bar", y, x)

    axes = pictured(bar("Ann", 1, "urban"), bar("Ann", 3, "urban"), bar("Ann", 2, "rural"), bar("Ben", 4, "rural"))
    assert sorted(one.get_height() for one in axes.patches) == [2, 3, 4]
    assert [one.get_text() for one in axes.get_xticklabels()] == ["urban", "rural"]


def test_a_band_goes_from_y_to_its_upper_end():
    axes = pictured(Mark("bids", "Ann", "belief", "band", 1, 1, 3), Mark("bids", "Ann", "belief", "band", 2, 2, 5))
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (1, 5)


def test_thoughts_are_dashed_or_open_and_facts_are_not():
    kinds = ("limit", "bid")
    lines = pictured(*(Mark("bids", "Ann", role, "line", y, x) for role in kinds for x, y in ((1, 2), (2, 3)))).lines
    assert [one.get_linestyle() for one in lines] == ["--", "-"]
    points = pictured(*(Mark("bids", "Ann", role, "point", 2, 1) for role in kinds)).lines
    assert [one.get_markerfacecolor() for one in points] == ["none", colour(0)]
    bars = pictured(*(Mark("bids", "Ann", role, "bar", 2, 1) for role in ("profile", "truth"))).patches
    assert [one.get_linestyle() for one in bars] == ["--", "-"]
    assert {to_hex(one.get_edgecolor()) for one in bars} == {colour(0)}


def test_bids_of_one_round_stand_side_by_side_but_never_beside_their_values():
    marks = [Mark("bids", name, "bid", "point", 5, 3) for name in ("Ann", "Ben")]
    ann, ben = (one.get_xdata()[0] for one in pictured(*marks).lines)
    assert ann < 3 < ben
    assert [one.get_xdata()[0] for one in pictured(*marks, x_scale="dollars").lines] == [3, 3]


def test_what_is_dashed_in_a_file_is_what_is_dashed_on_the_page():
    script = (ROOT / "harbor" / "_view" / "chart.js").read_text(encoding="utf-8")
    if not (found := re.search(r"EXPECTED = new Set\(\[(.*?)\]\)", script, re.DOTALL)):
        pytest.skip("the page draws nothing yet")
    assert set(re.findall(r'"(\w+)"', found[1])) == EXPECTED
