"""Records that are lost or damaged: a run goes on from the last turn that everything is there for, and says so."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from random import Random

import pytest
from crash.leaving import left_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, Item, ModelSettings, SimulatedChat, houses, resume, run_series
from harbor._config.auction import Series
from harbor._core.basics.errors import RunFolderError
from harbor._core.log.events import CLOCK_FIELDS, Answered, ModelCalled, SaleClosed
from harbor._core.log.log import of_type, read_log
from harbor._models.replies.replay import lost_calls
from harbor._runs.raw_calls import read_calls, recorded_calls
from harbor._runs.run import paid_for
from support.breaking import Broken, breaking, breaking_at
from support.commands import harbor
from support.folders import contents, cut, paid
from support.paid_chat import PRICED, PaidChat

EVENTS, CALLS = "events.jsonl", "calls.jsonl"
BY_CHANCE = {"output_tokens", "cost_dollars"}
"""What a call that is made again tells otherwise."""


def sale():
    return Auction(
        seed=7, items=houses(3, seed=8),
        bidders=[Bidder("Ann", persona="urban-dwellers", model="mine", theory_of_mind="inferred", bidding="call"),
                 Bidder("Ben", model="mine", bidding="call"), Bidder("Dot", agent=True, max_bids=4)],
        models={"mine": PRICED},
    )  # fmt: skip


def players(asked=None):
    """Return a model, and an agent of yours that bids the least it hears of and counts how often it is asked."""

    def agent(turn):
        if asked is not None:
            asked.append(turn)
        return {"action": "bid", "amount": turn["space"]["minimum"]}

    return {"models": {"mine": PaidChat(made=[])}, "agents": {"Dot": agent}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    sale().run(out=folder, **players())
    return folder


@pytest.fixture(scope="module")
def stopped(whole, tmp_path_factory):
    """A run that was killed at two thirds."""
    folder, given = tmp_path_factory.mktemp("stopped") / "run", players()
    crash = breaking_at(len(read_log(whole / EVENTS).entries) * 2 // 3)
    with pytest.raises(Broken):
        sale().run(out=folder, listen=crash, **given)
    assert len(given["models"]["mine"].made) == len(read_calls(folder / CALLS))
    return folder


@pytest.fixture
def run(stopped, tmp_path):
    return shutil.copytree(stopped, tmp_path / "run")


def told(folder):
    lines = [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]
    hidden = {True: CLOCK_FIELDS | BY_CHANCE, False: CLOCK_FIELDS}
    return [{key: line[key] for key in line if key not in hidden[line["type"] == "model_called"]} for line in lines]


def resumed(folder):
    """Resume a run; give the number of calls that were made, how often the agent was asked, and the warnings."""
    given = players(asked := [])
    with warnings.catch_warnings(record=True, action="always") as said:
        resume(folder, **given)
    return len(given["models"]["mine"].made), len(asked), [str(one.message) for one in said]


def check(folder, whole, made):
    """Check that a run came to the end that it would have had, and that no recorded call was made again."""
    before = len(recorded_calls(folder / CALLS).calls)
    calls, _, said = resumed(folder)
    assert told(folder) == told(whole)
    assert paid(folder) == paid(whole)
    assert calls == (len(read_calls(whole / CALLS)) - before if made is None else made)
    return said


# ---------------------------------------------------------------- calls that are lost


@pytest.mark.parametrize("lines", [1, 40])
def test_a_run_that_lost_its_last_calls_asks_these_alone_again(run, whole, lines):
    before = read_log(run / EVENTS).entries
    logged = len(of_type(before, ModelCalled))
    assert len(read_calls(run / CALLS)) == logged  # it stopped between two turns
    cut(run / CALLS, -lines)
    content = (run / EVENTS).read_bytes()
    rest = len(read_calls(whole / CALLS)) - logged
    [said] = check(run, whole, made=lines + rest)
    number = next(lost_calls(before, read_calls(run / CALLS)))[0] + 1
    assert f"the run goes on from line {number}, as calls.jsonl lacks calls of the turn that begins there" in said
    aside = (run / "events-cut.jsonl").read_bytes()
    assert content.endswith(aside)
    assert f"{aside.count(b'seq')} lines after it are kept in events-cut.jsonl" in said


@pytest.mark.parametrize("there", [True, False])
def test_a_run_without_any_of_its_calls_is_refused_before_anything_is_paid(run, there):
    (run / CALLS).write_bytes(b"") if there else (run / CALLS).unlink()
    before, given = contents(run), players(asked := [])
    with pytest.raises(RunFolderError, match=r"calls.jsonl' is missing or has no call, but \d+ calls .* restore it"):
        resume(run, **given)
    assert (given["models"]["mine"].made, asked, contents(run)) == ([], [], before)


def test_calls_of_the_built_in_model_are_made_again_as_they_cost_nothing(tmp_path):
    auction = Auction(seed=7, items=houses(2, seed=7), bidders=[Bidder("Ann"), Bidder("Ben")])
    auction.run(out=tmp_path / "whole")
    with pytest.raises(Broken):
        auction.run(out=tmp_path / "run", listen=breaking_at(60))
    (tmp_path / "run" / CALLS).unlink()
    with pytest.warns(UserWarning, match="goes on from line"):
        resume(tmp_path / "run")
    assert told(tmp_path / "run") == told(tmp_path / "whole")


def test_an_agent_is_asked_again_for_the_words_that_are_cut_away_and_no_others(run, whole):
    entries = read_log(run / EVENTS).entries
    cut(run / CALLS, -30)
    opening = next(lost_calls(entries, read_calls(run / CALLS)))[0]
    later = next(seq for seq, _, event in entries[opening + 1 :] if type(event).__name__ in ("BiddersAsked", "Paused"))
    answers = len(of_type(read_log(whole / EVENTS).entries, Answered))
    _, asked, [said] = resumed(run)
    assert asked == answers - len(of_type(entries[:later], Answered))
    assert said.endswith("; 'Dot' will be asked again for words that are cut away")
    assert told(run) == told(whole)


# ---------------------------------------------------------------- files that are damaged


DAMAGE = {"zeros": b"\0" * 700, "garbage": Random(5).randbytes(300), "text": b"no line of ours\nnor this\n"}


@pytest.mark.parametrize("name", [EVENTS, CALLS])
@pytest.mark.parametrize("kind", [*DAMAGE, "zeros in place"])
def test_a_damaged_end_is_passed_over_and_costs_nothing_again(run, whole, name, kind):
    lines = (run / name).read_bytes().splitlines(keepends=True)
    end = [DAMAGE[kind]] if kind in DAMAGE else [b"\0" * sum(map(len, lines[-3:]))]
    (run / name).write_bytes(b"".join([*lines[: None if kind in DAMAGE else -3], *end]))
    said = check(run, whole, made=None)
    if kind in DAMAGE:
        assert len(said) == 1
        assert re.search("is damaged|is cut short" if name == EVENTS else "can't be read", said[0])
    read_calls(run / CALLS)


@pytest.mark.parametrize("damage", [b"garbage", b"\0" * 9, b"\xff", b"{}", None], ids=str)
def test_a_damaged_line_amid_the_calls_is_told_and_only_that_call_is_made_again(run, whole, damage):
    lines = (run / CALLS).read_bytes().splitlines()
    number, was = len(lines) // 2, lines[len(lines) // 2]
    lines[number : number + 1] = [damage] * (damage is not None)
    (run / CALLS).write_bytes(b"\n".join(lines) + b"\n")
    said = "\n".join(check(run, whole, made=None))
    assert "the run goes on from line" in said
    if damage:
        assert (run / "calls-damaged.jsonl").read_bytes() == damage + b"\n"
        assert f"line {number + 1} can't be read" in said
    assert was not in (run / CALLS).read_bytes()


def test_calls_of_an_earlier_version_without_a_digest_are_read_and_so_is_a_last_line_without_its_end(run, whole):
    lines = [json.loads(line) for line in (run / CALLS).read_text().splitlines()]
    (run / CALLS).write_text("".join(json.dumps({**line, "digest": "0" * 16}) + "\n" for line in lines))
    assert recorded_calls(run / CALLS).calls == ()
    for line in lines:
        del line["digest"]
    (run / CALLS).write_text("\n".join(map(json.dumps, lines)))
    assert check(run, whole, made=None) == []
    read_calls(run / CALLS)


def test_a_run_that_stepped_back_can_be_stopped_and_resumed_again(run, whole):
    cut(run / CALLS, -5)
    crash = breaking_at(len(read_log(run / EVENTS).entries) + 10)
    with pytest.raises(Broken), pytest.warns(UserWarning, match="goes on from line"):
        resume(run, listen=crash, **players())
    check(run, whole, made=None)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
@given(log=st.floats(0, 1), calls=st.floats(0, 1))
def test_a_run_whose_files_were_cut_anywhere_comes_to_its_end_or_is_refused(
    stopped, whole, tmp_path_factory, log, calls
):
    run = shutil.copytree(stopped, tmp_path_factory.mktemp("cut") / "run")
    for name, share in ((EVENTS, log), (CALLS, calls)):
        content = (run / name).read_bytes()
        (run / name).write_bytes(content[: int(len(content) * share)])
    try:
        check(run, whole, made=None)
    except RunFolderError:
        assert recorded_calls(run / CALLS).calls == ()


# ---------------------------------------------------------------- memories


def steady_models():
    """Return a model, by name, that answers every call in the shape asked for, so that all calls are in one form."""
    return {"mine": PaidChat(made=[], inner=SimulatedChat())}


def row():
    return Auction(
        seed=5, items=[Item(name=f"Lot {letter}", start=1000, true_value=2000) for letter in "AB"],
        bidders=[Bidder("Ann", budget=4000, memory="full", learning=True, model="mine"),
                 Bidder("Ben", budget=4000, memory="episodes", learning=True, model="mine")],
        series=Series(auctions=2), models={"mine": ModelSettings(input_price=1.0, output_price=2.0)},
    )  # fmt: skip


def remembered(folder):
    return left_in(folder, harbor("memory", "export", folder).stdout).memories


def test_a_series_that_lost_calls_after_its_memories_were_stored_remembers_and_recalls_alike(tmp_path):
    whole, run = tmp_path / "whole" / "run", tmp_path / "run"
    run_series(row(), out=whole, models=steady_models())
    closed = []

    def is_second(entry):  # the second auction has closed, and all its memories are stored
        closed.extend([entry] * isinstance(entry.event, SaleClosed))
        return len(closed) == 2

    with pytest.raises(Broken):
        run_series(row(), out=run, listen=breaking(is_second), models=steady_models())
    cut(run / "2" / EVENTS, -1)
    cut(run / "2" / CALLS, -6)
    with pytest.warns(UserWarning, match="goes on from line"):
        resume(run, models=(chat := steady_models()))
    assert len(chat["mine"].made) == 6
    assert [told(run / auction) for auction in "12"] == [told(whole / auction) for auction in "12"]
    assert remembered(run) == remembered(whole) != []


# ---------------------------------------------------------------- what was paid


def test_what_only_the_log_tells_of_counts_as_paid_and_calls_that_had_to_be_made_twice_count_twice(run, tmp_path):
    models = {"mine": PRICED}
    total = paid_for(run, models)
    assert total > 0
    cut(run / CALLS, -5)
    assert paid_for(run, models) == pytest.approx(total)
    lost = total - sum(call.cost_dollars for call in read_calls(run / CALLS))
    bare = shutil.copytree(run, tmp_path / "bare")
    (bare / CALLS).unlink()
    assert paid_for(bare, models) == pytest.approx(total)
    resumed(run)
    there = sum(call.cost_dollars for call in read_calls(run / CALLS))
    assert paid_for(run, models) == pytest.approx(there + lost)
