"""The order of writing: what an event follows from is on the disk before the event is written."""

from __future__ import annotations

import json

import pytest

from harbor import Auction, Bidder, houses
from harbor._core.basics.errors import RunFolderError
from harbor._core.log.events import Answered, BiddersAsked, ModelCalled, Paused
from harbor._runs.folder import RunFolder
from support.clerk import Clerk
from support.paid_chat import PRICED, PaidChat
from support.power import patch_syncing, synced_sizes


def sale(**playing):
    bidders = [Bidder(name, bidding="call", **playing) for name in ("Ann", "Ben")]
    models = {"mine": PRICED} if playing.get("model") == "mine" else {}
    return Auction(
        seed=7, items=houses(2, seed=7), bidders=[*bidders, Bidder("Cho", rule="minimum-raise")], models=models
    )


def test_every_paid_reply_is_on_the_disk_before_an_event_of_its_turn_is_written(tmp_path):
    run, seen = tmp_path / "run", []

    def look(entry):
        if isinstance(event := entry.event, ModelCalled):
            whole = (run / "calls.jsonl").read_bytes()[: safe(run / "calls.jsonl")]
            keys = [(call["bidder"], call["purpose"], call["began"]) for call in map(json.loads, whole.splitlines())]
            assert (event.bidder, event.purpose, event.began) in keys
            seen.append(entry)

    with synced_sizes() as safe:
        sale(model="mine").run(out=run, models={"mine": PaidChat(made=[])}, listen=look)
    assert len(seen) > 20


def test_words_of_an_agent_are_on_the_disk_before_the_next_turn_begins(tmp_path):
    run, said = tmp_path / "run", []
    auction = Auction(seed=7, items=houses(2, seed=7), bidders=[Bidder("Dot", agent=True), Bidder("Ann")])

    def look(entry):
        if isinstance(entry.event, BiddersAsked | Paused):
            kept = (run / "events.jsonl").read_bytes()[: safe(run / "events.jsonl")]
            assert kept.count(b'"answered"') == len(said)
            assert b'"log_opened"' in kept
        said.extend([entry] * isinstance(entry.event, Answered))

    with synced_sizes() as safe:
        auction.run(out=run, agents={"Dot": Clerk()}, listen=look)
    assert len(said) > 2


def test_a_finished_run_is_on_the_disk_whole(tmp_path):
    run = tmp_path / "runs" / "mine"
    with synced_sizes() as safe:
        sale().run(out=run)
    files = [run / name for name in ("config.json", "manifest.json", "events.jsonl", "calls.jsonl")]
    assert [safe(file) for file in files] == [file.stat().st_size for file in files]
    assert all(safe(place) > 0 for place in (*files, run, run.parent, tmp_path))


def test_what_scripts_alone_play_is_not_synced_as_it_can_be_had_again_for_nothing(tmp_path, monkeypatch):
    patch_syncing(monkeypatch, lambda _: pytest.fail("synced"))
    Auction(seed=7, items=houses(2, seed=7), bidders=[Bidder("Ann", rule="minimum-raise")]).run(out=tmp_path / "run")


def test_a_run_that_was_killed_while_its_folder_was_made_leaves_no_run_and_can_be_begun_again(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("harbor._runs.folder.manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            sale().run(out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    sale().run(out=tmp_path / "run")
    with pytest.raises(RunFolderError, match="exists"):
        RunFolder.make(tmp_path / "run", sale())
