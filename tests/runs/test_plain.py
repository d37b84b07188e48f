"""Auctions of scripted policies alone: the plain loop that carries them leaves the log that the room would leave."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, Item, houses, use
from harbor._core.asking.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.basics.actions import Accept, BundleBid, Choose, Say, Take, Wait
from harbor._core.basics.errors import RunFolderError, RunPaused
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Tried
from harbor._core.log.events import LogOpened, SeatFailed
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import Entry, encode
from harbor._core.log.players import Policy
from harbor._house.plain import never_waits
from harbor._runs.folder import RunFolder
from harbor._runs.inputs import RunInputs
from harbor._runs.run import Run, start
from support.folders import cut
from support.plugins import remembering
from support.sealed import SEALED

GAMES = {
    "english": {"lowerings": 1}, "water": {"days": 6}, "second-price": {"runs": 3, "show": "actions and values"},
    "first-price": {"runs": 3, "show": "nothing"}, "english-private": {"runs": 3},
    "beauty": {"runs": 3, "bound": 55.5}, "sealed": {},
}  # fmt: skip
NAMES = ("Alex", "Bob", "Cindy", "David")
SECRET = "sk-abcdefgh12345678"
AMOUNTS = "0 -0 -5 47.5 47.50 1250.00 1E+3 12.3456789 1E+30 0.005 NaN Infinity"
GOOD_FOR_NOTHING: tuple[Any, ...] = (
    *(Bid(odd) for odd in (*map(Decimal, AMOUNTS.split()), 5, 12.5, "5", None)),
    *(Withdraw(), Withdraw("fault", Decimal(3)), Unreadable("no words"), None, 7, object, ["I withdraw."]),
    *(Accept(), Wait(), Choose("it"), Say("I bid $7."), BundleBid(("it",), Decimal(5)), Take(2)),
    *("I bid $1,250.", "I choose 12.50.", "I bid half a \ud83d.", "", "a" * 3_000, "I withdraw, or not.", "I pass"),
    *(ValueError(f"my key is {SECRET}"), StopIteration(), SystemExit(0), KeyError("\ud83d"), RuntimeError("x" * 900)),
)  # fmt: skip
"""What a policy may give back, or raise, that is no plain answer."""


@dataclass(frozen=True)
class Odd(Policy):
    """Answers anything whatever: a pure function of the seed and the ask."""

    seed: int

    def decide(self, ask: Ask, seen: Sequence[Any]) -> Any:
        rng = stream(self.seed, *map(str, (ask.bidder, ask.item, ask.round, ask.attempt, len(seen))))
        answer = rng.choice((*GOOD_FOR_NOTHING, *[Bid(ask.minimum), Bid(ask.maximum)] * 8))
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass(frozen=True)
class Doing(Policy):
    """Does one thing at each ask, which may raise an error, and gives back what comes of it."""

    do: Callable[[Ask], Any]

    def decide(self, ask: Ask, seen: Sequence[Any]) -> Any:
        return self.do(ask)


def raising(error: BaseException) -> Doing:
    def fail(_: Ask) -> None:
        raise error

    return Doing(fail)


class Pondering(Policy):
    """Waits before it answers, as no other policy does."""

    async def act(self, ask: Any, seen: Sequence[Any]) -> Any:
        await asyncio.sleep(0)
        return Withdraw()

    def decide(self, ask: Ask, seen: Sequence[Any]) -> Any:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def sealed(monkeypatch):
    with remembering(monkeypatch):
        use(SEALED)
        yield


def scripts(game: str, *rules: str, seed: int = 1, **more: Any) -> Auction:
    bidders = [Bidder(name, rule=rule, **more) for name, rule in zip(NAMES, rules, strict=False)]
    return Auction(seed=seed, bidders=bidders, rules={"game": game, **GAMES[game]})


def seated(auction: Auction, *policies: Policy) -> Run:
    """The run of an auction, with these policies in the first seats."""
    run = Run(auction, RunInputs())
    here = [replace(bidder, policy=one) for bidder, one in zip(run.auction.bidders, policies, strict=False)]
    run.auction = replace(run.auction, bidders=(*here, *run.auction.bidders[len(here) :]))
    return run


def in_the_room(run: Run, out: Path | None = None) -> Sequence[Entry]:
    run.scripted = False
    return asyncio.run(start(run, out)).log


def pair(policy: Policy, game: str = "second-price", **first: Any) -> list[Run]:
    """Two runs with a policy in the first seat, for the plain loop and for the room."""
    auction = scripts(game, "random", "rational")
    hasty, *others = auction.bidders
    auction = auction.model_copy(update={"bidders": (hasty.model_copy(update=first), *others)})
    return [seated(auction, policy) for _ in range(2)]


def lines(log: Sequence[Entry]) -> list[bytes]:
    """The lines of a log without its clocks, which name the run too."""
    opened = replace(log[0].event, run="", token="")
    return [encode(Entry(seq, 0.0, event), "")[0] for seq, _, event in [log[0]._replace(event=opened), *log[1:]]]


def held_alike(runs: Sequence[Run]) -> Sequence[Entry]:
    """Hold a run in the plain loop and another in the room, check that both leave one log, and return it."""
    held = runs[0].play(None, None).log
    assert lines(held) == lines(in_the_room(runs[1]))
    return held


def anything(game: str, seed: int) -> Run:
    return seated(scripts(game, *["random"] * 4, seed=seed), Odd(1), Odd(2), Odd(3))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_plain_loop_leaves_the_log_of_the_room(game, seed):
    rules = ("minimum-raise", "truthful" if game == "english" else "rational", "random", "adversary")
    runs = [Run(scripts(game, *rules, seed=seed), RunInputs()) for _ in range(2)]
    assert runs[0].scripted
    assert of_type(held_alike(runs), Tried)


@settings(max_examples=15)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 10**6))
def test_whatever_policies_give_back_or_raise_it_is_taken_as_in_the_room(game, seed):
    held_alike([anything(game, seed), anything(game, seed)])


ERRORS = {repr(one): (one, f"{type(one).__name__}: {one}") for one in (
    RunFolderError("no room"), RunPaused("later"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(),
    BaseException("all"),
)}  # fmt: skip
ERRORS["cancelled"] = asyncio.CancelledError(), "cancelled itself"
ERRORS["secret"] = ValueError(SECRET), "ValueError: [redacted]"


@pytest.mark.parametrize("error", ERRORS)
def test_whatever_a_policy_raises_costs_its_seat_the_turn_alone_and_is_logged_without_secrets(error):
    raised, detail = ERRORS[error]
    assert of_type(held_alike(pair(raising(raised))), SeatFailed) == [SeatFailed("Alex", "error", detail)] * 3


def runs_for_ever(ask: Ask) -> None:
    while True:
        pass


@pytest.mark.parametrize("do", [lambda _: time.sleep(0.3), runs_for_ever], ids=["sleeps in C", "runs for ever"])
def test_a_policy_that_does_not_give_the_thread_back_runs_out_of_time_here_and_in_the_room(do):
    detail = "no answer within 0.2 s, and nobody else could go on meanwhile"
    held = held_alike(pair(Doing(do), timeout_seconds=0.2))
    assert of_type(held, SeatFailed) == [SeatFailed("Alex", "timeout", detail)] * 3


def test_ctrl_c_stops_a_sale_also_while_a_policy_decides():
    plain, room = pair(Doing(lambda _: signal.raise_signal(signal.SIGINT)))
    for hold in (lambda: plain.play(None, None), lambda: in_the_room(room)):
        with pytest.raises(KeyboardInterrupt):
            hold()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("first", ["plain", "room"])
def test_a_run_that_broke_off_after_any_line_resumes_to_the_whole_log(game, first, tmp_path):
    whole = tmp_path / "whole"
    in_the_room(anything(game, 3), whole) if first == "room" else anything(game, 3).play(whole, None)
    written = (whole / "events.jsonl").read_bytes().splitlines(keepends=True)
    log = lines(read_log(whole / "events.jsonl").entries)
    for after in range(1, len(written), 1 + len(written) // 12):
        part = shutil.copytree(whole, tmp_path / str(after))
        (part / "events.jsonl").write_bytes(b"".join(written[:after]) + written[after][:9])
        run = anything(game, 3)
        run.scripted = after % 2 == 1  # what one carrier began, the other can end
        with pytest.warns(UserWarning, match="cut short"), closing(RunFolder.reopen(part)) as folder:
            asyncio.run(run.run(folder, None))
        assert lines(read_log(part / "events.jsonl").entries) == log


def test_a_failure_that_the_log_holds_is_replayed_though_the_policy_fails_no_more(tmp_path):
    auction = scripts("second-price", "rational", "rational")
    log = seated(auction, raising(ValueError("once"))).play(tmp_path / "run", None).log
    cut(tmp_path / "run" / "events.jsonl", -1)
    with closing(RunFolder.reopen(tmp_path / "run")) as folder:
        asyncio.run(Run(auction, RunInputs()).run(folder, None))
    assert lines(read_log(tmp_path / "run" / "events.jsonl").entries) == lines(log)


def test_in_a_folder_each_event_is_on_disk_when_a_listener_hears_of_it(tmp_path):
    log = tmp_path / "run" / "events.jsonl"

    def hear(entry: Entry) -> None:
        assert len(log.read_bytes().splitlines()) == entry.seq + 1

    result = scripts("second-price", "rational", "adversary").run(out=tmp_path / "run", listen=hear)
    assert read_log(log).entries[1:] == tuple(entry._replace(at=round(entry.at, 6)) for entry in result.log[1:])


def test_as_soon_as_one_seat_is_anything_but_a_policy_that_only_decides_the_room_holds_the_sale():
    auction = scripts("second-price", "rational", "rational")
    assert not Run(auction.model_copy(update={"bidders": (*auction.bidders, Bidder("Zoe"))}), RunInputs()).scripted
    assert [never_waits(one.policy) for one in seated(auction, Pondering()).auction.bidders] == [False, True]


async def test_a_long_run_of_scripts_can_be_cancelled():
    items = [Item(name=f"Lot {number}", start=1_000, true_value=2_000) for number in range(60)]
    bidders = [Bidder(f"Bidder {number}", rule="minimum-raise") for number in range(3)]
    heard: list[Entry] = []
    held = asyncio.ensure_future(Auction(items=items, bidders=bidders).arun(listen=heard.append))
    await asyncio.sleep(0)
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    assert 0 < len(heard) < 1_000


async def test_in_a_running_event_loop_scripts_alone_can_be_run_at_once():
    auction = Auction(items=houses(1), bidders=[Bidder("Ann", rule="truthful")])
    assert of_type(auction.run().log, LogOpened)
