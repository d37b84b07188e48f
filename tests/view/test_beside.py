"""Predictions and forecasts beside what came, worked out again from the lines of the log."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from harbor import Auction
from harbor._core.asking.asks import Bid
from harbor._core.log.thoughts import Prediction, Stated
from harbor._view.conclusions import Facts, beside
from harbor._view.page_data import run_page
from harbor.events import Acted, ItemUnsold, Predicted
from support.shown_runs import think_much


def lines_of(run):
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def tables(run, title):
    found = [one for part in run_page(run)[1] for one in part["decisions"].values()]
    return [table for one in found for table in one["beside"] if table["title"].startswith(title)]


@pytest.fixture(scope="module")
def sale(tmp_path_factory):
    """An English sale to minds that predict their rivals."""
    return think_much(tmp_path_factory.mktemp("beside") / "sale", items={"count": 2})


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Three runs of a beauty contest between minds that forecast their rivals."""
    folder = tmp_path_factory.mktemp("beside") / "session"
    rules = {"game": "beauty", "runs": 3, "show": "actions"}
    bidders = [{"name": name, "believe": True} for name in ("Ann", "Ben", "Cho")]
    Auction(rules=rules, bidders=bidders, seed=4).run(out=folder)
    return folder


def test_a_prediction_stands_beside_the_highest_bid_of_its_log(sale):
    lines = lines_of(sale)
    predicted = [line for line in lines if line["type"] == "predicted"]
    shown = tables(sale, "Prediction for")
    assert len(shown) == len(predicted) > 0
    for line, table in zip(predicted, shown, strict=True):
        over = []
        for at, (one, row) in enumerate(zip(line["predictions"], table["rows"], strict=True)):
            bids = [
                Decimal(str(bid["act"]["amount"]))
                for bid in lines
                if (bid["type"], bid.get("item"), bid.get("bidder")) == ("acted", line["item"], one["rival"])
                and bid["act"]["action"] == "bid"
            ]
            assert row[0] == one["rival"]
            assert row[-1] == (f"${max(bids):,.0f}" if bids else "no bid")
            over += [at] if bids and max(bids) > Decimal(one["limit"]) else []
        assert table["off"] == over


def test_a_forecast_stands_beside_what_the_next_run_brought(session):
    lines = lines_of(session)
    expected = [line for line in lines if line["type"] == "expected"]
    shown = tables(session, "Expected, beside what came")
    assert len(shown) == len(expected) > 0
    done = {(line["bidder"], line["item"]): line["act"]["amount"] for line in lines if line["type"] == "acted_sealed"}
    for line, table in zip(expected, shown, strict=True):
        after = f"run {int(line['closed'].removeprefix('run ')) + 1}"
        assert table["rows"] == [[rival, str(bid), str(done[rival, after])] for rival, bid in line["bids"].items()]
        assert table["off"] == [at for at, row in enumerate(table["rows"]) if Decimal(row[1]) != Decimal(row[2])]


def test_what_is_recalled_wrongly_differs_from_the_rest_of_an_answer():
    said = {"goal": "To win.", "previous bid": 40, "previous payoff": None, "bid": 5.5}
    recalled = {"previous bid": False, "previous payoff": True}
    [table] = beside(Stated("Ann", "run 2", 1, 1, said, recalled), Facts(None))
    assert table["rows"] == [["goal", "To win."], ["previous bid", "40"], ["previous payoff", "None"], ["bid", "5.5"]]
    assert table["off"] == [1]


LOT = "Lot A"


def test_only_a_bid_above_the_limit_differs_from_a_prediction():
    """Interest is no probability: none is flagged, however it stands to whether the rival bid."""
    facts = Facts(None)
    for event in (Acted("Ben", LOT, Bid(Decimal(900))), Acted("Cho", LOT, Bid(Decimal(1_100))), ItemUnsold(LOT)):
        facts.note(event)
    limits = [Prediction(rival, 0.9, Decimal(1_000)) for rival in ("Ben", "Cho", "Dan")]
    [table] = beside(Predicted("Ann", LOT, tuple(limits)), facts)
    assert table["off"] == [1]
    assert "above its limit" in table["title"]
