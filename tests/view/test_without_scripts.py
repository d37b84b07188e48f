"""A page in a browser without scripts: a still picture, and a table of events."""

from __future__ import annotations

import pytest

from harbor._core.log.log import read_log
from harbor._view import pages
from harbor._view.page_data import run_page
from harbor._view.pages import HEIGHT, LINE, MOST_MARKS, MOST_ROWS, Still
from support.browser import needs_browser, overflow

GROWS_BY = 100_000
PICTURE = "bids", "Bids <b>", "round", "price", "dollars", False, "number"
HEAD = {"pictures": [PICTURE], "places": [], "length": 0, "seats": ["Ann", "Ben"]}


def still_of(marks):
    still = Still(HEAD)
    list(still.noting([{"entries": [], "marks": marks}]))
    return still.html()


def seen(page):
    rows, parts = page.locator("noscript tbody tr"), ("noscript svg", "noscript tbody tr:first-child", "#print", "main")
    return rows.count(), [page.locator(one).is_visible() for one in parts], overflow(page), page.content()


@needs_browser
def test_a_page_without_scripts_shows_events_and_a_picture_also_where_it_is_large(run, look, tmp_path, monkeypatch):
    small = pages.write_run(run, tmp_path / "small.html")
    monkeypatch.setattr(pages, "MOST_INLINE", 1)
    large = pages.write_run(run, tmp_path / "large.html")
    assert (tmp_path / "large_files").is_dir()
    found = [look(page, seen, scripts=False, phone=phone) for page in (small, large) for phone in (False, True)]
    assert [one[:3] for one in found] == [(2 * MOST_ROWS, [True, True, False, False], 0)] * 4
    assert f"{len(read_log(run / 'events.jsonl').entries) - 2 * MOST_ROWS:,} events between" in found[0][3]


def test_what_is_shown_without_scripts_is_bounded_and_says_what_is_left_out(run):
    head, chunks = run_page(run)
    still = Still(head)
    list(still.noting(chunks))
    many = still_of([(at, 0, "", f"name {at % 9}", "bid", "point", at, at, None, 1) for at in range(5_000)])
    assert many.count("h0") == MOST_MARKS
    assert f"(the last {MOST_MARKS:,} marks)" in many
    assert len(still.html()) + len(many) <= GROWS_BY


@pytest.mark.parametrize(("kind", "rows", "drawn"), [
    ("point", [(1, 5, None), (2, 6, None)], "M20 240h0M620 20h0"),
    ("bar", [("one", 5, None), ("two", 8, None), ("two", 10, None)], "M20 240V130M320 240V20"),
    ("line", [(1, 5, None), (2, 7, None), (3, None, None), (4, 6, None)], "M20 240h0L220 20M620 130h0"),
    ("step", [(1, 5, None), (2, 7, None), (3, 6, None)], "M20 240h0H320V20H620V130H620"),
    ("band", [(1, 5, 6), (2, 6, 7)], "M20 240V130M620 130V20"),
    ("line", [(None, 7, None), (None, 5, None)], "M20 240H620"), ("line", [(None, 7, None), (None, None, None)], ""),
])  # fmt: skip
def test_each_kind_of_mark_is_drawn_as_on_the_page(kind, rows, drawn):
    assert f' d="{drawn}"' in still_of([(0, 0, "", "Ann", "bid", kind, *row, 1) for row in rows])


def test_words_of_a_run_are_text_and_the_heading_says_between_which_numbers_marks_stand():
    found = still_of([(0, 0, "", "<script>", "bid", "point", f"Lot <i>{y}", y, None, 1) for y in (5, 7)])
    assert "<script>" not in found
    assert "&lt;script&gt;: bid" in found
    assert "Lot &lt;i&gt;5" in found
    assert "price from 5 to 7, by round" in found


def test_an_exit_is_a_cross_and_a_level_is_named_below_the_picture_and_what_the_viewer_does_not_see_is_not_drawn():
    found = still_of([(0, 0, "", "Ann", *one, 5, None, 1) for one in (("out", "point", 3), ("estimate", "line", None))])
    assert "l8 8m0-8l-8 8" in found
    assert f'y="{HEIGHT + LINE}"><tspan class="c0" opacity="1">●</tspan> Ann: estimate' in found
    assert "<svg" not in still_of([(0, 0, "", "Ben", "limit", "point", 1, 5, None, 2)])
