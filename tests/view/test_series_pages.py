"""The page of a series: which auctions it has, and what one that is damaged costs."""

from __future__ import annotations

import pytest

from harbor import Auction, Bidder, Item
from harbor._core.files.layout import auction_logs
from harbor._view.pages import write_run


@pytest.fixture
def series(tmp_path):
    """Two auctions, as far as a page needs them, and a folder that somebody has put beside them."""
    folder = tmp_path / "series"
    bidders = [Bidder(name, rule="minimum-raise") for name in ("Ann", "Ben")]
    Auction(items=[Item(name="Lot A", start=1_000, true_value=2_000)], bidders=bidders).run(out=folder / "01")
    log = (folder / "01" / "events.jsonl").read_bytes()
    for name in ("02", "1x", "."):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "events.jsonl").write_bytes(log)
    return folder


def test_only_folders_that_are_numbers_are_auctions_of_a_series(series, tmp_path):
    assert [log.parent.name for log in auction_logs(series)] == ["01", "02"]
    assert "Auction 2" in write_run(series, tmp_path / "page.html").read_text()
    assert sorted(page.name for page in (tmp_path / "page_files").iterdir()) == ["01.html", "02.html"]


def test_an_auction_that_can_not_be_read_costs_the_page_of_no_other(series, tmp_path):
    (series / "01" / "events.jsonl").write_text("garbage\n")
    page = write_run(series, tmp_path / "page.html").read_text()
    assert "no page could be made of auction 1: log " in page
    assert '<a href="page_files/02.html">Auction 2</a>' in page
    assert "page_files/01.html" not in page


def test_a_log_of_a_series_that_cannot_be_read_is_named_on_its_page_and_costs_no_auction_its_page(series, tmp_path):
    (series / "events.jsonl").write_text("garbage\n")
    page = write_run(series, tmp_path / "page.html").read_text()
    assert "events.jsonl&#39; does not begin as a Harbor log does" in page
    assert '<a href="page_files/01.html">Auction 1</a>' in page
