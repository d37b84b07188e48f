"""The data of a run's page: entries with words, boards, decisions with their calls, and tables beside the truth."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from harbor import Auction
from harbor._core.asking.asks import Withdraw
from harbor._core.basics.errors import LogError, RunFolderError
from harbor._core.log.acts import Acted
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins import finding
from harbor._games.board import PlainBoard, Shown
from harbor._games.english.game import EnglishBoard
from harbor._packs.publishing import PublicCopy, publish
from harbor._view import chunks, page_data
from harbor._view.entries import Decisions
from harbor._view.page_data import run_page
from harbor._view.pages import page_of
from harbor.events import Believed, BidderWithdrew, Decided, ModelCalled, Profiled, Tried
from support import forging
from support.long_logs import lengthen
from support.shown_runs import boards_of


@pytest.fixture(scope="module")
def data(run):
    return whole(run)[1]


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def whole(run, seat=""):
    """The head of a page, and all its chunks as one."""
    head, parts = run_page(run, seat)
    made, decisions = list(parts), {}
    for part in made:
        json.dumps(part)
        for number, decision in part["decisions"].items():
            calls = [
                {**call, "prompt": [part["texts"][place] for place in call["prompt"]],
                 "reply": None if call["reply"] is None else part["texts"][call["reply"]]}
                for call in decision["calls"]
            ]  # fmt: skip
            decisions[number] = {**decision, "calls": calls}
    boards = {viewer: boards_of(made, viewer) for viewer in made[0]["boards"]}
    entries = [row for part in made for row in part["entries"]]
    return head, {"entries": entries, "decisions": decisions, "boards": boards}


def tables(data, title):
    return [table for one in data["decisions"].values() for table in one["beside"] if table["title"].startswith(title)]


def calls_in(data):
    return [call for one in data["decisions"].values() for call in one["calls"]]


def test_every_event_is_an_entry_with_words(run, entries):
    head, data = whole(run)
    assert [row[:3] for row in data["entries"]] == [(e.seq, round(e.at, 3), e.event.audience) for e in entries]
    assert all(row[4] and "\n" not in row[4] for row in data["entries"])
    assert (head["length"], head["simulated"], head["seats"]) == (len(entries), True, ["Ann", "Ben", "Cho"])
    assert [row[0] for row in head["standings"]["rows"]]
    assert {kind for _, kind, _ in head["places"]} == {"part", "round", "end"}


def test_every_recorded_call_is_in_one_decision_with_its_words(run, data, entries):
    raw = [json.loads(line) for line in (run / "calls.jsonl").read_text().splitlines()]
    shown, recorded = (
        Counter((tuple(call["prompt"]), call["reply"]) for call in made) for made in (calls_in(data), raw)
    )
    assert shown == recorded
    assert shown.total() == len(of_type(entries, ModelCalled))


def test_who_is_out_for_want_of_money_has_decided_nothing():
    decisions = Decisions(None)
    decided = decisions.note(Decided("Ann", "Vase", 1, 1, "so", None))
    assert decided is not None
    assert decisions.note(Acted("Ann", "Vase", Withdraw())) == decided
    assert decisions.note(BidderWithdrew("Vase", 2, "Ann", "cannot afford")) is None


def test_a_decision_has_the_events_that_its_calls_led_to(data):
    kinds = {row[6]: row[3] for row in data["entries"] if row[6] is not None and row[2] != "everyone"}
    ends = {"plan": "planned", "bid": "decided", "believe": "believed", "profile": "profiled", "mirror": "mirrored"}
    for number, kind in kinds.items():
        decision = data["decisions"][str(number)]
        assert kind == ends.get(decision["what"], kind)
        assert decision["calls"]
    assert {one["what"] for one in data["decisions"].values()} >= {*ends, "predict", "strategize"}


def test_beliefs_and_profiles_stand_beside_the_truth(data, entries):
    beliefs, profiles = (tables(data, title) for title in ("Belief", "Profile of"))
    off = [one.errors_self + one.errors_others for one in of_type(entries, Believed)]
    assert [len(table["off"]) for table in beliefs] == off
    assert len(profiles) == len(of_type(entries, Profiled))
    for table in profiles:
        assert [row[-1] for row in table["rows"]].count("100%") == 1
        assert table["columns"] in (["persona", "share", "truth"], ["persona", "share", "profile by Ben", "truth"])
        shares = [int(row[1].removesuffix("%")) for row in table["rows"]]
        assert sum(shares) == pytest.approx(100, abs=len(shares) / 2)
        assert table["note"].endswith(f"a uniform guess gives each {1 / len(shares):.0%}.")


class MadeAnew:
    """A stranger's board, which makes all its rows at each event, of what it has seen."""

    def __init__(self):
        self._seen = {}

    def note(self, event):
        for name in getattr(event, "bidders", (getattr(event, "bidder", ""),)):
            self._seen[name] = f"{type(event).__name__} after {len(self._seen.get(name, ''))}"

    def shown(self):
        return Shown("seen", str(len(self._seen)), ("bidder", "last"), tuple(self._seen.items()))


def with_board(monkeypatch, make):
    known = finding.found("game", "english")
    monkeypatch.setitem(finding._FOUND["game"], "english", replace(known, value=replace(known.value, board=make)))


@pytest.mark.parametrize(("make", "seat"), [(EnglishBoard, ""), (PlainBoard, "Ben"), (MadeAnew, "")])
def test_the_boards_of_a_page_are_told_by_the_rows_that_change(make, seat, monkeypatch, run, entries):
    monkeypatch.setattr(chunks, "CHARACTERS", 100_000)
    with_board(monkeypatch, make)
    for viewer, told in whole(run, seat)[1]["boards"].items():
        board, shown, frames = make(), None, dict(told)
        for entry in entries:
            if viewer == "" or is_seen_by(viewer, entry.event):
                board.note(entry.event)
                now = board.shown()
                shown = frames.get(entry.seq, shown)
                assert shown == (now.headline, now.state, list(now.columns), [list(row) for row in now.rows])


def test_a_board_that_fails_costs_the_page_that_board_and_is_told_of_in_one_line(monkeypatch, run):
    with_board(monkeypatch, lambda: 1 / 0)
    head, data = whole(run)
    [note] = head["notes"]
    assert "the board of the game 'english' failed" in note
    assert data["decisions"]


def test_a_refused_bid_belongs_to_the_decision_that_led_to_it(tmp_path):
    wrong = {"model": "errs", "name": "Ann", "bidding": "call"}
    models = {"errs": {"use": "simulated", "simulated": {"over_budget_rate": 0.5}}}
    Auction(items={"count": 2}, bidders=[wrong, {"name": "Ben"}], models=models).run(out=tmp_path / "run")
    _, data = whole(tmp_path / "run")
    refused = [row for row in data["entries"] if row[3] == "tried"]
    assert len(refused) == len(of_type(read_log(tmp_path / "run" / "events.jsonl").entries, Tried)) > 0
    assert {data["decisions"][str(row[6])]["what"] for row in refused} == {"bid"}


def test_calls_that_are_missing_or_damaged_cost_their_words_alone_and_are_told_of(copy):
    calls = copy / "calls.jsonl"
    lines = calls.read_text().splitlines()
    lines[3] = lines[3][:200]
    calls.write_text("\n".join(lines) + "\n")
    head, data = whole(copy)
    assert any("1 line of calls.jsonl" in note for note in head["notes"])
    assert [call["reply"] for call in calls_in(data)].count(None) == 1
    calls.unlink()
    head, data = whole(copy)
    assert any("calls.jsonl is not there" in note for note in head["notes"])
    assert {call["reply"] for call in calls_in(data)} == {None}


def by_lines(change):
    """Change the lines of a log, and leave its digests."""
    return lambda log: log.write_bytes(b"".join(change(log.read_bytes().splitlines(keepends=True))))


def rewritten(change):
    """Change the lines of a log as another Harbor would have written them, with digests that follow."""

    def rewrite(log):
        lines = forging.lines_of(log)
        change(lines)
        forging.write(log, lines)

    return rewrite


def of_a_later_version(lines):
    forging.of_type(lines, "item_opened")[0].update(type="fanfare_heard")
    lines[0].update(schema=9)


of_chess = rewritten(lambda lines: lines[0]["parts"][0].update(name="chess"))


@pytest.mark.parametrize(("spoil", "shown", "says"), [
    (by_lines(lambda lines: [*lines[:20], lines[20][:-5]]), (20, 20), {"cut short"}),
    (by_lines(lambda lines: [*lines[:50], b"\0" * 500]), (50, 50), {""}),
    (by_lines(lambda lines: [*lines[:40], lines[40].replace(b"e", b"a", 1), *lines[41:]]), (39, 40), {"line 41"}),
    (of_chess, (-1, -1), {"chess"}), (rewritten(lambda lines: lines[0].update(schema=1)), (1, -1), {"schema 1"}),
    (rewritten(of_a_later_version), (-2, -2), {"schema 9", "fanfare_heard"}),
], ids=["cut short", "power cut", "edited", "unknown game", "earlier version", "later version"])  # fmt: skip
def test_of_a_log_that_is_spoiled_or_strange_what_can_be_read_is_shown_with_a_note(spoil, shown, says, copy, entries):
    """Shown are so many entries at least and at most; -1 stands for all, -2 for all but one."""
    spoil(copy / "events.jsonl")
    head, data = whole(copy)
    assert {word for word in says if any(word in note for note in head["notes"])} == says
    least, most = (at if at > 0 else len(entries) + 1 + at for at in shown)
    assert least <= len(data["entries"]) <= most
    assert spoil is not of_chess or not data["boards"]


@pytest.mark.parametrize("content", [b"", b"hello\n", b"[1]\n"])
def test_what_is_no_log_is_refused(content, tmp_path):
    (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises((LogError, RunFolderError)):
        run_page(tmp_path)


def test_reading_a_run_for_a_page_writes_nothing_and_a_link_in_a_folder_that_was_sent_is_refused(copy):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    whole(copy)
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == before
    (copy / "calls-more.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(RunFolderError, match="link"):
        run_page(copy)


def test_a_long_log_is_cut_into_chunks_of_a_bounded_size(run, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHARACTERS", 100_000)
    length = lengthen(run, tmp_path / "long", 4)
    head, parts = run_page(tmp_path / "long")
    found = list(parts)
    assert sum(len(part["entries"]) for part in found) == length == head["length"]
    assert max(len(json.dumps(part)) for part in found) < 400_000
    for part in found:
        first = part["entries"][0][0]
        assert all(frames[0][0] == first for frames in part["boards"].values())
        assert {str(row[6]) for row in part["entries"] if row[6] is not None} <= part["decisions"].keys()


def test_a_page_has_the_boards_of_so_many_seats_and_says_so(run, monkeypatch):
    monkeypatch.setattr(page_data, "MOST_BOARDS", 2)
    head, data = whole(run)
    assert list(data["boards"]) == ["", "Ann", "Ben"]
    assert any("--seat" in note for note in head["notes"])


def test_a_public_copy_is_shown_with_a_note_of_what_is_not_in_it(run, tmp_path):
    (tmp_path / "public").mkdir()
    list(publish(run, tmp_path / "public", PublicCopy("run", "x")))
    head, data = whole(tmp_path / "public")
    assert any("public copy" in note for note in head["notes"])
    assert {row[2] for row in data["entries"]} <= {"everyone", "analyst"}
    assert {row[0] for row in head["standings"]["rows"]} == {"Ann", "Ben", "Cho"}


def test_the_page_without_data_has_at_most_150_kb():
    assert len(page_of("a run", follows=True).encode()) <= 150_000
