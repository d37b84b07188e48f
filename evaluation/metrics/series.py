"""How bidders do over a series of auctions: ranks, profits and learnings, auction by auction, from the series' log.

Source: Chen et al. 2023, sec. 4.3 and B.3 (ranks over ten games).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from harbor.events import AuctionHeld, LogOpened
from harbor.log import Entry, of_type
from harbor.money import as_number


@dataclass(frozen=True)
class SeriesSummary:
    """A series so far; `mean_ranks` are over its auctions, 1 is best."""

    run: str
    seed: int
    auctions: list[AuctionHeld]
    mean_ranks: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints; profits are dollars."""
        auctions = [
            {
                "auction": held.auction,
                "seed": held.seed,
                "ranks": held.ranks,
                "profits": {bidder: as_number(profit) for bidder, profit in held.profits.items()},
                "learnings": held.learnings,
            }
            for held in self.auctions
        ]
        return {"run": self.run, "seed": self.seed, "auctions": auctions, "mean_ranks": self.mean_ranks}


def summarise_series(entries: Sequence[Entry]) -> SeriesSummary:
    """Measure the log of a series."""
    opened, held = of_type(entries, LogOpened)[0], of_type(entries, AuctionHeld)
    bidders = list(held[0].ranks) if held else []
    means = {bidder: fmean(one.ranks[bidder] for one in held) for bidder in bidders}
    return SeriesSummary(opened.run, opened.seed, held, dict(sorted(means.items(), key=lambda one: one[1])))
