"""The differences that the crash lab finds between the data of two runs."""

from __future__ import annotations

import json
import shutil

import pytest

from crash.leaving import difference, left_in, prompts, told_of
from support.commands import harbor
from support.folders import cut


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run, beside another of the same seed."""
    place = tmp_path_factory.mktemp("whole")
    for name in ("run", "again"):
        harbor("auction", "--preset", "second-price", "--out", place / name, "--quiet")
    return place / "run"


@pytest.fixture
def run(whole, tmp_path):
    """A copy of the finished run, for a test to damage."""
    return shutil.copytree(whole, tmp_path / "run")


def changed(path, number, **fields):
    """Change fields of a line, counted from 0."""
    lines = path.read_text().splitlines(keepends=True)
    lines[number] = json.dumps({**json.loads(lines[number]), **fields}) + "\n"
    path.write_text("".join(lines))


def test_two_runs_of_one_seed_differ_in_nothing_and_an_event_a_reply_or_a_call_that_differs_is_named(whole, run):
    assert difference(left_in(whole), left_in(whole.parent / "again")) == ""
    changed(run / "calls.jsonl", 2, reply="I bid $1.")
    assert difference(left_in(whole), left_in(run)).startswith("calls: number ")
    (run / "calls.jsonl").write_text("".join((whole / "calls.jsonl").read_text().splitlines(keepends=True)[1:]))
    assert difference(left_in(whole), left_in(run)).startswith("calls: ")
    changed(run / "events.jsonl", 4, type="pause_that_never_was")
    assert difference(left_in(whole), left_in(run)).startswith("events: number 5 is ")


def test_memories_and_results_are_compared_but_for_their_times(run):
    def left(text, token, time):
        value = {"text": text, "auction": f"run-1-{token}", "time": time}
        return left_in(run, json.dumps({"key": "one", "value": value}) + "\n")

    first, later = left("bid low", "00c0ffee", "1 o'clock"), left("bid low", "deadbeef", "2 o'clock")
    assert difference(first, later) == ""
    assert difference(first, left("bid high", "00c0ffee", "1 o'clock")).startswith("memories: number 1 is ")
    (run / "results.json").write_text("[]")
    assert difference(first, left("bid low", "00c0ffee", "1 o'clock")) == "results: 1 instead of 0"


def test_a_call_that_the_log_tells_of_is_told_from_one_that_was_recorded_alone(run):
    assert told_of(run) == prompts(run)
    cut(run / "events.jsonl", 20)
    assert told_of(run) < prompts(run)
