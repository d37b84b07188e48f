"""Predictions and forecasts beside what came, worked out again from the lines of the log."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harbor import Auction
from harbor._core.asking.asks import Bid
from harbor._core.log.thoughts import Prediction, Stated
from harbor._view.conclusions import Facts, beside
from harbor._view.page_data import run_page
from harbor.events import Acted, ItemUnsold, Predicted
from support.forging import lines_of, of_type
from support.shown_runs import think_much


@pytest.fixture(scope="module")
def sale(tmp_path_factory):
    """An English sale to minds that predict their rivals."""
    return think_much(tmp_path_factory.mktemp("beside") / "sale", items={"count": 2})


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Three runs of a beauty contest between minds that forecast their rivals."""
    folder = tmp_path_factory.mktemp("beside") / "session"
    rules = {"game": "beauty", "runs": 3, "show": "actions"}
    Auction(rules=rules, bidders=[{"name": name, "believe": True} for name in ("Ann", "Ben", "Cho")], seed=4).run(
        folder
    )
    return folder


def shown(run, kind, title):
    """The lines of the log, and those of a kind, each with the table of the page that has this title."""
    lines = lines_of(run / "events.jsonl")
    decisions = [one for part in run_page(run)[1] for one in part["decisions"].values()]
    tables = [table for one in decisions for table in one["beside"] if table["title"].startswith(title)]
    assert tables
    return lines, zip(of_type(lines, kind), tables, strict=True)


def test_a_prediction_stands_beside_the_highest_bid_of_its_log(sale):
    lines, predicted = shown(sale, "predicted", "Prediction for")
    acts = of_type(lines, "acted")
    for line, table in predicted:
        over = []
        for at, (one, row) in enumerate(zip(line["predictions"], table["rows"], strict=True)):
            made = [act["act"] for act in acts if (act["item"], act["bidder"]) == (line["item"], one["rival"])]
            bids = [Decimal(str(act["amount"])) for act in made if act["action"] == "bid"]
            assert (row[0], row[-1]) == (one["rival"], f"${max(bids):,.0f}" if bids else "no bid")
            over += [at] if bids and max(bids) > Decimal(one["limit"]) else []
        assert table["off"] == over


def test_a_forecast_stands_beside_what_the_next_run_brought(session):
    lines, expected = shown(session, "expected", "Expected, beside what came")
    done = {(line["bidder"], line["item"]): line["act"]["amount"] for line in of_type(lines, "acted_sealed")}
    for line, table in expected:
        after = f"run {int(line['closed'].removeprefix('run ')) + 1}"
        assert table["rows"] == [[rival, str(bid), str(done[rival, after])] for rival, bid in line["bids"].items()]
        assert table["off"] == [at for at, row in enumerate(table["rows"]) if Decimal(row[1]) != Decimal(row[2])]


def test_what_is_recalled_wrongly_differs_from_the_rest_of_an_answer():
    said = {"goal": "To win.", "previous bid": 40, "previous payoff": None, "bid": 5.5}
    recalled = {"previous bid": False, "previous payoff": True}
    [table] = beside(Stated("Ann", "run 2", 1, 1, said, recalled), Facts(None))
    assert table["rows"] == [["goal", "To win."], ["previous bid", "40"], ["previous payoff", "None"], ["bid", "5.5"]]
    assert table["off"] == [1]


def test_only_a_bid_above_the_limit_differs_from_a_prediction():
    """Interest is no probability: none is flagged, however it stands to whether the rival bid."""
    facts, lot = Facts(None), "Lot A"
    for event in (Acted("Ben", lot, Bid(Decimal(900))), Acted("Cho", lot, Bid(Decimal(1_100))), ItemUnsold(lot)):
        facts.note(event)
    limits = [Prediction(rival, 0.9, Decimal(1_000)) for rival in ("Ben", "Cho", "Dan")]
    [table] = beside(Predicted("Ann", lot, tuple(limits)), facts)
    assert table["off"] == [1]
    assert "above its limit" in table["title"]
