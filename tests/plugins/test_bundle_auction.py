"""The second package of a stranger: several items at once, in one folder, its winners found by a solver."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from harbor import of_type, read_log
from harbor.events import ActedSealed, Allocated, Paid, SeatFailed, ThoughtFailed, Tried
from support.commands import harbor, mistake
from support.folders import ROOT

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "bundles"
MORE_PLAYERS = '\n[[bidders]]\nname = "Dee"\nrule = "random"\nbudget = 90\n\n[[bidders]]\nname = "Eve"\nbudget = 150\n'


def test_simulated_rational_and_random_bidders_get_the_items_that_they_win_and_pay_their_bids(in_company, tmp_path):
    from bundle_auction.rules import BundlesAllotted

    (tmp_path / "auction.toml").write_text((EXAMPLE / "auction.toml").read_text() + MORE_PLAYERS)
    done = harbor("auction", "auction.toml", "--out", "run", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    log = read_log(tmp_path / "run" / "events.jsonl").entries
    bids = {one.bidder: one.act for one in of_type(log, ActedSealed)}
    assert set(bids) == {"Ann", "Ben", "Cho", "Dee", "Eve"}
    assert not [one for kind in (Tried, SeatFailed, ThoughtFailed) for one in of_type(log, kind)]
    [over] = of_type(log, BundlesAllotted)
    assert over.winners
    due = [(name, item) for name in over.winners for item in bids[name].items]
    assert sorted((one.bidder, one.item) for one in of_type(log, Allocated)) == sorted(due)
    paid = {one.payer: one.amount for one in of_type(log, Paid)}
    assert paid == {name: bids[name].amount for name in over.winners}
    rows = {row["bidder"]: row for row in json.loads(done.stdout, parse_float=Decimal)["standings"]}
    assert {name: row["paid"] for name, row in rows.items() if row["items"]} == paid


def test_an_item_that_is_listed_twice_is_refused_in_one_line(in_company, tmp_path):
    (tmp_path / "auction.toml").write_text((EXAMPLE / "auction.toml").read_text().replace('"east"', '"north"'))
    assert "an item is listed twice; name each once" in mistake(harbor("auction", "auction.toml", cwd=tmp_path))


def test_the_game_passes_the_suite_of_games(environment, tmp_path):
    done = environment.suite(EXAMPLE, tmp_path)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
