"""Results as a notebook shows them: small, escaped, and labelled as simulated."""

from __future__ import annotations

import asyncio
import re
from html import unescape

import pytest

from harbor import Auction, Bidder, Item, run_series
from harbor._config.auction import AuctionConfig
from harbor.evaluation import load
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._running.runner import run_experiment

NASTY = "<b>Ann</b> & <script>alert(1)</script>"
SEATS = [{"name": NASTY, "budget": 900}, {"name": "Ben", "rule": "minimum-raise", "budget": 900}]
ITEMS = [{"name": "Vase", "start": 100, "true_value": 300}]


def shown(html, *words):
    """Return the tags and the text of a page that shows these words, and no script."""
    tags, text = {*re.findall(r"<(\w+)", html)}, unescape(re.sub(r"<[^>]*>", "", html))
    assert [one for one in (NASTY, *words) if one not in text] == []
    assert "script" not in tags
    return tags, text


def test_a_result_shows_standings_and_that_it_is_simulated(tmp_path):
    result = Auction(items=[Item(**ITEMS[0])], bidders=[Bidder(**one) for one in SEATS]).run(out=tmp_path / "run one")
    tags, _ = shown(result._repr_html_(), "Simulated", f"harbor view '{tmp_path / 'run one'}'")
    assert tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code"}


def test_a_series_shows_mean_ranks():
    result = run_series(AuctionConfig(items=ITEMS, bidders=SEATS, series={"auctions": 2}))
    _, text = shown(result._repr_html_(), "2 of 2 auctions")
    assert "harbor view" not in text


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
    shown(html, "The planned comparison shows")
    assert html.count("<svg") == 1
    assert len(html) < 60_000
