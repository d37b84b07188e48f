"""Auctions per second of scripted policies alone, on one core. Nothing here fails for being slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor import Auction, Bidder, houses

AIMS = {(3, "minimum-raise", "memory"): "400", (3, "minimum-raise", "folder"): "100"}
AIMS[100, "minimum-raise", "memory"] = "10"
BEFORE = {3: "9 to 15", 100: "0.3"}


def population(bidders: int, rule: str) -> Auction:
    seats = [Bidder(f"Bidder {number}", rule=rule) for number in range(bidders)]
    return Auction(items=houses(10, seed=7), bidders=seats)


@pytest.mark.parametrize("kept", ["memory", "folder"])
@pytest.mark.parametrize("bidders", [3, 100])
@pytest.mark.parametrize("rule", ["minimum-raise", "truthful"])
def test_populations_of_scripts(benchmark, figure, tmp_path: Path, rule: str, bidders: int, kept: str):
    auction, runs = population(bidders, rule), iter(range(10**9))

    def hold() -> None:
        auction.run(out=tmp_path / str(next(runs)) if kept == "folder" else None)

    benchmark.pedantic(hold, rounds=300 if bidders == 3 else 5, warmup_rounds=1)
    name = f"{bidders} {rule} bidders, 10 items, {kept}: auctions a second"
    rate = f"{1 / benchmark.stats.stats.median:,.1f} (in the room: {BEFORE[bidders]})"
    figure(name, AIMS.get((bidders, rule, kept), ""), rate)
