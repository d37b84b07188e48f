"""A run that is followed: a page is sent what it lacks, while another process writes the log."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import httpx
import pytest

from harbor._cli.reading.view import view
from harbor._core.basics.errors import RunFolderError
from harbor._view import live_server
from harbor._view.live_server import serve
from harbor._view.page_data import run_page
from harbor._view.shapes import json_of

LONG = 60
PAGE = b"<!doctype html><title>x</title>"
HOLD = """
import sys
from harbor import Auction, EnglishRules
names = ("Ann", "Ben", "Cho")
bidders = [{"name": name, "theory_of_mind": "inferred"} for name in names]
Auction(items={"count": 2}, bidders=bidders, seed=4).run(
    out=sys.argv[1], listen=lambda entry: entry.seq == 30 and (print("begun", flush=True), sys.stdin.readline())
)
"""


@contextmanager
def followed(run, seat="", stands=lambda *_: None):
    """Serve a run in a thread; give the address of its page."""
    address, ended = Queue(), threading.Event()
    how = {"opened": address.put, "stands": stands, "ended": ended}
    server = threading.Thread(target=serve, args=(run, PAGE, seat), kwargs=how, daemon=True)
    server.start()
    yield address.get(timeout=LONG)
    assert server.is_alive(), "the server has ended though nobody ended it"
    ended.set()
    server.join(LONG)
    assert not server.is_alive(), "the server goes on though it was ended"


def events_in(response):
    """The events of a stream: name, data, id."""
    told = {}
    for line in response.iter_lines():
        if not line and "event" in told:
            yield told["event"], json.loads(told["data"]), told.get("id")
            told = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            told[name] = value


def listened(address, **headers):
    with httpx.stream("GET", f"{address}events", headers=headers, timeout=LONG) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        yield from events_in(response)


def test_a_page_sees_a_run_while_another_process_writes_it(tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writing:
        assert writing.stdout.readline() == "begun\n"
        with followed(folder) as address:
            assert httpx.get(address, timeout=LONG).content == PAGE
            events = listened(address)
            assert next(events)[0] == "head"
            first = next(events)[1]
            assert 20 < len(first["entries"]) <= 31, "it waits at event 30, and all before is shown"
            writing.stdin.write("\n")
            writing.stdin.flush()
            rest = list(events)
        assert writing.wait(LONG) == 0
    assert rest[-1][0] == "over"
    chunks = [first, *(data for name, data, _ in rest if name == "add")]
    head, whole = run_page(folder)

    def beside(parts):
        told = {number: decision["beside"] for part in parts for number, decision in part["decisions"].items()}
        return json.loads(json.dumps(told))

    assert [row[0] for chunk in chunks for row in chunk["entries"]] == list(range(head["length"]))
    assert beside(chunks) == beside(whole), "what came of a prediction is told when it is known"
    assert [data for name, data, _ in rest if name == "head"][-1]["standings"] == head["standings"]


def test_a_page_that_was_cut_off_is_sent_what_comes_after_its_last_event(run):
    with followed(run) as address:
        events = list(listened(address, **{"Last-Event-ID": "100"}))
    numbers = [row[0] for name, data, _ in events if name == "add" for row in data["entries"]]
    assert numbers[0] == 101
    assert [number for name, _, number in events if name == "add"][-1] == str(numbers[-1])


def test_a_page_of_a_seat_is_sent_what_that_seat_sees(run):
    with followed(run, "Ann") as address:
        rows = [row for name, data, _ in listened(address) if name == "add" for row in data["entries"]]
    assert {row[2] for row in rows} == {"everyone", "bidder:Ann"}


def test_whoever_lacks_the_address_or_comes_by_another_name_is_refused(run):
    with followed(run) as address:
        base = address.rsplit("/", 2)[0]
        assert httpx.get(f"{base}/", timeout=LONG).status_code == 404
        assert httpx.get(f"{base}/events", timeout=LONG).status_code == 404
        stranger = httpx.get(address, headers={"Host": "attacker.example"}, timeout=LONG)
        assert stranger.status_code == 400
        assert b"title" not in stranger.content
        assert list(listened(address))[-1][0] == "over"


def damaged(run, place):
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[60] = lines[60].replace(b'"at":', b'"at":1', 1)
    (place / "events.jsonl").write_bytes(b"".join(lines))
    return place


def test_a_seat_that_nobody_has_is_refused_before_anything_is_served(run):
    with pytest.raises(RunFolderError, match="unknown bidder 'Zoe'"):
        serve(run, PAGE, "Zoe", lambda address: pytest.fail(f"{address} is served"))


def test_the_token_of_an_address_is_not_on_the_command_line_of_the_browser(run, monkeypatch, capsys):
    given = []

    def end(led):
        list(listened(led))
        os.kill(os.getpid(), signal.SIGINT)

    def look(address):
        page = Path(address.removeprefix("file://"))
        given.append((page, page.stat().st_mode, page.parent.stat().st_mode))
        led = re.search('url=([^"]*)', page.read_text()).group(1)
        threading.Thread(target=end, args=(led,), daemon=True).start()
        assert led in capsys.readouterr().out
        return True

    monkeypatch.setattr(webbrowser, "open", look)
    view(run, follow=True, open_=True)
    [(page, mode, around)] = given
    assert (mode & 0o077, around & 0o077) == (0, 0)
    assert not page.parent.exists()


def test_a_number_that_json_does_not_have_is_null():
    assert json_of({"at": float("nan"), "most": [float("inf"), 1.5]}) == '{"at":null,"most":[null,1.5]}'


def test_a_run_that_is_over_or_damaged_is_served_until_the_server_is_ended_and_the_terminal_is_told_where_it_stands(
    run, tmp_path
):
    last = len((run / "events.jsonl").read_bytes().splitlines()) - 1
    for folder, where, why in (
        (run, f"over · event {last:,}", ""),
        (damaged(run, tmp_path), "over · event 59; ", "line 61"),
    ):
        told = Queue()
        with followed(folder, stands=lambda *one, told=told: told.put(one)) as address:
            lines = [told.get(timeout=LONG)]
            while not lines[-1][1]:
                lines.append(told.get(timeout=LONG))
            *_, (name, head, _), (over, *_) = listened(address)
            assert (name, over, why in str(head["notes"])) == ("head", "over", True)
            assert httpx.get(address, timeout=LONG).content == PAGE, "it stays after the end"
        assert lines[0][0].startswith("live · event ")
        assert lines[-1][0].startswith(where)
        assert why in lines[-1][0]


def test_a_seat_that_turns_out_to_be_nobodys_is_told_of_without_a_traceback(run, tmp_path):
    log, told = tmp_path / "events.jsonl", Queue()
    log.touch()
    with followed(tmp_path, "Zoe", lambda *one: told.put(one)) as address:
        log.write_bytes((run / "events.jsonl").read_bytes())
        assert [name for name, *_ in listened(address)] == ["failed"]
        assert "unknown bidder 'Zoe'" in told.get(timeout=LONG)[0]


def test_a_folder_that_vanishes_is_told_of_on_the_page_and_not_to_a_seat_by_its_name(run, tmp_path):
    for seat, says in (("", "does not exist"), ("Ann", "the log can't be read on")):
        folder = tmp_path / f"run {seat}"
        shutil.copytree(run, folder)
        with followed(folder, seat) as address:
            shutil.rmtree(folder)
            [(name, told, _)] = listened(address)
            assert name == "failed"
            assert says in told
            assert (folder.name in told) == (not seat)


@pytest.mark.parametrize("name", ["later", "config.json", "mark"])
def test_a_run_that_has_not_begun_is_waited_for_also_where_its_folder_has_what_a_run_begins_with(
    name, run, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "later"
    if name != "later":
        folder.mkdir()
        (folder / name).touch()

    def begin(_):
        folder.mkdir(exist_ok=True)
        (folder / "events.jsonl").write_bytes((run / "events.jsonl").read_bytes())

    monkeypatch.setattr("harbor._cli.reading.view.time", SimpleNamespace(sleep=begin))
    monkeypatch.setattr(live_server, "serve", lambda *_: None)
    view(folder, follow=True, open_=False)
    assert capsys.readouterr().err == f"harbor: waiting for a run in {str(folder)!r}; Ctrl-C ends it\n"
