"""The page of one seat: what that bidder may see, and nothing else."""

from __future__ import annotations

import json

import pytest

from harbor._cli.configs import presets
from harbor._core.errors import RunFolderError
from harbor._core.finding import find
from harbor._core.log import read_log
from harbor._core.log_lines import is_seen_by
from harbor._view.live_run import LiveRun
from harbor._view.run_data import run_page, seats_of
from support.shown_runs import CANARY, CANARY_MONEY, boards_of, hold_preset, think_much, with_canaries

MARKS = (CANARY, "731937.29", "731,937.29", str(CANARY_MONEY))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("view") / "run")


def texts_of(run, seat):
    head, chunks = run_page(run, seat)
    found = list(chunks)
    return head, found, json.dumps([head, found])


def no_canary_of_others(run, place):
    for seat in seats_of(read_log(run / "events.jsonl").entries):
        marked = with_canaries(run, place / seat.replace(" ", "-"), seat)
        _, _, page = texts_of(marked, seat)
        assert not [mark for mark in MARKS if mark in page]
        live = LiveRun(marked, seat)
        assert not [mark for mark in MARKS for chunk in iter(live.read_on, None) if mark in json.dumps(chunk)]
        assert not [mark for mark in MARKS if mark in json.dumps(live.head())]
        assert any(mark in texts_of(marked, "")[2] for mark in MARKS)


def test_no_canary_of_another_seat_is_on_a_page_of_bidders_with_every_thought(run, tmp_path):
    no_canary_of_others(run, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("preset", presets())
def test_no_canary_of_another_seat_is_on_a_page_of_a_preset(preset, tmp_path):
    no_canary_of_others(hold_preset(preset, tmp_path / "run"), tmp_path)


@pytest.mark.parametrize("seat", ["Ann", "Ben", "Cho"])
def test_a_page_of_a_seat_has_the_entries_that_it_may_see_and_its_board_is_the_fold_over_these(seat, run):
    seen = [entry for entry in read_log(run / "events.jsonl").entries if is_seen_by(seat, entry.event)]
    head, chunks, _ = texts_of(run, seat)
    assert [row[0] for chunk in chunks for row in chunk["entries"]] == [entry.seq for entry in seen]
    assert head["length"] == len(seen)
    assert head["players"] == []
    assert [chunk["texts"] for chunk in chunks] == [[]] * len(chunks)
    assert list(chunks[0]["boards"]) == [seat]
    board, frames = find("game", "english").board(), {}
    for entry in seen:
        board.note(entry.event)
        frames[entry.seq] = board.shown()
    shown = dict(boards_of(chunks, seat))
    last = None
    for seq, frame in frames.items():
        if seq in shown:
            last = shown[seq]
        assert last == (frame.headline, frame.state, list(frame.columns), [list(row) for row in frame.rows])


def test_the_board_of_a_seat_is_the_same_on_its_own_page_and_on_the_whole_page(run):
    own, whole = (boards_of(texts_of(run, seat)[1], "Ben") for seat in ("Ben", ""))
    assert [row for row in whole if row[1][0]][-20:] == [row for row in own if row[1][0]][-20:]


def test_a_seat_that_nobody_has_is_refused_with_the_nearest_name(run):
    with pytest.raises(RunFolderError, match="did you mean 'Ann'"):
        run_page(run, "Anne")


def edited(run, place, old, new):
    place.mkdir()
    content = (run / "events.jsonl").read_bytes()
    (place / "events.jsonl").write_bytes(content.replace(old, new, 1))
    return place


def test_a_page_of_a_seat_tells_no_digest_of_an_edited_event_of_another(run, tmp_path):
    lines = (run / "events.jsonl").read_bytes().splitlines()
    planned = next(one for one in lines if json.loads(one)["type"] == "planned" and b"bidder:Ben" in one)
    told = json.loads(planned)
    damaged = edited(run, tmp_path / "damaged", planned, planned.replace(b"bidder:Ben", b"bidder:Bea"))
    live = LiveRun(damaged, "Ann")
    head, _, page = texts_of(damaged, "Ann")
    assert head["notes"] == [f"the log is damaged from event {told['seq']} on"]
    assert list(iter(live.read_on, None))
    assert live.head()["notes"] == head["notes"]
    assert told["digest"] not in page
    assert told["digest"] in texts_of(damaged, "")[2]


def test_a_page_of_a_seat_of_another_version_has_a_title_and_no_path(run, tmp_path):
    old = edited(run, tmp_path / "old", b'"schema":2', b'"schema":1')
    head, _, page = texts_of(old, "Ann")
    assert head["title"] == "a run"
    assert "written by another version" in head["notes"][0]
    assert str(tmp_path) not in page
    with pytest.raises(RunFolderError, match="unknown bidder 'Zoe'"):
        run_page(old, "Zoe")


def test_a_page_of_a_seat_does_not_tell_that_calls_are_missing(run, tmp_path):
    assert texts_of(edited(run, tmp_path / "bare", b"", b""), "Ann")[0]["notes"] == []
