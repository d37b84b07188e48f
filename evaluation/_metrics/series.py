"""How bidders do over a series of auctions: ranks, profits and learnings, auction by auction, from the series' log.

Source: Chen et al. 2023, sec. 4.3 and B.3 (ranks over ten games).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from statistics import fmean, linear_regression
from typing import Any

from harbor._core.events import AuctionHeld, LogOpened, SeriesOpened
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.money import as_number
from harbor.evaluation._metrics.calls import Calls, calls
from harbor.evaluation._metrics.lineup import any_simulated
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric
from harbor.evaluation._metrics.refusals import Refusals, refusals
from harbor.evaluation._metrics.summary import Failure, failures

_metric = partial(metric, of=SeriesOpened, no_data="no auction is over yet", place="auction")


@dataclass(frozen=True)
class SeriesSummary:
    """A series so far; `length` is how many auctions it has when it is over.

    `mean_ranks` and `total_profits`, in dollars, are over the auctions so far, the best mean rank first; 1 is
    the best rank. `calls` are those of its auctions (None: their logs were not given), and so are `failures` and
    `refusals`. `simulated` says whether the built-in model played any bidder.
    """

    run: str
    seed: int | None
    length: int
    auctions: list[AuctionHeld]
    mean_ranks: dict[str, float]
    total_profits: dict[str, Decimal]
    simulated: bool
    calls: Calls | None = None
    failures: list[Failure] = field(default_factory=list)
    refusals: list[Refusals] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints; profits are dollars."""
        auctions = [
            {
                "auction": one.auction,
                "seed": one.seed,
                "ranks": one.ranks,
                "profits": {bidder: as_number(profit) for bidder, profit in one.profits.items()},
                "learnings": one.learnings,
            }
            for one in self.auctions
        ]
        totals = {bidder: as_number(profit) for bidder, profit in self.total_profits.items()}
        means = {"mean_ranks": self.mean_ranks, "total_profits": totals}
        return {"run": self.run, "seed": self.seed, "length": self.length, "auctions": auctions, **means} | {
            "calls": self.calls.as_json() if self.calls else None,
            "simulated": self.simulated,
        }


def is_series(entries: Sequence[Entry]) -> bool:
    """Tell whether a log is that of a series."""
    return any(isinstance(entry.event, SeriesOpened) for entry in entries[:2])


def summarise_series(entries: Sequence[Entry], logs: Sequence[Sequence[Entry]] = ()) -> SeriesSummary:
    """Measure the log of a series; `logs` are those of its auctions, which alone have the model calls."""
    opened, begun = of_type(entries, LogOpened)[0], of_type(entries, SeriesOpened)[0]
    auctions = of_type(entries, AuctionHeld)
    ranks = {bidder: [one.ranks[bidder] for one in auctions if bidder in one.ranks] for bidder in begun.players}
    means = {bidder: fmean(found) for bidder, found in ranks.items() if found}
    return SeriesSummary(
        run=opened.run,
        seed=opened.seed,
        length=begun.auctions,
        auctions=auctions,
        mean_ranks=dict(sorted(means.items(), key=lambda one: one[1])),
        total_profits={
            bidder: sum((one.profits[bidder] for one in auctions if bidder in one.profits), Decimal(0))
            for bidder in means
        },
        simulated=any_simulated(begun.players.values()),
        calls=calls(*logs) if logs else None,
        failures=failures(*logs),
        refusals=refusals(*logs),
    )


@_metric("rank by profit in an auction", "rank")
def series_rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Rank of each bidder by profit in each auction (`at`) of a series: 1 is the best, equals share the best rank.

    Source: Chen et al. 2023, sec. 4.3 and B.3.
    """
    return [
        Measurement(name, float(rank), bidder, at=one.auction)
        for one in of_type(entries, AuctionHeld)
        for bidder, rank in one.ranks.items()
    ]


@_metric("profit in an auction", "dollars")
def series_profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Profit of each bidder in each auction (`at`) of a series, dollars. Source: Chen et al. 2023, sec. 4.3."""
    return [
        Measurement(name, float(profit), bidder, at=one.auction)
        for one in of_type(entries, AuctionHeld)
        for bidder, profit in one.profits.items()
    ]


@_metric("mean rank over the auctions", "rank")
def mean_rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean of each bidder's ranks over the auctions of a series so far. Source: Chen et al. 2023, B.3."""
    return by_bidder(name, summarise_series(entries).mean_ranks)


@_metric("how much the rank changes from auction to auction; below 0 it gets better", "number")
def rank_trend(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Slope of each bidder's rank over the number of the auction, by least squares: below 0 it climbs.

    Source: Chen et al. 2023, sec. 4.3, Fig. 6 (which shows the paths).
    """
    auctions = [one for one in of_type(entries, AuctionHeld) if one.ranks]
    places = [one.auction for one in auctions]
    slopes = {
        bidder: linear_regression(places, [one.ranks[bidder] for one in auctions]).slope if len(auctions) > 1 else None
        for bidder in summarise_series(entries).mean_ranks
    }
    return by_bidder(name, slopes, "one auction has no trend")


@_metric("profit over the auctions", "dollars")
def total_profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Sum of each bidder's profits over the auctions of a series so far, dollars. Source: as `mean_rank`."""
    return by_bidder(name, summarise_series(entries).total_profits)
