"""What bidders thought, beside what was so: marks of pictures and tables of decisions, as far as a viewer knows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harbor import Auction
from harbor._core.asking.asks import Bid
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import is_seen_by
from harbor._core.log.thoughts import Believed, Expected, LimitSet, Predicted, Prediction, Profiled, Stated
from harbor._core.plugins.finding import find
from harbor._view.chunks import Marks
from harbor._view.conclusions import Facts, ThoughtMarks, beside
from harbor._view.page_data import run_page, seats_of
from harbor.evaluation._metrics.behaviour import bids
from harbor.events import Acted, BidderLabelled, BidderSeated, ItemSold, ItemUnsold, LotClosed
from support import forging
from support.shown_runs import CANARY, CANARY_MONEY, with_canaries

ENGLISH = find("game", "english")


def thoughts(events):
    marks = ThoughtMarks(ENGLISH)
    return [mark for event in events for mark in marks.marks(event)]


def of(picture, entries, name=""):
    seen = thoughts(one.event for one in entries if not name or is_seen_by(name, one.event))
    return [one for one in seen if one.picture == picture]


def test_a_limit_is_drawn_among_the_bids_from_its_round_on():
    marks = thoughts([LimitSet("Ann", "Lot A", 3, 1, "", Decimal(70)), LimitSet("Ann", "Lot A", 5, 1, "", None)])
    told = [(one.picture, one.role, one.kind, one.x, one.y) for one in marks]
    assert told == [("bids", "limit", "step", 3, 70), ("bids", "limit", "step", 5, None)]


def test_every_belief_of_a_budget_stands_beside_what_is_left_of_it(entries):
    marks = [one for one in of("beliefs", entries) if one.panel == "Ann: budget"]
    budget = next(one.budget for one in of_type(entries, BidderSeated) if one.bidder == "Ann")
    held = [one.held.budget for one in of_type(entries, Believed) if one.bidder == "Ann"]
    left = [budget - sum(one.price for one in of_type(entries, ItemSold)[:n] if one.winner == "Ann") for n in (1, 2, 3)]
    assert [one.y for one in marks if one.role == "belief"] == held
    assert [one.y for one in marks if one.role == "truth"] == left[: len(held)]
    assert [one.x for one in marks if one.role == "truth"] == [1, 2, 3][: len(held)] != []


def test_a_predicted_limit_stands_beside_the_highest_bid_of_the_rival_on_that_item(entries):
    marks = of("expected", entries)
    said = [one for event in of_type(entries, Predicted) for one in event.predictions]
    assert [one.y for one in marks if one.role == "expected"] == [one.limit for one in said] != []
    items = [one.item for one in of_type(entries, LotClosed)]
    for mark in (one for one in marks if one.role == "bid"):
        made = [one for one in bids(entries) if (one.bidder, one.item) == (mark.series, items[mark.x - 1])]
        assert mark.y == made[-1].amount
        assert mark.panel != mark.series


def test_what_was_expected_of_a_run_is_not_held_against_a_later_one():
    bid, closed = Acted("Ben", "run 1", Bid(Decimal(9))), LotClosed("run 1")
    marks = thoughts([Expected("Ann", "", {"Ben": Decimal(8)}), bid, closed, LotClosed("run 2")])
    assert [(one.role, one.x, one.y) for one in marks] == [("expected", 1, 8), ("bid", 1, 9)]


def test_a_profile_has_a_bar_for_each_persona_and_the_analyst_sees_the_true_ones(entries):
    marks, labels = of("profiles", entries), {one.bidder: one.personas for one in of_type(entries, BidderLabelled)}
    first = of_type(entries, Profiled)[0]
    bars = [one for one in marks if (one.panel, one.role) == (f"{first.bidder} of {first.rival}", "profile")]
    assert {one.x: one.y for one in bars[: len(first.weights)]} == first.weights
    true = [one for one in marks if (one.panel, one.role) == (f"{first.bidder} of {first.rival}", "truth")]
    assert {one.x: one.y for one in true} == labels[first.rival] != {}
    assert not [one for one in of("profiles", entries, "Ann") if one.role == "truth"]


def test_a_number_that_no_picture_can_hold_is_left_out():
    marks, said = Marks(ENGLISH, [""]), Predicted("Ann", "Lot A", (Prediction("Ben", 0.5, Decimal("1E+700")),))
    assert marks.of(1, said, {"": ENGLISH.board()}) == []


def rows_of(run, seat, viewer):
    head, chunks = run_page(run, seat)
    bit = 1 << head["viewers"].index(viewer)
    return [[head["pictures"][row[1]][0], *row[2:-1]] for chunk in chunks for row in chunk["marks"] if row[-1] & bit]


def test_no_canary_of_another_seat_is_in_a_series_of_a_seat_and_whatever_others_think_its_marks_stay(run, tmp_path):
    for seat in seats_of(read_log(run / "events.jsonl").entries):
        marked = with_canaries(run, tmp_path / seat, seat)
        own = rows_of(marked, seat, seat)
        assert CANARY not in str(own)
        assert float(CANARY_MONEY) not in [cell for row in own for cell in row]
        assert own == rows_of(run, seat, seat) == rows_of(run, "", seat) == rows_of(marked, "", seat) != []
        assert str(float(CANARY_MONEY)) in str(rows_of(marked, "", run_page(marked, "").head["viewers"][0]))


# ---------------------------------------------------------------- tables beside decisions


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
    lines = forging.lines_of(run / "events.jsonl")
    decisions = [one for part in run_page(run)[1] for one in part["decisions"].values()]
    tables = [table for one in decisions for table in one["beside"] if table["title"].startswith(title)]
    assert tables
    return lines, zip(forging.of_type(lines, kind), tables, strict=True)


def test_a_prediction_stands_beside_the_highest_bid_of_its_log(run):
    lines, predicted = shown(run, "predicted", "Prediction for")
    acts = forging.of_type(lines, "acted")
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
    done = {(line["bidder"], line["item"]): line["act"]["amount"] for line in forging.of_type(lines, "acted_sealed")}
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
