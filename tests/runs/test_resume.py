"""Interrupted runs: what is replayed, what is asked anew, what is refused."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import threading
import time
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_core.models import RequestUsage

from harbor import Auction, Bidder, Item, ModelSettings, Simulated, SimulatedChat, houses, resume
from harbor._core.asking.asks import Ask
from harbor._core.basics.errors import ConfigError, LogError, RunFolderError
from harbor._core.log.events import CLOCK_FIELDS, Answered, ModelCalled, SeatFailed, ThoughtFailed
from harbor._core.log.log import of_type, read_log
from harbor._games.policies import Truthful
from harbor._runs.folder import RunFolder
from harbor.evaluation._metrics.summary import summarise
from support.clerk import Clerk
from support.commands import HARBOR, harbor, mistake, process
from support.folders import paid
from support.forging import lines_of, write
from support.forging import of_type as of_kind
from support.processes import full_disk

SLOW = """
name = "slow"
seed = 11
items = {count = 3}
[[bidders]]
name = "Ann"
persona = "downsizing"
theory_of_mind = "inferred"
[[bidders]]
name = "Ben"
[[bidders]]
name = "Cho"
rule = "minimum-raise"
[models.simulated.simulated]
latency_seconds = 0.02
unreadable_rate = 0.1
low_bid_rate = 0.1
"""


class Broken(Exception):
    """Breaks a run off, as a crash would."""


class Counting(SimulatedChat):
    """The built-in model, but it tells how often it was called, and some tasks fail or take for ever."""

    made: list[str] = []  # noqa: RUF012 - pydantic copies it
    fails: tuple[str, ...] = ()
    hangs: tuple[str, ...] = ()

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        text = str(messages[1].content)
        task = re.search(r'"task":"(\w+)"', text)[1]
        self.made.append(task)
        if task in self.fails:
            raise RuntimeError(f"no {task} today")
        if task in self.hangs:
            await asyncio.Event().wait()
        return await super()._agenerate(messages, stop, run_manager, **kwargs)


FILES = ("config.json", "manifest.json", "mark")


def sale(model="mine", items=3, **settings):
    by_call = {"bidding": "call", **settings}
    return Auction(
        seed=7, items=houses(items, seed=7),
        bidders=[Bidder("Ann", persona="urban-dwellers", model=model, theory_of_mind="inferred", **by_call),
                 Bidder("Ben", model=model, **by_call), Bidder("Cho", rule="minimum-raise"), Bidder("Dot", agent=True)],
        models={"mine": ModelSettings(repairs=1)}, failed_calls="play on",
    )  # fmt: skip


def chat(**mood):
    return Counting(settings=Simulated(unreadable_rate=0.1, low_bid_rate=0.2), made=[], **mood)


def crash_after(number):
    """Return a listener that breaks a run off right after so many lines are written."""

    def crash(entry):
        if entry.seq + 1 == number:
            raise Broken

    return crash


def broken(folder, after, model=None, clerk=None, **settings):
    """Hold a sale that crashes right after so many lines are written; return its folder."""
    given = {"models": {"mine": model or chat()}, "agents": {"Dot": clerk or Clerk()}}
    with pytest.raises(Broken):
        sale(**settings).run(out=folder, listen=crash_after(after), **given)
    return folder


def clerk_after(folder, kind=Clerk):
    clerk = kind()
    clerk.asked = (folder / "events.jsonl").read_bytes().count(b'"answered"')
    return clerk


def resumed(folder, model=None, clerk=None, **more):
    """Resume a run and return its result; the lines that it had stay as they were."""
    before = timeless(folder)
    given = {"models": {"mine": model or chat()}, "agents": {"Dot": clerk or clerk_after(folder)}}
    result = resume(folder, **given, **more)
    assert (folder / "events.jsonl").read_bytes().endswith(b"\n")
    assert timeless(folder)[: len(before)] == before
    return result


def whole_lines(path):
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def lines(folder):
    return [json.loads(line) for line in whole_lines(folder / "events.jsonl")]


def timeless(folder):
    return [{key: value for key, value in line.items() if key not in CLOCK_FIELDS} for line in lines(folder)]


def unchanged(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    sale().run(out=folder, models={"mine": chat()}, agents={"Dot": Clerk()})
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

    sale(items=2).run(out=place / "run", models={"mine": chat()}, agents={"Dot": Clerk()}, listen=copy)
    *lines, _ = (place / "run" / "events.jsonl").read_bytes().splitlines(keepends=True)
    (shutil.copytree(place / "run", place / str(len(lines)), dirs_exist_ok=True) / "events.jsonl").write_bytes(
        b"".join(lines)
    )
    return place


@pytest.mark.parametrize("step", [10 * STEP, pytest.param(STEP, marks=pytest.mark.slow)])
def test_a_run_that_broke_off_after_any_line_resumes_to_the_whole_log(copied, tmp_path, step):
    whole, expected = copied / "run", timeless(copied / "run")
    for after in {*range(1, len(expected), step), len(expected) - 1}:
        folder = Path(shutil.copytree(copied / str(after), tmp_path / str(after)))
        assert len(lines(folder)) == after
        told = [entry.event for entry in resumed(folder).log]
        assert timeless(folder) == expected, after
        assert paid(folder) == paid(whole), after
        assert told == [entry.event for entry in read_log(folder / "events.jsonl").entries]


def test_a_resumed_run_makes_only_the_calls_that_were_missing(whole, tmp_path):
    folder = broken(tmp_path / "run", 100, before := chat())
    resumed(folder, after := chat())
    assert after.made
    assert len(before.made) + len(after.made) == len((whole / "calls.jsonl").read_text().splitlines())


def test_the_calls_of_the_turn_that_was_being_played_are_not_paid_twice(whole, tmp_path):
    # All calls of a turn are made before the first of them is in the log.
    first = next(line["seq"] for line in lines(whole) if line["type"] == "model_called")
    folder = broken(tmp_path / "run", 1 + first)
    assert sum(paid(folder).values()) > sum(line["type"] == "model_called" for line in lines(folder)) == 1
    resumed(folder)
    assert paid(folder) == paid(whole)


def test_a_run_may_be_interrupted_again_and_again(whole, tmp_path):
    folder = broken(tmp_path / "run", 40)
    for after in (61, 62, 91, 151):
        with pytest.raises(Broken):
            resumed(folder, listen=crash_after(after))
    resumed(folder)
    assert {path.name for path in folder.iterdir()} == {*FILES, "events.jsonl", "calls.jsonl"}
    assert timeless(folder) == timeless(whole)
    assert paid(folder) == paid(whole)


def test_the_clock_goes_on_from_where_it_stopped_and_a_listener_hears_of_the_whole_run(run):
    heard = []
    resumed(run, listen=heard.append)
    assert [entry.seq for entry in heard] == list(range(len(lines(run))))
    times = [line["at"] for line in lines(run)]
    assert times == sorted(times)


def test_replies_that_came_in_any_order_are_replayed(tmp_path):
    class Uneven(Counting):
        """Some replies take longer, so that those asked for side by side end in another order."""

        async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
            await asyncio.sleep(0.01 * (4 - len(self.made) % 4))
            return await super()._agenerate(messages, stop, run_manager, **kwargs)

    resumed(broken(tmp_path / "run", 120, Uneven(made=[])))


def test_a_run_without_a_whole_line_begins_anew(whole, tmp_path):
    folder = broken(tmp_path / "run", 1)
    (folder / "events.jsonl").unlink()
    resume(folder, models={"mine": chat()}, agents={"Dot": Clerk()})
    assert timeless(folder) == timeless(whole)


# ---------------------------------------------------------------- lines cut short


@pytest.mark.parametrize("rest", ["{", '{"seq": 90, "at": 1.5, "audience": "everyone", "type": "bid_pl', '{"é'])
def test_a_line_of_the_log_that_was_cut_short_is_dropped_and_said_so(rest, whole, run):
    with (run / "events.jsonl").open("a") as log:
        log.write(rest)
    with pytest.warns(UserWarning, match=r"line 91 is cut short.* is dropped"):
        resumed(run)
    assert timeless(run) == timeless(whole)


def test_a_call_that_was_cut_short_is_asked_anew(whole, tmp_path):
    folder = broken(tmp_path / "run", 80)
    calls = (folder / "calls.jsonl").read_bytes()
    last = calls.splitlines()[-1]
    # As if the log had not got as far as that call.
    while b'"model_called"' in (log := (folder / "events.jsonl").read_bytes().splitlines(keepends=True))[-1]:
        (folder / "events.jsonl").write_bytes(b"".join(log[:-1]))
    (folder / "calls.jsonl").write_bytes(calls + last[:30])
    with pytest.warns(UserWarning, match=r"line \d+ can't be read and is kept in calls-damaged.jsonl"):
        resumed(folder)
    assert timeless(folder) == timeless(whole)
    assert all(json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines())


# ---------------------------------------------------------------- failures


def test_a_failure_that_the_log_holds_is_replayed_as_it_was(tmp_path):
    whole = sale().run(models={"mine": chat(fails=("replan", "bid"))}, agents={"Dot": Clerk()}).log
    assert {type(entry.event) for entry in whole} >= {ThoughtFailed, SeatFailed}
    folder = broken(tmp_path / "run", len(whole) - 1, chat(fails=("replan", "bid")))
    result = resumed(folder, sound := chat())  # the provider is well again, so any call that is made would succeed
    assert sound.made == []
    after, before = (
        [one.event for one in log[1:] if not isinstance(one.event, ModelCalled)] for log in (result.log, whole)
    )
    assert after == before


@pytest.mark.slow
def test_a_seat_that_ran_out_of_time_is_not_waited_for_again(tmp_path):
    whole = sale(timeout_seconds=1).run(models={"mine": chat(hangs=("believe",))}, agents={"Dot": Clerk()}).log
    assert {failed.kind for failed in of_type(whole, SeatFailed)} == {"timeout"}
    folder = broken(tmp_path / "run", len(whole) - 1, chat(hangs=("believe",)), timeout_seconds=1)
    resumed(folder, sound := chat())
    assert sound.made == []


@pytest.mark.parametrize("rival", [{"rule": "minimum-raise"}, {}], ids=["scripts alone", "in the room"])
def test_what_was_decided_in_time_is_not_timed_again(tmp_path, monkeypatch, rival):
    bidders = [Bidder("Ann", rule="truthful", timeout_seconds=0.5), Bidder("Ben", **rival)]
    folder, decide, slowed = tmp_path / "run", Truthful.decide, list[Ask]()
    whole = Auction(items=houses(2), bidders=bidders).run(out=folder).log
    log = folder / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))

    def slowly(policy, ask, seen):
        if not slowed:
            slowed.append(ask)
            time.sleep(0.7)
        return decide(policy, ask, seen)

    monkeypatch.setattr(Truthful, "decide", slowly)
    again = resume(folder).log
    assert slowed
    assert [entry.event for entry in again] == [entry.event for entry in whole]


@pytest.mark.parametrize("rival", [{"rule": "rational"}, {"model": "simulated"}], ids=["plain", "room"])
def test_a_turn_that_was_not_decided_is_timed_when_it_is_played_again(tmp_path, monkeypatch, rival):
    def endlessly(policy, ask, seen):
        while True:
            pass

    monkeypatch.setattr(Truthful, "decide", endlessly)
    slow = [Bidder(name, rule="truthful", timeout_seconds=0.2) for name in ("Zoe", "Ann")]
    folder = tmp_path / "run"
    whole = Auction(items=houses(1), bidders=[*slow, Bidder("Ben", **rival)]).run(out=folder).log
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b'"seat_failed"' in line)
    (folder / "events.jsonl").write_bytes(b"".join(lines[: first + 1]))
    assert [entry.event for entry in resume(folder).log] == [entry.event for entry in whole]


def test_a_call_cut_by_the_interruption_is_asked_anew(tmp_path):
    folder = tmp_path / "run"
    hanging = chat(hangs=("believe",), seed=5)

    async def interrupted():
        held = asyncio.ensure_future(sale().arun(out=folder, models={"mine": hanging}, agents={"Dot": Clerk()}))
        while "believe" not in hanging.made:
            await asyncio.sleep(0)
        held.cancel()
        await asyncio.wait({held})

    asyncio.run(interrupted())
    cut = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines() if "CancelledError" in line]
    assert {call["bidder"] for call in cut} == {"Ann", "Ben"}
    result = resumed(folder, chat(seed=5))
    assert not of_type(result.log, ThoughtFailed)
    assert not of_type(result.log, SeatFailed)


# ---------------------------------------------------------------- agents of yours


def test_an_agent_is_not_asked_again_and_hears_later_what_it_missed(tmp_path):
    folder = broken(tmp_path / "run", 150, clerk=(before := Clerk()))
    assert len(of_type(read_log(folder / "events.jsonl").entries, Answered)) > 2
    resumed(folder, clerk=(after := clerk_after(folder)))
    assert after.heard[: len(before.heard)] == before.heard


def test_what_an_agent_said_is_its_own(whole):
    told = of_type(read_log(whole / "events.jsonl").entries, Answered)
    assert {event.audience for event in told} == {"bidder:Dot"}


def test_an_agent_that_failed_is_not_asked_again(tmp_path):
    folder = broken(tmp_path / "run", 170, clerk=Clerk(fails_at=2))
    assert of_type(read_log(folder / "events.jsonl").entries, SeatFailed)
    resumed(folder)


def test_an_agent_that_is_not_given_is_missed_by_name(run):
    before = unchanged(run)
    with pytest.raises(ConfigError, match="'Dot' is played by an agent of yours"):
        resume(run, models={"mine": chat()})
    assert unchanged(run) == before


# ---------------------------------------------------------------- refusals


def refused(folder, error, match):
    before = unchanged(folder)
    model = chat()
    with pytest.raises(error, match=match):
        resume(folder, models={"mine": model}, agents={"Dot": Clerk()})
    assert unchanged(folder) == before
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


def test_a_folder_without_a_run_is_refused(tmp_path):
    refused(tmp_path, RunFolderError, "contains no run")


@pytest.mark.slow
def test_a_run_that_another_process_holds_is_refused(tmp_path):
    with pytest.raises(Broken):
        Auction(bidders=[Bidder("Ann"), Bidder("Ben")]).run(out=tmp_path / "run", listen=crash_after(21))
    with closing(RunFolder.reopen(tmp_path / "run")):
        with pytest.raises(RunFolderError, match="another process"):
            RunFolder.reopen(tmp_path / "run")
        said = mistake(process("resume", "run", cwd=tmp_path))
    assert said == "run 'run' is being run by another process; wait until it ends"


def test_a_complete_run_is_left_as_it_is(whole):
    before = unchanged(whole)
    assert len(resume(whole).log) == len(lines(whole))
    done = harbor("resume", whole)
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == f"harbor: run {str(whole)!r} is complete; there is nothing to resume"
    assert unchanged(whole) == before


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


async def test_resuming_in_a_running_loop_is_refused_with_the_remedy(whole):
    with pytest.raises(ConfigError, match="await aresume"):
        resume(whole)


# ---------------------------------------------------------------- real processes


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.toml").write_text(SLOW)
    assert harbor("auction", "slow.toml", "--out", "whole", "--quiet", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def place(slow, tmp_path):
    """A folder with settings of a slow auction."""
    shutil.copy(slow / "slow.toml", tmp_path)
    return tmp_path


AUCTION = ("auction", "slow.toml", "--out", "run", "--quiet")


def resumes_to(whole, folder):
    assert harbor("resume", "run", "--quiet", cwd=folder.parent).returncode == 0
    assert timeless(folder) == timeless(whole)
    assert paid(folder) == paid(whole)


def killed(command, folder, name, size, how=signal.SIGKILL):
    """Start a process and kill it when a file of the run has so many bytes; False if it was done before that."""
    nap = threading.Event()
    with subprocess.Popen([*HARBOR, *command], cwd=folder.parent, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            if (folder / name).exists() and (folder / name).stat().st_size >= size:
                running.send_signal(how)
                break
            nap.wait(0.001)
    return running.returncode in (-how, 130)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share", "how"), [
    # early and late of each: one follows the other, so that these are four moments
    ("calls.jsonl", 0.02, signal.SIGKILL), ("events.jsonl", 0.37, signal.SIGKILL),
    ("calls.jsonl", 0.71, signal.SIGKILL), ("events.jsonl", 0.95, signal.SIGKILL),
    ("events.jsonl", 0.5, signal.SIGINT),
])  # fmt: skip
def test_an_auction_that_is_killed_or_stopped_by_ctrl_c_resumes_to_the_log_of_one_that_was_not(
    slow, place, name, share, how
):
    size = int((slow / "whole" / name).stat().st_size * share)
    assert killed(AUCTION, place / "run", name, size, how)
    resumes_to(slow / "whole", place / "run")


@pytest.mark.slow
def test_an_auction_that_is_killed_over_and_over_comes_to_its_end(slow, place):
    full = (slow / "whole" / "events.jsonl").stat().st_size
    assert killed(AUCTION, place / "run", "events.jsonl", full // 5)
    for fifth in (2, 3, 4):
        assert killed(["resume", "run", "--quiet"], place / "run", "events.jsonl", full * fifth // 5)
    resumes_to(slow / "whole", place / "run")


@pytest.mark.slow
@pytest.mark.parametrize("limit", [12_000, 60_000])
def test_a_full_disk_stops_the_auction_which_resumes_when_there_is_room(slow, place, limit):
    done = process(*AUCTION, cwd=place, **full_disk(limit))
    assert done.returncode == 2, done.stderr
    assert "can't be written (File too large)" in done.stderr
    assert "harbor resume run" in done.stderr
    assert not of_kind(lines(place / "run"), "seat_failed")
    assert harbor("resume", "run", "--quiet", cwd=place).returncode == 0
    assert timeless(place / "run") == timeless(slow / "whole")


def test_items_of_your_own_are_resumed_as_well(tmp_path):
    auction = Auction(items=[Item(name="Lot", start=100, true_value=300)], bidders=[Bidder("Ann"), Bidder("Ben")])
    with pytest.raises(Broken):
        auction.run(out=tmp_path / "run", listen=crash_after(21))
    assert resume(tmp_path / "run").log[-1].event == auction.run().log[-1].event


class Metered(Clerk):
    """An agent of yours that tells what two calls of its own model took, another amount each time it is asked."""

    async def on_messages(self, messages, cancellation_token):
        said = (await super().on_messages(messages, cancellation_token)).chat_message
        thought = TextMessage(content="hm", source=self.name, models_usage=RequestUsage(50, 5))
        said = said.model_copy(update={"models_usage": RequestUsage(100 * self.asked, 7)})
        return Response(chat_message=said, inner_messages=[thought])


def of_the_agent(folder):
    return [call for call in of_type(read_log(folder / "events.jsonl").entries, ModelCalled) if call.purpose == "agent"]


def but_for_the_agents_calls(folder):
    kept = [line for line in timeless(folder) if line.get("purpose") != "agent"]
    return [{key: value for key, value in line.items() if key != "seq"} for line in kept]


@pytest.fixture(scope="module")
def metered(tmp_path_factory):
    """A run with such an agent, and what was on disk one, two and three lines after each of its first three answers."""
    folder, answered = tmp_path_factory.mktemp("metered") / "run", []

    def copy(entry):
        answered.extend([entry.seq] if isinstance(entry.event, Answered) else [])
        if answered and len(answered) < 4 and 0 <= (more := entry.seq - answered[-1]) < 3:
            shutil.copytree(folder, folder.parent / f"{len(answered)}-{more + 1}")

    sale().run(out=folder, models={"mine": chat()}, agents={"Dot": Metered()}, listen=copy)
    return folder


def test_calls_of_an_agents_own_model_are_counted_from_what_it_tells(metered):
    answers = len(of_type(read_log(metered / "events.jsonl").entries, Answered))
    told = of_the_agent(metered)
    assert len(told) == 2 * answers > 0
    assert [call.input_tokens for call in told] == [amount for n in range(1, answers + 1) for amount in (50, 100 * n)]
    assert {(call.bidder, call.model, call.outcome, call.cost_dollars) for call in told} == {
        ("Dot", "agent", "ok", None)
    }
    found = summarise(read_log(metered / "events.jsonl").entries).calls
    assert found.by_model["agent"].count == found.by_bidder["Dot"].unpriced == found.total.unpriced == len(told)
    assert found.total.cost_dollars is None


def test_calls_that_an_agent_told_of_are_in_the_log_again_as_they_were_when_a_run_resumes(metered):
    for answer, more in product((1, 2, 3), (1, 2, 3)):
        folder = metered.parent / f"{answer}-{more}"
        resumed(folder, clerk=clerk_after(folder, Metered))
        assert but_for_the_agents_calls(folder) == but_for_the_agents_calls(metered)
        # A log that ends between an answer and its calls keeps the answer, and not what was still to come.
        assert len(of_the_agent(folder)) == len(of_the_agent(metered)) - (3 - more)
