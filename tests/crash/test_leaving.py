"""The differences that the crash lab finds between the data of two runs."""

from __future__ import annotations

import json
import shutil

import pytest

from crash.leaving import difference, left_in, prompts, told_of
from support.commands import harbor


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run."""
    place = tmp_path_factory.mktemp("whole")
    harbor("auction", "--preset", "second-price", "--out", place / "run", "--quiet")
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


def test_two_runs_of_one_seed_differ_in_nothing(whole, tmp_path):
    harbor("auction", "--preset", "second-price", "--out", tmp_path / "run", "--quiet")
    assert difference(left_in(whole), left_in(tmp_path / "run")) == ""


def test_an_event_that_differs_is_named(whole, run):
    changed(run / "events.jsonl", 4, type="pause_that_never_was")
    assert difference(left_in(whole), left_in(run)).startswith("events: number 5 is ")


def test_a_reply_that_differs_and_a_call_that_is_missing_are_found(whole, run):
    changed(run / "calls.jsonl", 2, reply="I bid $1.")
    assert difference(left_in(whole), left_in(run)).startswith("calls: number ")
    (run / "calls.jsonl").write_text("".join((whole / "calls.jsonl").read_text().splitlines(keepends=True)[1:]))
    assert difference(left_in(whole), left_in(run)).startswith("calls: ")


def test_memories_and_results_are_compared_but_for_their_times(run):
    memory = {"key": "one", "value": {"text": "bid low", "auction": "run-1-00c0ffee", "time": "1 o'clock"}}
    later = {"key": "one", "value": {"text": "bid low", "auction": "run-1-deadbeef", "time": "2 o'clock"}}
    other = {"key": "one", "value": {"text": "bid high", "auction": "run-1-00c0ffee", "time": "1 o'clock"}}
    first, second, third = (left_in(run, json.dumps(one) + "\n") for one in (memory, later, other))
    assert difference(first, second) == ""
    assert difference(first, third).startswith("memories: number 1 is ")
    (run / "results.json").write_text("[]")
    assert difference(first, left_in(run, json.dumps(memory))) == "results: 1 instead of 0"


def test_a_call_that_the_log_tells_of_is_told_from_one_that_was_recorded_alone(run):
    assert told_of(run) == prompts(run)
    log = run / "events.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:20]))
    assert told_of(run) < prompts(run)
