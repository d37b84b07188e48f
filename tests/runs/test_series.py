"""Series: auctions in a row with memories carried over, held, killed, resumed and told again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from crash.leaving import difference, left_in

from harbor import Auction, Bidder, Item, SimulatedChat, read_log, resume, run_series
from harbor._config.auction import Series, read_settings
from harbor._core.basics.errors import ConfigError, HarborError, ModelError
from harbor._core.log.events import AuctionHeld, LogOpened, SeriesOpened
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Learned, Recalled
from harbor.evaluation._metrics.summary import summarise_series
from harbor.memory._bidder.bidder_memory import BidderMemory
from support.commands import HARBOR, harbor, mistake
from support.processes import closed

AUCTIONS = 3
CONFIG = """
name = "in a row"
seed = 5
series.auctions = 3
bidders = [{name = "Ann", budget = 4000, memory = "full", learning = true},
           {name = "Ben", budget = 4000, memory = "episodes", learning = true},
           {name = "Cho", budget = 4000, rule = "minimum-raise"}]
items = [{name = "Lot A", start = 1000, true_value = 2000}, {name = "Lot B", start = 1000, true_value = 2000}]
"""


class Stopped(KeyboardInterrupt):
    """Breaks a series off, as a crash would: another error would be one of a thought alone."""


@contextmanager
def stopping(what, nth):
    """Stop where something is done for the nth time: an event is written, or memories of a kind are kept."""
    seen = []

    def count(name):
        seen.append(name)
        if name == what and seen.count(name) == nth:
            raise Stopped

    with pytest.MonkeyPatch.context() as counting:
        if what.startswith("keep"):
            kept = getattr(BidderMemory, what)

            async def keep(self, *given):
                await kept(self, *given)
                count(what)

            counting.setattr(BidderMemory, what, keep)
        with pytest.raises(Stopped):
            yield lambda entry: count(type(entry.event).__name__)


def check_same(folder, whole):
    """Check that a series has the logs, the calls and the memories of another."""
    one, other = (left_in(run, harbor("memory", "export", run).stdout) for run in (whole, folder))
    assert difference(one, other) == ""
    assert one.memories


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A series that was never interrupted, held from the shell."""
    place = tmp_path_factory.mktemp("whole")
    (place / "series.toml").write_text(CONFIG)
    done = harbor("auction", "series.toml", "--out", "run", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    (place / "printed.json").write_text(done.stdout)
    return place


def short(auctions=2, lots=4, **settings):
    bidders = settings.pop("bidders", [Bidder("Ann", memory="list", learning=True), Bidder("Ben")])
    items = [Item(name=f"Lot {number}", start=1000, true_value=2000) for number in range(lots)]
    return Auction(seed=3, items=items, bidders=bidders, series=Series(auctions=auctions, **settings))


# ---------------------------------------------------------------- what a series is


def test_the_log_of_a_series_has_seeds_ranks_profits_and_learnings_of_every_auction_which_recalls_those_before(whole):
    log = read_log(whole / "run" / "events.jsonl")
    assert not log.warning
    held = of_type(log.entries, AuctionHeld)
    assert [one.auction for one in held] == [1, 2, 3]
    recalled = []
    for one in held:
        entries = read_log(whole / "run" / str(one.auction) / "events.jsonl").entries
        assert of_type(entries, LogOpened)[0].seed == one.seed
        assert one.learnings == {learned.bidder: learned.learnings for learned in of_type(entries, Learned)}
        assert set(one.learnings) == {"Ann", "Ben"}
        assert {name for name in one.ranks if one.ranks[name] == 1} == {
            name for name, profit in one.profits.items() if profit == max(one.profits.values())
        }
        recalled.append(len(of_type(entries, Recalled)[0].memories))
    assert 0 == recalled[0] < recalled[1] < recalled[2]
    assert len({one.seed for one in held}) == AUCTIONS
    again = run_series(read_settings(whole / "series.toml", Auction))  # in memory
    assert [one.seed for one in of_type(again.log, AuctionHeld)] == [one.seed for one in held]
    assert [len(of_type(auction.log, Recalled)[0].memories) for auction in again.auctions] == recalled


def remembering(**memory):
    config = short()
    return run_series(config.model_copy(update={"memory": config.memory.model_copy(update=memory)})).auctions


def test_without_carry_over_every_auction_begins_anew():
    for held in remembering(carry_over=False):
        assert [one.memories for one in of_type(held.log, Recalled)] == [()]


def test_a_series_may_recall_what_its_own_auctions_left_and_nothing_of_another(tmp_path):
    for _ in range(2):
        first, second = remembering(carry_over="series", store=str(tmp_path / "memory"))
        assert [one.memories for one in of_type(first.log, Recalled)] == [()]
        learned = of_type(first.log, Learned)[0].learnings
        assert [memory.text for memory in of_type(second.log, Recalled)[0].memories] == list(learned)


def test_listed_items_come_in_another_order_each_time_if_asked():
    def orders(**settings):
        bidders = [Bidder("Ann", rule="minimum-raise"), Bidder("Ben", rule="random")]
        held = run_series(short(3, lots=6, bidders=bidders, **settings)).auctions
        return {tuple(row.name for row in one.metrics().items) for one in held}

    [listed], shuffled = orders(), orders(shuffled=True)
    assert len(shuffled) == 3
    assert {tuple(sorted(order)) for order in shuffled} == {listed}


def test_means_and_totals_are_over_the_auctions_if_there_are_any(whole):
    log = read_log(whole / "run" / "events.jsonl").entries
    summary, held = summarise_series(log), of_type(log, AuctionHeld)
    for bidder in ("Ann", "Ben"):
        assert summary.mean_ranks[bidder] == pytest.approx(sum(one.ranks[bidder] for one in held) / AUCTIONS)
        assert summary.total_profits[bidder] == sum(one.profits[bidder] for one in held)
    assert summary.simulated
    assert isinstance(log[1].event, SeriesOpened)
    assert summarise_series(log[:2]).as_json()["mean_ranks"] == {}


def test_run_and_hold_series_each_refuse_what_is_the_others():
    with pytest.raises(ConfigError, match="run_series"):
        short().run()
    with pytest.raises(ConfigError, match="has no series"):
        run_series(short().model_copy(update={"series": None}))


def test_the_preset_is_the_published_arena():
    preset = read_settings(Path(str(files("harbor._config.presets") / "learning.toml")), Auction)
    assert preset.series == Series(auctions=10, shuffled=True)
    seats = Counter((one.budget, one.rule, one.max_bids if one.rule else 0, one.learning) for one in preset.bidders)
    assert seats == {(15_000, None, 0, True): 1, (15_000, None, 0, False): 5, (15_000, "minimum-raise", 5, False): 1}
    assert sorted(one.memory for one in preset.bidders) == ["list", *["none"] * 6]
    assert sorted(item.true_value for item in preset.items) == [2_000] * 16 + [10_000] * 4
    assert all(item.true_value == 2 * item.start for item in preset.items)


# ---------------------------------------------------------------- interrupted


@pytest.mark.parametrize("points", [
    [("keep_learnings", 4)], [("Learned", 3)], [("Acted", 2), ("SaleClosed", 1), ("SeriesClosed", 1)],
    [("keep_episodes", 2), ("keep_learnings", 2), ("Remembered", 1), ("keep_dossiers", 1), ("AuctionHeld", 2)],
], ids=str)  # fmt: skip
def test_a_series_that_is_stopped_anywhere_resumes_to_the_logs_and_memories_of_one_that_was_not(
    whole, tmp_path, points
):
    run, config = tmp_path / "run", read_settings(whole / "series.toml", Auction)
    for what, nth in points:
        with stopping(what, nth) as listen:
            resume(run, listen=listen) if run.exists() else run_series(config, out=run, listen=listen)
    assert len(resume(run).auctions) == AUCTIONS
    check_same(run, whole / "run")


def test_a_moved_folder_resumes_with_the_same_memories(stopped, tmp_path):
    moved = shutil.copytree(stopped / "run", tmp_path / "elsewhere" / "run")
    resume(moved)
    check_same(moved, stopped / "whole" / "run")


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A series that was stopped in its second auction, beside the logs of one that was not."""
    place = tmp_path_factory.mktemp("stopped")
    run_series(short(), out=place / "whole" / "run")
    with stopping("Recalled", 2) as listen:
        run_series(short(), out=place / "run", listen=listen)
    closed(place)
    return place


@pytest.fixture
def run(stopped, tmp_path):
    """The stopped series without its memory."""
    return shutil.copytree(stopped / "run", tmp_path / "run", ignore=shutil.ignore_patterns("memory"))


def test_a_series_goes_on_with_the_memory_that_a_pack_has_as_lines(stopped, run):
    assert harbor("memory", "export", stopped / "run", "--out", run / "memory.jsonl").returncode == 0
    done = harbor("resume", "run", "--quiet", cwd=run.parent)
    assert done.returncode == 0, done.stderr
    assert "the memory is made again from 'run/memory.jsonl'" in done.stderr
    check_same(run, stopped / "whole" / "run")


@pytest.mark.parametrize("lines", [None, ""], ids=["no lines", "lines of none"])
def test_a_series_whose_memory_is_gone_or_whose_config_was_changed_is_not_held(run, lines):
    if lines is not None:
        (run / "memory.jsonl").write_text(lines)
    before = left_in(run)
    assert "would be held without its memories" in mistake(harbor("resume", "run", cwd=run.parent))
    assert left_in(run) == before
    (run / "config.json").write_text((run / "config.json").read_text().replace('"seed": 3', '"seed": 6'))
    with pytest.raises(HarborError, match="was changed"):
        resume(run)


def test_a_series_that_is_over_needs_no_memory(whole, tmp_path):
    shutil.copytree(whole / "run", tmp_path / "run", ignore=shutil.ignore_patterns("memory"))
    assert harbor("resume", "run", cwd=tmp_path).returncode == 0


class Refused(SimulatedChat):
    """A model whose server refuses every call."""

    def _answer(self, messages, tools):
        raise RuntimeError("503: try again")


def test_an_auction_that_no_model_answered_is_not_counted_when_its_series_is_resumed(tmp_path):
    config = short(bidders=[Bidder("Zoe", model="mine"), Bidder("Ann", rule="minimum-raise")])
    config = config.model_copy(update={"failed_calls": "play on"})
    for go_on in (partial(run_series, config), resume, resume):
        with pytest.raises(ModelError, match="no model has answered any of"):
            go_on(tmp_path / "run", models={"mine": Refused()})
        assert of_type(read_log(tmp_path / "run" / "events.jsonl").entries, AuctionHeld) == []
    with pytest.raises(ModelError, match="no model has answered any of"):
        resume(tmp_path / "run", models={"mine": SimulatedChat()})


# ---------------------------------------------------------------- from the shell


def test_json_of_a_series_is_one_object_and_replay_and_resume_of_one_that_is_over_tell_the_same(whole):
    printed = json.loads((whole / "printed.json").read_text())
    assert list(printed) == ["run", "seed", "length", "auctions", "mean_ranks", "total_profits", "calls", "simulated"]
    assert list(printed["auctions"][0]) == ["auction", "seed", "ranks", "profits", "learnings"]
    assert len(printed["auctions"]) == AUCTIONS
    for command in ("replay", "resume"):
        done = harbor(command, "run", "--json", cwd=whole)
        assert (done.returncode, json.loads(done.stdout)) == (0, printed), done.stderr
    done = harbor("replay", "run/2", "--json", cwd=whole)
    assert [row["bidder"] for row in json.loads(done.stdout)["standings"]]


def test_where_there_is_no_terminal_a_series_tells_a_line_an_auction_and_a_table(whole):
    done = harbor("auction", "series.toml", "--out", "lines", cwd=whole)
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == [f"Auction {number} of 3" for number in (1, 2, 3)]
    assert "Ranks by auction" in lines[3]
    assert "(simulated bidders)" in done.stdout
    quiet = harbor("replay", "lines", cwd=whole).stdout
    assert quiet in done.stdout


@pytest.mark.slow
def test_ctrl_c_says_how_a_series_is_resumed(whole, tmp_path):
    (tmp_path / "slow.toml").write_text(f"{CONFIG}models.simulated.simulated.latency_seconds = 0.02\n")
    command = [*HARBOR, "auction", "slow.toml", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert "Auction 1 of 3" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert (running.returncode, "resume with: harbor resume run" in said) == (130, True)
    assert harbor("replay", "run", cwd=tmp_path).stderr.startswith("harbor: warning: the log ends at line")
    done = harbor("resume", "run", "--json", cwd=tmp_path)
    assert (done.returncode, len(json.loads(done.stdout)["auctions"])) == (0, AUCTIONS)
    check_same(tmp_path / "run", whole / "run")
