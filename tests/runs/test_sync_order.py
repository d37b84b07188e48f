"""The order of writing: what an event follows from is on the disk before the event is written."""

from __future__ import annotations

import json

import pytest

from harbor import Auction, Bidder, houses
from harbor._core.log.events import Answered, BiddersAsked, ModelCalled, Paused
from support.clerk import Clerk
from support.paid_chat import PRICED, PaidChat
from support.power import patch_syncing, synced_sizes


def sale(*bidders, **given):
    bidders = [*bidders, Bidder("Cho", rule="minimum-raise")]
    return Auction(seed=7, items=houses(2, seed=7), bidders=bidders, **given)


def test_every_paid_reply_is_on_the_disk_before_an_event_of_its_turn_is_written(tmp_path):
    run, seen = tmp_path / "run", []

    def look(entry):
        if isinstance(event := entry.event, ModelCalled):
            whole = (run / "calls.jsonl").read_bytes()[: safe(run / "calls.jsonl")]
            keys = [(call["bidder"], call["purpose"], call["began"]) for call in map(json.loads, whole.splitlines())]
            assert (event.bidder, event.purpose, event.began) in keys
            seen.append(entry)

    with synced_sizes() as safe:
        bidders = [Bidder(name, bidding="call", model="mine") for name in ("Ann", "Ben")]
        sale(*bidders, models={"mine": PRICED}).run(out=run, models={"mine": PaidChat(made=[])}, listen=look)
    assert len(seen) > 20


def test_words_of_an_agent_are_on_the_disk_before_the_next_turn_begins(tmp_path):
    run, said = tmp_path / "run", []

    def look(entry):
        if isinstance(entry.event, BiddersAsked | Paused):
            kept = (run / "events.jsonl").read_bytes()[: safe(run / "events.jsonl")]
            assert kept.count(b'"answered"') == len(said)
            assert b'"log_opened"' in kept
        said.extend([entry] * isinstance(entry.event, Answered))

    with synced_sizes() as safe:
        sale(Bidder("Dot", agent=True), Bidder("Ann")).run(out=run, agents={"Dot": Clerk()}, listen=look)
    assert len(said) > 2


def test_a_finished_run_is_on_the_disk_whole(tmp_path):
    run = tmp_path / "runs" / "mine"
    with synced_sizes() as safe:
        sale(Bidder("Ann")).run(out=run)
    files = [run / name for name in ("config.json", "manifest.json", "events.jsonl", "calls.jsonl")]
    assert [safe(file) for file in files] == [file.stat().st_size for file in files]
    assert all(safe(place) > 0 for place in (*files, run, run.parent, tmp_path))


def test_what_scripts_alone_play_is_not_synced_as_it_can_be_had_again_for_nothing(tmp_path, monkeypatch):
    patch_syncing(monkeypatch, lambda _: pytest.fail("synced"))
    sale().run(out=tmp_path / "run")
