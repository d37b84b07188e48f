"""The cost of making paid replies and words safe from a power cut: runs with and without it, in turn."""

from __future__ import annotations

import os
import statistics
import threading
import time
from itertools import count
from pathlib import Path

import pytest

from harbor import Auction, Bidder, Simulated, SimulatedChat, houses
from support.paid_chat import PRICED, PaidChat
from support.power import patch_syncing

ROUNDS = 9


def scripted(out: Path) -> None:
    bidders = [Bidder(f"Bidder {number}", rule="minimum-raise", max_bids=4) for number in range(3)]
    Auction(seed=1, items=houses(10, seed=7), bidders=bidders).run(out=out)


def built_in(out: Path) -> None:
    Auction(seed=1, items=houses(5, seed=7), bidders=[Bidder(name) for name in ("Ann", "Ben", "Cho")]).run(out=out)


def paid(out: Path) -> None:
    """Run with a paid model that answers after 50 ms, which is far faster than hosted ones."""
    bidders = [Bidder(name, model="mine") for name in ("Ann", "Ben", "Cho")]
    chat = PaidChat(made=[], inner=SimulatedChat(settings=Simulated(latency_seconds=0.05)))
    Auction(seed=1, items=houses(2, seed=7), bidders=bidders, models={"mine": PRICED}).run(
        out=out, models={"mine": chat}
    )


@pytest.mark.parametrize("hold", [scripted, built_in, paid], ids=lambda hold: hold.__name__)
def test_what_syncing_costs(benchmark, figure, tmp_path, monkeypatch, hold):
    places, sync, waited, times = count(), os.fsync, [], {True: [], False: []}

    def timed(handle: int) -> None:
        began = time.perf_counter()
        sync(handle)
        if threading.current_thread() is threading.main_thread():  # other threads block no game
            waited.append(time.perf_counter() - began)

    def both() -> None:
        for is_synced in (True, False):
            patch_syncing(monkeypatch, timed if is_synced else lambda _: None)
            began = time.perf_counter()
            hold(tmp_path / str(next(places)))
            times[is_synced].append(time.perf_counter() - began)

    hold(tmp_path / "first")
    benchmark.pedantic(both, rounds=ROUNDS)
    with_it, without = (statistics.median(times[one]) for one in (True, False))
    share = sum(waited) / sum(times[True])
    measured = f"{share:.1%} of {1000 * with_it:.0f} ms in {len(waited) / ROUNDS:.0f} waits; {with_it / without:.3f}x"
    figure(f"syncing, {hold.__name__.replace('_', '-')}: share of a run that waits for the disk", "5%", measured)
