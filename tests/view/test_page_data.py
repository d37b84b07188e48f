"""The data of a run's page: entries with words, boards, decisions with their calls, and tables beside the truth."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from harbor import Auction
from harbor._core.asking.asks import Withdraw
from harbor._core.basics.errors import LogError, RunFolderError
from harbor._core.log.acts import Acted
from harbor._core.log.events import SCHEMA_VERSION
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import digest_of, is_seen_by
from harbor._core.plugins import finding
from harbor._games.board import PlainBoard, Shown
from harbor._games.english.game import EnglishBoard
from harbor._packs.publishing import PublicCopy, publish
from harbor._view import chunks, page_data
from harbor._view.entries import Decisions, thought_of, words_of
from harbor._view.page_data import run_page
from harbor.events import Believed, BidderWithdrew, Decided, ModelCalled, Predicted, Profiled, Tried
from support.commands import harbor
from support.long_logs import lengthen
from support.shown_runs import boards_of, hold_preset, think_much


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("view") / "run")


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def whole(run, seat=""):
    """The head of a page, and all its chunks as one."""
    head, parts = run_page(run, seat)
    one = {"entries": [], "decisions": {}, "boards": {}}
    made = list(parts)
    for part in made:
        json.dumps(part)
        one["entries"] += part["entries"]
        for number, decision in part["decisions"].items():
            texts = [
                {**call, "prompt": [part["texts"][place] for place in call["prompt"]],
                 "reply": None if call["reply"] is None else part["texts"][call["reply"]]}
                for call in decision["calls"]
            ]  # fmt: skip
            one["decisions"][number] = {**decision, "calls": texts}
    one["boards"] = {viewer: boards_of(made, viewer) for viewer in made[0]["boards"]}
    return head, one


def tables(data, title):
    return [table for one in data["decisions"].values() for table in one["beside"] if table["title"].startswith(title)]


def test_every_event_is_an_entry_with_words(run):
    head, data = whole(run)
    entries = read_log(run / "events.jsonl").entries
    assert [row[:3] for row in data["entries"]] == [(e.seq, round(e.at, 3), e.event.audience) for e in entries]
    assert all(row[4] and "\n" not in row[4] for row in data["entries"])
    assert head["length"] == len(entries)
    assert head["simulated"]
    assert head["seats"] == ["Ann", "Ben", "Cho"]
    assert [row[0] for row in head["standings"]["rows"]]
    assert {kind for _, kind, _ in head["places"]} == {"part", "round", "end"}


@pytest.mark.parametrize("preset", ["second-price", "water-personas"])
def test_a_game_without_budgets_shows_none(preset, tmp_path):
    done = harbor("auction", preset, "--quiet", "--out", str(tmp_path / "run"))
    assert done.returncode == 0
    _, data = whole(tmp_path / "run")
    seated = [row for row in data["entries"] if row[3] == "bidder_seated"]
    assert seated
    assert all("budget" not in row[4] and "budget" not in dict(row[5]) for row in seated)


def test_every_recorded_call_is_in_one_decision_with_its_words_and_order(run):
    _, data = whole(run)
    raw = [json.loads(line) for line in (run / "calls.jsonl").read_text().splitlines()]
    shown = [call for one in data["decisions"].values() for call in one["calls"]]
    assert Counter((tuple(call["prompt"]), call["reply"]) for call in shown) == Counter(
        (tuple(call["prompt"]), call["reply"]) for call in raw
    )
    assert len(shown) == len(of_type(read_log(run / "events.jsonl").entries, ModelCalled))


def test_who_is_out_for_want_of_money_has_decided_nothing():
    decisions = Decisions(None)
    decided = decisions.note(Decided("Ann", "Vase", 1, 1, "so", None))
    assert decided is not None
    assert decisions.note(Acted("Ann", "Vase", Withdraw())) == decided
    assert decisions.note(BidderWithdrew("Vase", 2, "Ann", "cannot afford")) is None


def test_a_decision_has_the_events_that_its_calls_led_to(run):
    _, data = whole(run)
    kinds = {row[6]: row[3] for row in data["entries"] if row[6] is not None and row[2] != "everyone"}
    ends = {"plan": "planned", "bid": "decided", "believe": "believed", "profile": "profiled", "mirror": "mirrored"}
    for number, kind in kinds.items():
        decision = data["decisions"][str(number)]
        assert kind == ends.get(decision["what"], kind)
        assert decision["calls"]
    assert {one["what"] for one in data["decisions"].values()} >= {*ends, "predict", "strategize"}


def test_a_belief_stands_beside_the_truth_and_differs_where_the_log_counted_an_error(run):
    _, data = whole(run)
    beliefs = of_type(read_log(run / "events.jsonl").entries, Believed)
    off = [len(table["off"]) for table in tables(data, "Belief")]
    assert off == [one.errors_self + one.errors_others for one in beliefs]


def test_a_profile_stands_beside_the_persona_and_a_prediction_beside_what_came(run):
    entries = read_log(run / "events.jsonl").entries
    _, data = whole(run)
    profiles = tables(data, "Profile of")
    assert len(profiles) == len(of_type(entries, Profiled))
    for table in profiles:
        truth = {row[0]: row[-1] for row in table["rows"]}
        assert list(truth.values()).count("100%") == 1
        assert table["columns"] in (["persona", "share", "truth"], ["persona", "share", "profile by Ben", "truth"])
        shares = [int(row[1].removesuffix("%")) for row in table["rows"]]
        assert sum(shares) == pytest.approx(100, abs=len(shares) / 2)
        assert table["note"].endswith(f"a uniform guess gives each {1 / len(shares):.0%}.")
    predictions = tables(data, "Prediction for")
    assert len(predictions) == len(of_type(entries, Predicted))
    assert all(row[-1] == "no bid" or row[-1].startswith("$") for table in predictions for row in table["rows"])


def test_the_boards_of_a_page_are_those_of_the_analyst_and_of_each_seat(run):
    _, data = whole(run)
    assert list(data["boards"]) == ["", "Ann", "Ben", "Cho"]
    budgets = [{row[0]: row[-1] for row in data["boards"][who][-1][1][3]} for who in data["boards"]]
    assert all(budgets[0].values())
    for who, own in zip(("Ann", "Ben", "Cho"), budgets[1:], strict=True):
        assert [name for name, told in own.items() if told] == [who]


NAMES_IN_CODE = re.compile(r"[a-z]_[a-z]|\\bit has\\b|labelled|takes it for")


@pytest.mark.parametrize("preset", ["second-price", "water", "english-private", "beauty", "houses"])
def test_an_event_is_told_in_words_that_are_no_names_of_code(preset, tmp_path):
    _, data = whole(hold_preset(preset, tmp_path / "run"))
    told = [row[4] for row in data["entries"]] + [one["what"] for one in data["decisions"].values()]
    assert [words for words in told if NAMES_IN_CODE.search(words)] == []


@pytest.mark.parametrize(
    ("purpose", "game", "thought", "words"),
    [
        ("second_price", "second-price", "bid", "for a bid"),
        ("contest_replan", "water", "replan", "for a new plan"),
        ("agent", "water", "answer", "for an answer"),
        ("water", "english", "water", 'for the thought "water"'),
        ("my_thought", None, "my thought", 'for the thought "my thought"'),
    ],
)
def test_what_a_model_is_asked_for_is_said_in_words_also_of_a_strangers_thought(purpose, game, thought, words):
    known = game and finding.find("game", game)
    call = ModelCalled("Ann", purpose, "m", "", 1, "ok", 1, 1, 0.0, cached=False, began=0.0, seconds=0.0)
    assert thought_of(purpose, known) == thought
    assert words_of(call, known) == f"Ann asks the model m {words}: it answers."


class MadeAnew:
    """A stranger's board, which makes all its rows at each event, of what it has seen."""

    def __init__(self):
        self._seen = {}

    def note(self, event):
        for name in getattr(event, "bidders", (getattr(event, "bidder", ""),)):
            self._seen[name] = f"{type(event).__name__} after {len(self._seen.get(name, ''))}"

    def shown(self):
        return Shown("seen", str(len(self._seen)), ("bidder", "last"), tuple(self._seen.items()))


@pytest.mark.parametrize("make", [EnglishBoard, PlainBoard, MadeAnew])
@pytest.mark.parametrize("seat", ["", "Ben"])
def test_the_boards_of_a_page_are_told_by_the_rows_that_change(make, seat, monkeypatch, run):
    monkeypatch.setattr(chunks, "CHARACTERS", 100_000)
    known = finding.found("game", "english")
    monkeypatch.setitem(finding._FOUND["game"], "english", replace(known, value=replace(known.value, board=make)))
    _, data = whole(run, seat)
    for viewer, told in data["boards"].items():
        board, shown, frames = make(), None, dict(told)
        for entry in read_log(run / "events.jsonl").entries:
            if viewer == "" or is_seen_by(viewer, entry.event):
                board.note(entry.event)
                now = board.shown()
                shown = frames.get(entry.seq, shown)
                assert shown == (now.headline, now.state, list(now.columns), [list(row) for row in now.rows])


def test_a_refused_bid_belongs_to_the_decision_that_led_to_it(tmp_path):
    wrong = {"model": "errs", "name": "Ann", "bidding": "call"}
    models = {"errs": {"use": "simulated", "simulated": {"over_budget_rate": 0.5}}}
    Auction(items={"count": 2}, bidders=[wrong, {"name": "Ben"}], models=models).run(out=tmp_path / "run")
    _, data = whole(tmp_path / "run")
    refused = [row for row in data["entries"] if row[3] == "tried"]
    assert len(refused) == len(of_type(read_log(tmp_path / "run" / "events.jsonl").entries, Tried)) > 0
    assert {data["decisions"][str(row[6])]["what"] for row in refused} == {"bid"}


def test_a_page_without_recorded_calls_says_so(copy):
    (copy / "calls.jsonl").unlink()
    head, data = whole(copy)
    assert any("calls.jsonl is not there" in note for note in head["notes"])
    assert {call["reply"] for one in data["decisions"].values() for call in one["calls"]} == {None}


def test_a_damaged_line_of_the_calls_costs_that_call_alone(copy):
    lines = (copy / "calls.jsonl").read_text().splitlines()
    lines[3] = lines[3][:200]
    (copy / "calls.jsonl").write_text("\n".join(lines) + "\n")
    head, data = whole(copy)
    assert any("1 line of calls.jsonl" in note for note in head["notes"])
    missing = [call for one in data["decisions"].values() for call in one["calls"] if call["reply"] is None]
    assert len(missing) == 1


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_log_that_is_cut_short_is_shown_up_to_there(share, copy):
    log = copy / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    left = int(len(lines) * share)
    log.write_bytes(b"".join(lines[:left]) + lines[left][:-5])
    head, data = whole(copy)
    assert len(data["entries"]) == left > 0
    assert any("cut short" in note for note in head["notes"])


def test_an_end_that_a_power_cut_has_damaged_is_left_out(copy):
    log = copy / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:50]) + b"\0" * 500)
    head, data = whole(copy)
    assert len(data["entries"]) == 50
    assert head["notes"]


def test_an_edited_line_ends_what_is_shown_and_is_named(copy):
    log = copy / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[40] = lines[40].replace(b"e", b"a", 1)
    log.write_bytes(b"".join(lines))
    head, data = whole(copy)
    assert len(data["entries"]) <= 40
    assert any("line 41" in note for note in head["notes"])


def rewrite(run, old, new):
    """Change the first such words of a log as another Harbor would have written them, with digests that follow."""
    log, digest, lines = run / "events.jsonl", "", []
    for line in log.read_bytes().replace(old, new, 1).splitlines(keepends=True):
        digest = digest_of(line, digest)
        lines.append(line.rpartition(b',"digest":')[0] + f',"digest":"{digest}"}}\n'.encode())
    log.write_bytes(b"".join(lines))
    return len(lines)


def test_a_game_whose_package_is_missing_is_told_of_and_its_entries_are_shown_as_they_are(copy):
    length = rewrite(copy, b'"name":"english"', b'"name":"chess"')
    head, data = whole(copy)
    assert any("chess" in note for note in head["notes"])
    assert len(data["entries"]) == length
    assert not data["boards"]
    assert data["entries"][-1][3] == "sale_closed"


def test_a_log_of_an_earlier_version_is_shown_as_it_is_written(copy):
    rewrite(copy, b'"schema":%d' % SCHEMA_VERSION, b'"schema":1')
    head, data = whole(copy)
    assert any("schema 1" in note for note in head["notes"])
    assert data["entries"]


def test_a_log_of_a_later_version_is_read_as_evidence(copy):
    length = rewrite(copy, b'"type":"item_opened"', b'"type":"fanfare_heard"')
    rewrite(copy, b'"schema":%d' % SCHEMA_VERSION, b'"schema":9')
    head, data = whole(copy)
    assert any("schema 9" in note for note in head["notes"])
    assert any("fanfare_heard" in note for note in head["notes"])
    assert len(data["entries"]) == length - 1


@pytest.mark.parametrize("content", [b"", b"hello\n", b"[1]\n"])
def test_what_is_no_log_is_refused(content, tmp_path):
    (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises((LogError, RunFolderError)):
        run_page(tmp_path)


def test_reading_a_run_for_a_page_writes_nothing(run):
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    whole(run)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_a_link_in_a_folder_that_was_sent_is_refused(copy):
    (copy / "calls-more.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(RunFolderError, match="link"):
        run_page(copy)


def test_markup_in_names_stays_text(tmp_path):
    bad = "</script><b>x"
    rules = [{"name": name, "rule": "minimum-raise"} for name in (bad, "Ben")]
    items = [{"name": "<img src=x>", "start": 10, "true_value": 20}]
    Auction(items=items, bidders=rules).run(out=tmp_path / "run")
    head, data = whole(tmp_path / "run")
    assert bad in head["seats"]
    assert any("<img src=x>" in row[4] for row in data["entries"])


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
    about = PublicCopy("run", "x")
    (tmp_path / "public").mkdir()
    list(publish(run, tmp_path / "public", about))
    head, data = whole(tmp_path / "public")
    assert any("public copy" in note for note in head["notes"])
    assert {row[2] for row in data["entries"]} <= {"everyone", "analyst"}
    assert {row[0] for row in head["standings"]["rows"]} == {"Ann", "Ben", "Cho"}


def test_a_game_that_brings_no_board_is_shown_by_what_was_said(monkeypatch, run):
    known = finding.found("game", "english")
    plain = replace(known, value=replace(known.value, board=PlainBoard))
    monkeypatch.setitem(finding._FOUND["game"], "english", plain)
    _, data = whole(run)
    assert data["boards"][""][-1][1][2] == ["bidder", "now"]
    assert {row[0] for row in data["boards"]["Ann"][-1][1][3]} == {"Ann", "Ben", "Cho"}


def test_a_board_that_fails_costs_the_page_that_board_and_is_told_of_in_one_line(monkeypatch, run):
    known = finding.found("game", "english")
    broken = replace(known, value=replace(known.value, board=lambda: 1 / 0))
    monkeypatch.setitem(finding._FOUND["game"], "english", broken)
    head, data = whole(run)
    assert [note for note in head["notes"] if "the board of the game 'english' failed" in note]
    assert len(head["notes"]) == 1
    assert data["decisions"]
