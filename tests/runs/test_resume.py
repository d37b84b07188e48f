"""Interrupted runs: what is replayed, what is asked anew, what is refused."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_core.models import RequestUsage
from crash.leaving import difference, left_in

from harbor import Auction, Bidder, ModelSettings, Simulated, houses, resume
from harbor._core.asking.asks import Ask
from harbor._core.basics.errors import ConfigError, LogError, RunFolderError
from harbor._core.log.events import CLOCK_FIELDS, Answered, ModelCalled, SeatFailed, ThoughtFailed
from harbor._core.log.log import of_type, read_log
from harbor._games.policies import Truthful
from harbor._runs.folder import RunFolder
from support.breaking import Broken, breaking_at
from support.clerk import Clerk
from support.commands import harbor, mistake, process
from support.folders import contents, cut, paid
from support.forging import lines_of, write
from support.forging import of_type as of_kind
from support.moody_chat import MoodyChat
from support.processes import full_disk


def sale(items=3, **settings):
    by_call = {"bidding": "call", "model": "mine", **settings}
    return Auction(
        seed=7, items=houses(items, seed=7),
        bidders=[Bidder("Ann", persona="urban-dwellers", theory_of_mind="inferred", **by_call),
                 Bidder("Ben", **by_call), Bidder("Cho", rule="minimum-raise"), Bidder("Dot", agent=True)],
        models={"mine": ModelSettings(repairs=1)}, failed_calls="play on",
    )  # fmt: skip


def chat(**mood):
    return MoodyChat(settings=Simulated(unreadable_rate=0.1, low_bid_rate=0.2), made=[], **mood)


def given(model=None, clerk=None):
    return {"models": {"mine": model or chat()}, "agents": {"Dot": clerk or Clerk()}}


def broken(folder, after, model=None, clerk=None, **settings):
    """Hold a sale that crashes right after so many lines are written; return its folder."""
    with pytest.raises(Broken):
        sale(**settings).run(out=folder, listen=breaking_at(after - 1), **given(model, clerk))
    return folder


def clerk_after(folder, kind=Clerk):
    clerk = kind()
    clerk.asked = (folder / "events.jsonl").read_bytes().count(b'"answered"')
    return clerk


def resumed(folder, model=None, clerk=None, **more):
    """Resume a run and return its result; the lines that it had stay as they were."""
    before = timeless(folder)
    result = resume(folder, **given(model, clerk or clerk_after(folder)), **more)
    assert (folder / "events.jsonl").read_bytes().endswith(b"\n")
    assert timeless(folder)[: len(before)] == before
    return result


def lines(folder):
    written = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in written if line.endswith(b"\n")]


def timeless(folder):
    return [{key: value for key, value in line.items() if key not in CLOCK_FIELDS} for line in lines(folder)]


def events(log):
    return [entry.event for entry in log]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    sale().run(out=folder, **given())
    return folder


@pytest.fixture(scope="module")
def at_90(tmp_path_factory):
    return broken(tmp_path_factory.mktemp("broken") / "run", 90)


@pytest.fixture
def run(at_90, tmp_path):
    """A run that broke off after 90 lines."""
    return shutil.copytree(at_90, tmp_path / "run")


# ---------------------------------------------------------------- any point


STEP = 7


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A run, and what was on disk after many a line of its log: in folders that are called by the number of lines."""
    place = tmp_path_factory.mktemp("copied")

    def copy(entry):
        if entry.seq % STEP == 0:
            shutil.copytree(place / "run", place / str(entry.seq + 1))

    last = len(sale(items=2).run(out=place / "run", listen=copy, **given()).log) - 1
    cut(shutil.copytree(place / "run", place / str(last), dirs_exist_ok=True) / "events.jsonl", last)
    return place


@pytest.mark.parametrize("step", [10 * STEP, pytest.param(STEP, marks=pytest.mark.studies)])
def test_a_run_that_broke_off_after_any_line_resumes_to_the_whole_log(copied, tmp_path, step):
    whole, expected = copied / "run", timeless(copied / "run")
    for after in {*range(1, len(expected), step), len(expected) - 1}:
        folder = Path(shutil.copytree(copied / str(after), tmp_path / str(after)))
        assert len(lines(folder)) == after
        told = events(resumed(folder).log)
        assert timeless(folder) == expected, after
        assert paid(folder) == paid(whole), after
        assert told == events(read_log(folder / "events.jsonl").entries)


def test_the_clock_goes_on_from_where_it_stopped_and_a_listener_hears_of_the_whole_run(run):
    heard = []
    resumed(run, listen=heard.append)
    assert [entry.seq for entry in heard] == list(range(len(lines(run))))
    times = [line["at"] for line in lines(run)]
    assert times == sorted(times)


def test_replies_that_came_in_any_order_are_replayed(tmp_path):
    class Uneven(MoodyChat):
        """Some replies take longer, so that those asked for side by side end in another order."""

        async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
            await asyncio.sleep(0.01 * (4 - len(self.made) % 4))
            return await super()._agenerate(messages, stop, run_manager, **kwargs)

    resumed(broken(tmp_path / "run", 120, Uneven(made=[])))


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(("mood", "settings", "kind"), [
    ({"fails": ("replan", "bid")}, {}, "error"),
    pytest.param({"hangs": ("believe",)}, {"timeout_seconds": 1}, "timeout", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_failure_that_the_log_holds_is_replayed_as_it_was(mood, settings, kind, tmp_path):
    whole = sale(**settings).run(**given(chat(**mood))).log
    assert {failed.kind for failed in of_type(whole, SeatFailed)} == {kind}
    assert bool(of_type(whole, ThoughtFailed)) or kind == "timeout"
    folder = broken(tmp_path / "run", len(whole) - 1, chat(**mood), **settings)
    again = resumed(folder, sound := chat()).log  # the provider is well again: any call that is made would succeed
    assert sound.made == []
    told = [[one for one in events(log[1:]) if not isinstance(one, ModelCalled)] for log in (again, whole)]
    assert told[0] == told[1]


@pytest.mark.parametrize("rival", [{"rule": "minimum-raise"}, {}], ids=["scripts alone", "in the room"])
def test_what_was_decided_in_time_is_not_timed_again(tmp_path, monkeypatch, rival):
    bidders = [Bidder("Ann", rule="truthful", timeout_seconds=0.5), Bidder("Ben", **rival)]
    folder, decide, slowed = tmp_path / "run", Truthful.decide, list[Ask]()
    whole = Auction(items=houses(2), bidders=bidders).run(out=folder).log
    cut(folder / "events.jsonl", -2)

    def slowly(policy, ask, seen):
        if not slowed:
            slowed.append(ask)
            time.sleep(0.7)
        return decide(policy, ask, seen)

    monkeypatch.setattr(Truthful, "decide", slowly)
    assert events(resume(folder).log) == events(whole)
    assert slowed


@pytest.mark.parametrize("rival", [{"rule": "rational"}, {"model": "simulated"}], ids=["plain", "room"])
def test_a_turn_that_was_not_decided_is_timed_when_it_is_played_again(tmp_path, monkeypatch, rival):
    def endlessly(policy, ask, seen):
        while True:
            pass

    monkeypatch.setattr(Truthful, "decide", endlessly)
    slow = [Bidder(name, rule="truthful", timeout_seconds=0.2) for name in ("Zoe", "Ann")]
    whole = Auction(items=houses(1), bidders=[*slow, Bidder("Ben", **rival)]).run(out=tmp_path / "run").log
    first = next(entry.seq for entry in whole if isinstance(entry.event, SeatFailed))
    cut(tmp_path / "run" / "events.jsonl", 1 + first)
    assert events(resume(tmp_path / "run").log) == events(whole)


def test_a_call_cut_by_the_interruption_is_asked_anew(tmp_path):
    folder, hanging = tmp_path / "run", chat(hangs=("believe",), seed=5)

    async def interrupted():
        held = asyncio.ensure_future(sale().arun(out=folder, **given(hanging)))
        while "believe" not in hanging.made:
            await asyncio.sleep(0)
        held.cancel()
        await asyncio.wait({held})

    asyncio.run(interrupted())
    cut = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines() if "CancelledError" in line]
    assert {call["bidder"] for call in cut} == {"Ann", "Ben"}
    log = resumed(folder, chat(seed=5)).log
    assert not of_type(log, ThoughtFailed)
    assert not of_type(log, SeatFailed)


# ---------------------------------------------------------------- agents of yours


@pytest.mark.parametrize(("after", "fails_at"), [(150, -1), (170, 2)], ids=["sound", "failed"])
def test_an_agent_is_not_asked_again_and_hears_later_what_it_missed(after, fails_at, tmp_path):
    folder = broken(tmp_path / "run", after, clerk=(before := Clerk(fails_at)))
    log = read_log(folder / "events.jsonl").entries
    assert len(of_type(log, Answered)) > 2 or of_type(log, SeatFailed)
    resumed(folder, clerk=(later := clerk_after(folder)))
    assert later.heard[: len(before.heard)] == before.heard


class Metered(Clerk):
    """An agent of yours that tells what two calls of its own model took, another amount each time it is asked."""

    async def on_messages(self, messages, cancellation_token):
        said = (await super().on_messages(messages, cancellation_token)).chat_message
        thought = TextMessage(content="hm", source=self.name, models_usage=RequestUsage(50, 5))
        said = said.model_copy(update={"models_usage": RequestUsage(100 * self.asked, 7)})
        return Response(chat_message=said, inner_messages=[thought])


def apart(folder):
    """Return the agent's calls in a log, and its other lines without their numbers."""
    told = [{key: value for key, value in line.items() if key != "seq"} for line in timeless(folder)]
    calls = [line for line in told if line.get("purpose") == "agent"]
    return calls, [line for line in told if line not in calls]


def test_calls_that_an_agent_told_of_are_in_the_log_again_as_they_were_when_a_run_resumes(tmp_path):
    whole, answered = tmp_path / "run", []

    def copy(entry):  # what is on disk right after the first answer, a line after the second, and two after the third
        answered.extend([entry.seq] if isinstance(entry.event, Answered) else [])
        if answered and entry.seq == answered[-1] + len(answered) - 1 < answered[-1] + 3:
            shutil.copytree(whole, tmp_path / str(len(answered)))

    sale().run(out=whole, listen=copy, **given(clerk=Metered()))
    calls, others = apart(whole)
    expected = [amount for number in range(1, len(answered) + 1) for amount in (50, 100 * number)]
    assert [call["input_tokens"] for call in calls] == expected != []
    for lines_after in (1, 2, 3):
        folder = tmp_path / str(lines_after)
        resumed(folder, clerk=clerk_after(folder, Metered))
        # A log that ends between an answer and its calls keeps the answer, and not what was still to come.
        assert (len(apart(folder)[0]), apart(folder)[1]) == (len(calls) - (3 - lines_after), others)


# ---------------------------------------------------------------- refusals


def refused(folder, error, match, **chosen):
    before, model = contents(folder), chat()
    with pytest.raises(error, match=match):
        resume(folder, **given(model) | chosen)
    assert contents(folder) == before
    assert model.made == []


@pytest.mark.parametrize(("place", "changed", "match"), [
    ("harbor._runs.opening.__version__", "9.0",
     r"line 1 is 'log_opened' with harbor '0.1.0', but this run gives '9.0'; resume with the"),
    ("harbor._runs.resolve.to_cents", lambda amount: amount + 1,
     r"line \d+ is 'signal' with values .*, but this run gives "),
    ("harbor.graphs._context.prompting.as_json", lambda facts: json.dumps(facts, default=float, indent=1),
     r"line \d+ is 'model_called', but this run gives .*not what is recorded"),
], ids=["another version", "other values", "another prompt"])  # fmt: skip
def test_a_run_that_goes_otherwise_is_refused_at_the_line_where_it_does_before_a_call_is_paid(
    run, monkeypatch, place, changed, match
):
    monkeypatch.setattr(place, changed)
    refused(run, LogError, match)


@pytest.mark.parametrize(("name", "seed", "other", "error", "match"), [
    ("config.json", '"seed": 7', '"seed": 8', RunFolderError, "config.json' was changed since the run began"),
    ("events.jsonl", '"seed":7', '"seed":8', LogError, "line 1 was edited"),
])  # fmt: skip
def test_a_file_that_was_edited_is_refused(run, name, seed, other, error, match):
    (run / name).write_text((run / name).read_text().replace(seed, other))
    refused(run, error, match)


async def test_a_run_is_refused_without_its_agent_or_its_files_and_in_a_running_loop(run, tmp_path):
    refused(run, ConfigError, "await aresume")
    await asyncio.to_thread(refused, run, ConfigError, "'Dot' is played by an agent of yours", agents={})
    (tmp_path / "empty").mkdir()
    await asyncio.to_thread(refused, tmp_path / "empty", RunFolderError, "contains no run")


def test_a_run_that_another_process_holds_is_refused(tmp_path):
    with pytest.raises(Broken):
        Auction(bidders=[Bidder("Ann"), Bidder("Ben")]).run(out=(run := tmp_path / "run"), listen=breaking_at(20))
    with closing(RunFolder.reopen(run)):
        with pytest.raises(RunFolderError, match="another process"):
            RunFolder.reopen(run)
        said = mistake(harbor("resume", "run", cwd=tmp_path))
    assert said == "run 'run' is being run by another process; wait until it ends"


def test_a_complete_run_is_left_as_it_is(whole):
    before = contents(whole)
    assert len(resume(whole).log) == len(lines(whole))
    done = harbor("resume", whole)
    told = f"harbor: run {str(whole)!r} is complete; there is nothing to resume"
    assert (done.returncode, done.stderr.splitlines()[0], contents(whole)) == (0, told, before)


def test_a_complete_run_that_does_not_follow_from_its_rules_is_refused(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "forged")
    forged = lines_of(folder / "events.jsonl")
    for line in of_kind(forged, "item_sold"):
        line["price"] = 1
    write(folder / "events.jsonl", forged)
    said = r"line \d+: item_sold with .*; see: harbor verify "
    with pytest.raises(LogError, match=said):
        resume(folder)
    assert re.search(said, mistake(harbor("resume", folder)))


@pytest.mark.slow
def test_a_full_disk_stops_the_auction_which_resumes_when_there_is_room(tmp_path):
    words = ("auction", "--preset", "demo", "--quiet", "--out", "run")
    done = process(*words, cwd=tmp_path, **full_disk(20_000))
    assert done.returncode == 2, done.stderr
    assert "can't be written (File too large)" in done.stderr
    assert "harbor resume run" in done.stderr
    assert not of_kind(lines(tmp_path / "run"), "seat_failed")
    assert harbor("resume", "run", "--quiet", cwd=tmp_path).returncode == 0
    assert harbor(*words[:-1], "whole", cwd=tmp_path).returncode == 0
    assert difference(left_in(tmp_path / "whole"), left_in(tmp_path / "run")) == ""
