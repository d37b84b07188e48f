"""A function in a seat: plain or async, it is asked with each turn, and whatever it does the sale goes on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from harbor import Auction, Bidder, Item, of_type
from harbor._core.log.acts import Tried
from harbor._core.log.events import LogOpened, SaleClosed, SeatFailed
from harbor._core.log.log_entries import Entry, encode
from harbor._games.english.events import ItemSold

Bid = Callable[[dict[str, Any]], Any]


def bid(turn: dict[str, Any]) -> dict[str, Any]:
    least = turn["space"]["minimum"]
    return {"action": "bid", "amount": least} if least < 2_000 else {"action": "withdraw"}


async def bid_later(turn: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return bid(turn)


class LateCaller:
    async def __call__(self, turn: dict[str, Any]) -> dict[str, Any]:
        return bid(turn)


def sale(**tal: Any) -> Auction:
    return Auction(
        items=[Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "AB"],
        bidders=[Bidder("Tal", agent=True, **tal), Bidder("Ann", rule="minimum-raise", max_bids=3)],
    )


def lines(log: tuple[Entry, ...]) -> list[bytes]:
    """The lines of a log without clocks and without what names its run."""
    events = [replace(one.event, run="", token="") if isinstance(one.event, LogOpened) else one.event for one in log]
    return [encode(Entry(seq, 0.0, event), "")[0] for seq, event in enumerate(events)]


def failures(function: Bid, **tal: Any) -> list[SeatFailed]:
    """How the seat of a function fails in a sale, which ends all the same."""
    log = sale(**tal).run(agents={"Tal": function}).log
    assert [sold.winner for sold in of_type(log, ItemSold)] == ["Ann", "Ann"]
    assert of_type(log, SaleClosed)
    return of_type(log, SeatFailed)


@pytest.mark.parametrize("function", [bid_later, LateCaller(), partial(bid_later), lambda turn: bid_later(turn)])
def test_functions_of_every_kind_that_bid_alike_leave_equal_logs(function):
    assert lines(sale().run(agents={"Tal": function}).log) == lines(sale().run(agents={"Tal": bid}).log)


def test_what_a_function_does_to_its_turn_reaches_nobody():
    def spoiling(turn):
        answer = bid(turn)
        turn["seen"].clear()
        turn["space"]["minimum"] = 0
        return answer

    assert lines(sale().run(agents={"Tal": spoiling}).log) == lines(sale().run(agents={"Tal": bid}).log)


def test_a_plain_function_that_blocks_holds_up_nobody_and_is_given_up():
    never, here = threading.Event(), threading.main_thread()
    threads = []

    def blocks(turn):
        threads.append(threading.current_thread())
        never.wait()

    try:
        failed = failures(blocks, timeout_seconds=0.1)
    finally:
        never.set()
    assert {(one.kind, one.detail) for one in failed} == {("timeout", "no answer within 0.1 s")}
    assert all(thread is not here and thread.daemon for thread in threads)


def test_an_async_function_that_holds_the_thread_is_interrupted():
    async def holds(turn):
        while True:
            time.monotonic()

    [detail] = {one.detail for one in failures(holds, timeout_seconds=0.1)}
    assert detail == "no answer within 0.1 s, and nobody else could go on meanwhile"


@pytest.mark.parametrize("error", [ValueError("a slip"), SystemExit(3), StopIteration(), asyncio.CancelledError()])
def test_an_error_of_a_function_is_the_failure_of_its_seat(error):
    def fails(turn):
        raise error

    assert {one.kind for one in failures(fails)} == {"error"}


def test_an_answer_that_is_no_action_is_a_failed_bid_and_asked_again():
    turns = []

    def mumbles(turn):
        turns.append(turn)
        return "Hm." if turn["attempt"] == 1 else {"action": "withdraw"}

    log = sale().run(agents={"Tal": mumbles}).log
    assert [turn["attempt"] for turn in turns] == [1, 2, 1, 2]
    assert "neither a bid nor a withdrawal" in turns[1]["refusal"]
    assert of_type(log, Tried)[0].reason == turns[1]["refusal"]
