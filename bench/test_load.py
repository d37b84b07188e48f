"""Load: a million settlements of each game, a thousand auctions in a process, large games, many concurrent games."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from harbor import Auction, Bidder, Item, houses
from harbor._core.log.log import difference
from support.settlements import CHECKS, settle_games

SETTLEMENTS = int(os.environ.get("SETTLEMENTS", "1000000"))
Figure = Callable[[str, str, str], None]


@pytest.mark.parametrize("game", sorted(CHECKS))
def test_every_settlement_follows_from_the_rules(figure: Figure, game: str):
    games = settle_games(game, SETTLEMENTS, seed=15)
    figure(f"{game}: settlements that break a rule", "0 of 1,000,000", f"0 of {SETTLEMENTS:,} in {games:,} games")


def small(seed: int, model: str = "simulated") -> Auction:
    seats = [Bidder("Ann", model=model), Bidder("Ben", model=model), Bidder("Cho", rule="minimum-raise")]
    return Auction(items=houses(2, seed=seed), bidders=seats, seed=seed)


def test_a_thousand_auctions_leave_memory_and_handles_flat(figure: Figure, tmp_path: Path):
    process, used = psutil.Process(), list[tuple[int, int]]()
    for number in range(1_000):
        small(number).run(out=tmp_path / str(number))
        if number % 100 == 99:
            gc.collect()
            used.append((process.memory_info().rss // 2**20, process.num_fds()))
    told = f"{used[1][0]} MB and {used[1][1]} handles after 200, {used[-1][0]} MB and {used[-1][1]} after 1,000"
    figure("1,000 auctions in one process", "flat", told)
    assert used[-1][1] <= used[1][1]
    assert used[-1][0] <= used[1][0] * 1.1


def test_fifty_bidders_and_fifty_items(figure: Figure):
    seats = [Bidder(f"Bidder {number}", rule="minimum-raise", budget=200_000) for number in range(50)]
    items = [Item(name=f"Item {number}", start=1_000, true_value=2_000) for number in range(50)]
    result = Auction(items=items, bidders=seats, seed=1).run()
    figure("50 scripted bidders, 50 items: events", "it ends", f"{len(result.log):,}")


def test_a_hundred_games_at_once_go_as_each_does_alone(figure: Figure):
    async def at_once() -> list[list[object]]:
        results = await asyncio.gather(*(small(number).arun() for number in range(100)))
        return [[entry.event for entry in result.log] for result in results]

    crowd = asyncio.run(at_once())
    alone = [[entry.event for entry in small(number).run().log] for number in range(100)]
    equal = sum(
        len(one) == len(other) and not any(map(difference, one, other)) for one, other in zip(crowd, alone, strict=True)
    )
    figure("100 games at once: equal to the same alone", "100", str(equal))
    assert equal == 100
