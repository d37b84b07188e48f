"""The differences that the crash lab finds between the data of two runs."""

from __future__ import annotations

import json

from crash.leaving import difference, left_in, prompts, told_of
from support.commands import harbor
from support.folders import cut


def left(run, text, token, time):
    """What a run has left, with one memory."""
    value = {"text": text, "auction": f"run-1-{token}", "time": time}
    return left_in(run, json.dumps({"key": "one", "value": value}) + "\n")


def test_two_runs_of_one_seed_differ_in_nothing_and_whatever_differs_is_named(tmp_path):
    run, again = (tmp_path / name for name in ("run", "again"))
    for out in (run, again):
        harbor("auction", "--preset", "second-price", "--out", out, "--quiet")
    first, later = left(run, "bid low", "00c0ffee", "1 o'clock"), left(again, "bid low", "deadbeef", "2 o'clock")
    assert difference(first, later) == ""
    assert difference(first, left(run, "bid high", "00c0ffee", "1 o'clock")).startswith("memories: number 1 is ")
    assert told_of(run) == prompts(run)
    calls = run / "calls.jsonl"
    kept = calls.read_text()
    calls.write_text(kept.replace('"reply": "', '"reply": "No. ', 1))
    assert difference(left_in(again), left_in(run)).startswith("calls: number ")
    calls.write_text(kept)
    cut(run / "events.jsonl", 20)
    assert told_of(run) < prompts(run)
    events, calls = again / "events.jsonl", again / "calls.jsonl"
    (again / "results.json").write_text("[]")
    assert difference(left_in(run), left_in(again)).startswith("events: ")
    events.write_text((run / "events.jsonl").read_text())
    assert difference(left_in(run), left_in(again)) == "results: 1 instead of 0"
    events.write_text(events.read_text().replace('"type"', '"kind"', 1))
    assert difference(left_in(run), left_in(again)).startswith("events: number ")
    (again / "results.json").unlink()
    events.write_text((run / "events.jsonl").read_text())
    cut(calls, -1)
    assert difference(left_in(run), left_in(again)).startswith("calls: ")
