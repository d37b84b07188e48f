"""The page of one seat: what that bidder may see, and nothing else."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest

from harbor._cli.shared.files import presets
from harbor._core.basics.errors import RunFolderError
from harbor._core.log.events import SCHEMA_VERSION
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import is_seen_by
from harbor._view.live_server import LiveRun, _told
from harbor._view.page_data import run_page, seats_of
from support import forging
from support.cases import some
from support.commands import harbor
from support.shown_runs import CANARY, CANARY_MONEY, hold_preset, remembered_series, think_much, with_canaries

NAMES = ("Annabel", "Ben", "Ann")
"""One begins as another, and they are in no order."""
BESIDE = ("calls.jsonl", "memory.jsonl", "record.json", "failure.json", "events-cut.jsonl", "notes.txt")
MARKS = (CANARY, "731937.29", "731,937.29", str(CANARY_MONEY))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return think_much(tmp_path_factory.mktemp("view") / "run", NAMES, items={"count": 2})


def texts_of(run, seat):
    head, chunks = run_page(run, seat)
    found = list(chunks)
    return head, found, json.dumps([head, found])


def followed(run, seat):
    """All that the page of a run that is followed is sent, up to the end or to what is not written yet."""

    async def sent():
        live, told = LiveRun(run, seat), []
        async with aclosing(_told(live, -1)) as events:
            async for event in events:
                told.append(event.raw_data)
                if live.is_at_end and event.event == "head" and len(told) > 1:
                    break
        return "".join(told)

    return asyncio.run(sent())


def written(run, seat, page):
    """The page that the command writes, with all that is beside it."""
    done = harbor("view", run, *(("--seat", seat) if seat else ()), "--no-open", "--out", page)
    assert done.returncode == 0, done.stderr
    return "".join(one.read_text() for one in (page, *page.parent.glob(f"{page.stem}_files/*")))


def marks_in(page):
    return [mark for mark in MARKS if mark in page]


def no_canary_of_others(run, place, log=None, seats=()):
    """No canary is on any page of any seat, whichever way it is made; all are on the page of the analyst.

    `log` rewrites the log, after the canaries are planted in it, in the files beside it and in the name of the folder.
    """
    for seat in seats or seats_of(read_log(run / "events.jsonl").entries):
        marked = with_canaries(run, place / f"{CANARY} {seat}", seat)
        for name in BESIDE:
            (marked / name).write_text(f'{{"note": "{CANARY}"}}\n')
        if log is not None:
            log(marked / "events.jsonl")
        pages = texts_of(marked, seat)[2], followed(marked, seat), written(marked, seat, place / f"{seat}.html")
        assert [marks_in(page) for page in pages] == [[]] * 3
        assert f'"bidder:{seat}"' in pages[0], "what it may see itself is there"
        assert marks_in(texts_of(marked, "")[2])


def rewritten(change):
    def rewrite(log):
        lines = forging.lines_of(log)
        change(lines)
        forging.write(log, lines)

    return rewrite


def _later(lines):
    lines[0] |= {"schema": SCHEMA_VERSION + 1, "canary": CANARY}
    for line in lines[1::2]:
        line["of_later"] = CANARY if "bidder:" in line.get("audience", "") else ""
    for line in forging.of_type(lines, "planned", "profiled", "strategy_chosen"):
        line["type"] += "_anew"


def _broken(line):
    def break_(log):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join([*lines[: len(lines) // 2], line, *lines[len(lines) // 2 :]]))

    return break_


WAYS = {
    "of an earlier version": rewritten(lambda lines: lines[0].update(schema=1)),
    "of a later version": rewritten(_later),
    "of a game that is not installed": rewritten(lambda lines: lines[0]["parts"][0].update(name=CANARY)),
    "of a game of another package": rewritten(lambda lines: lines[0]["parts"][0].update(package=CANARY)),
    "that is cut short": lambda log: log.write_bytes(log.read_bytes()[:-200]),
    "with a line that is no JSON": _broken(b"canary-of-another\n"),
    "with a line that is no event": _broken(b'{"type": "canary-of-another"}\n'),
    "with a line twice": rewritten(lambda lines: lines.insert(len(lines) // 2, dict(lines[len(lines) // 2]))),
    "with an event of another audience": rewritten(lambda lines: lines[-3].update(audience="bidder:canary-of-another")),
}


def test_no_canary_of_another_seat_is_on_a_page_of_bidders_with_every_thought(run, tmp_path):
    no_canary_of_others(run, tmp_path)


@pytest.mark.parametrize("log", WAYS.values(), ids=WAYS)
def test_no_canary_of_another_seat_is_on_a_page_whatever_has_become_of_the_log(log, run, tmp_path):
    no_canary_of_others(run, tmp_path, log, seats=("Ben", "Ann"))


def test_no_canary_of_another_seat_is_on_a_page_of_an_auction_of_a_series_that_is_remembered(tmp_path):
    no_canary_of_others(remembered_series(tmp_path / "series") / "2", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("preset", some(presets(), ["water", "second-price"]))
def test_no_canary_of_another_seat_is_on_a_page_of_a_preset(preset, tmp_path):
    no_canary_of_others(hold_preset(preset, tmp_path / "run"), tmp_path)


def test_a_page_of_a_seat_has_the_entries_that_it_may_see_one_board_and_no_words_of_calls(run):
    for seat in NAMES:
        seen = [entry.seq for entry in read_log(run / "events.jsonl").entries if is_seen_by(seat, entry.event)]
        head, chunks, _ = texts_of(run, seat)
        assert [row[0] for chunk in chunks for row in chunk["entries"]] == seen
        assert (head["length"], head["players"], list(chunks[0]["boards"])) == (len(seen), [], [seat])
        assert [chunk["texts"] for chunk in chunks] == [[]] * len(chunks)


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


def test_a_page_of_a_seat_of_another_version_has_a_title_and_no_path_and_none_tells_that_calls_are_missing(
    run, tmp_path
):
    old = edited(run, tmp_path / "old", b'"schema":%d' % SCHEMA_VERSION, b'"schema":1')
    head, _, page = texts_of(old, "Ann")
    assert head["title"] == "a run"
    assert "written by another version" in head["notes"][0]
    assert str(tmp_path) not in page
    with pytest.raises(RunFolderError, match="unknown bidder 'Anne'; did you mean 'Ann'"):
        run_page(old, "Anne")
    assert texts_of(edited(run, tmp_path / "bare", b"", b""), "Ann")[0]["notes"] == []
