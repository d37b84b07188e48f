"""Results as a notebook shows them: small, escaped, and labelled as simulated."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser

import pytest

from harbor import Auction, Bidder, Item, run_series
from harbor._config.auction import AuctionConfig
from harbor.evaluation import load
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._running.runner import run_experiment

NASTY = "<b>Ann</b> & <script>alert(1)</script>"
SEATS = [{"name": NASTY, "budget": 900}, {"name": "Ben", "rule": "minimum-raise", "budget": 900}]
ITEMS = [{"name": "Vase", "start": 100, "true_value": 300}]


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def test_a_result_shows_standings_and_that_it_is_simulated(tmp_path):
    result = Auction(items=[Item(**ITEMS[0])], bidders=[Bidder(**one) for one in SEATS]).run(out=tmp_path / "run one")
    shown = Tags(result._repr_html_())
    assert shown.tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert NASTY in shown.text
    assert "Simulated" in shown.text
    assert f"harbor view '{tmp_path / 'run one'}'" in shown.text


def test_a_series_shows_mean_ranks():
    shown = Tags(run_series(AuctionConfig(items=ITEMS, bidders=SEATS, series={"auctions": 2}))._repr_html_())
    assert "script" not in shown.tags
    assert "harbor view" not in shown.text
    assert [words for words in ("2 of 2 auctions", NASTY) if words not in shown.text] == []


@pytest.mark.slow
def test_an_experiment_shows_its_verdict_one_chart_and_its_first_numbers(tmp_path):
    design = Experiment(
        name="small", title=NASTY, question="Does a limit cost?", source="nobody", repeats=2,
        auction={"items": ITEMS, "bidders": SEATS},
        arms=(Variation(name="one"), Variation(name="two", auction={"bidders": {"Ben": {"max_bids": 1}}})),
        metrics=("profit",), comparisons=(Comparison(metric="profit", of=Side(arm="one"), against=Side(arm="two")),),
    )  # fmt: skip
    asyncio.run(run_experiment(design, tmp_path / "out"))
    html = load(tmp_path / "out")._repr_html_()
    shown = Tags(html)
    assert "script" not in shown.tags
    assert NASTY in shown.text
    assert "The planned comparison shows" in shown.text
    assert html.count("<svg") == 1
    assert len(html) < 60_000
