"""Whole auctions with models that spoil all their replies: what they mean is done, or is refused and counted."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.log import read_log
from support.cases import some
from support.commands import harbor
from support.folders import calls
from support.providers import provider
from support.spoiled import KINDS, Spoiler

GAME = """
seed = 41
models.odd = {{ use = "openai:gpt-4o-mini", base_url = "{url}", repairs = 0 }}
items = [{{ name = "Lamp", start = 1000, true_value = 2000 }}, {{ name = "Vase", start = 2000, true_value = 3700 }}]
bidders = [{{ name = "Ann", model = "odd", budget = 6000, bidding = "call" }},
  {{ name = "Ben", rule = "minimum-raise", budget = 6000 }}]
"""
BY_HARBOR = ("failed bids", "cannot afford")
"""Why bidders leave who are not asked."""


def play(kind, folder):
    """Play an auction; return what the command did, and for each bid call: what was meant, its call and its event."""
    with provider(seed=41, name="odd") as server:
        server.rewrite = spoiler = Spoiler(kind)
        (folder / "game.toml").write_text(GAME.format(url=server.openai_url))
        done = harbor("auction", "game.toml", "--out", "run", "--json", "--no-cache", cwd=folder)
    made = [call for call in calls(folder / "run") if call["purpose"] == "bid"]
    events = [entry.event for entry in read_log(folder / "run" / "events.jsonl").entries if is_anns(entry.event)]
    return done, [(spoiler.meant[tuple(call["prompt"][1:])], call, one) for call, one in zip(made, events, strict=True)]


def is_anns(event):
    decides = isinstance(event, Acted | Tried)
    act = getattr(event, "act", None)
    return decides and event.bidder == "Ann" and getattr(act, "reason", "") not in BY_HARBOR


def became(meant, call, event):
    """Say what became of a bid; "misread" if something else was done than was meant."""
    if call["outcome"] != "ok":
        return call["outcome"] if isinstance(event, Tried) else "misread"
    if isinstance(event, Tried):
        return "rules"
    bids = meant["action"] == "bid" and event.act == Bid(Decimal(str(meant["amount"])))
    leaves = meant["action"] == "withdraw" and event.act == Withdraw()
    return "as meant" if bids or leaves else "misread"


@pytest.mark.parametrize("name", some(KINDS, [*KINDS][::3]))
def test_every_bid_of_a_model_that_spoils_its_replies_is_read_as_meant_or_refused_and_counted(name, tmp_path):
    kind = KINDS[name]
    done, bids = play(kind, tmp_path)
    assert bids
    assert {became(*bid) for bid in bids} == {kind.becomes}
    assert all(call["outcome"] == "ok" or not call["marks"] for _, call, _ in bids)
    if kind.bids or kind.becomes == "as meant":
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2
    assert "could be used" in done.stderr
    assert (" refused)" in done.stderr) == (kind.becomes == "refused")


def test_a_model_that_always_drafts_first_has_no_failed_bid_and_its_run_is_verified(tmp_path):
    done, bids = play(KINDS["two fences"], tmp_path)
    assert done.returncode == 0
    assert not [event for _, _, event in bids if isinstance(event, Tried)]
    assert {tuple(call["marks"]) for _, call, _ in bids} == {("drafts",)}
    verified = harbor("verify", "run", cwd=tmp_path)
    assert verified.returncode == 0, verified.stderr


def test_of_the_ways_to_spoil_a_reply_at_least_thirty_are_read_as_they_are_meant():
    assert len(KINDS) >= 40
    assert sum(kind.becomes == "as meant" for kind in KINDS.values()) >= 30
