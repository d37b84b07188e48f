"""Summarises and measures the log of a run or a series, for `harbor auction`, `harbor replay` and `harbor score`.

Source of the metrics of a series: Chen et al. 2023, sec. 4.3 and B.3 (ranks over ten games).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from decimal import Decimal
from functools import partial
from statistics import fmean, linear_regression
from typing import Any

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import as_number
from harbor._core.basics.redaction import of_strangers
from harbor._core.log.events import AuctionHeld, LogOpened, SeatFailed, SeriesOpened, ThoughtFailed
from harbor._core.log.log import is_public, of_type
from harbor._core.log.log_entries import Entry
from harbor._games.game import Game, game_of
from harbor.evaluation._metrics.calls import Calls, Refusals, any_simulated, calls, is_simulated, refusals, unheeded
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, fits, kinds_in, measure, metric


@dataclass(frozen=True, slots=True)
class Failure:
    """A bidder whose seat or thoughts failed, with the number of failures and the first error."""

    bidder: str
    times: int
    first: str


@dataclass(frozen=True)
class Summary:
    """The summary of a run: standings, results of each part of the game, model calls and failures.

    `items` are the results of the parts of the game, and `parts` is the word for these parts: "items", "days" or
    "runs". `figures` are numbers about the whole game. `seconds` is the duration of the run. `simulated` says whether
    the built-in model played any bidder. `unheeded` names the bidders whose personas the built-in model does not read
    in this game. A public log has no private events: `seed` and `calls` are then None.
    """

    run: str
    seed: int | None
    standings: Sequence[Any]
    items: Sequence[Any]
    calls: Calls | None
    failures: list[Failure]
    refusals: list[Refusals]
    seconds: float
    simulated: bool
    parts: str = "items"
    figures: dict[str, float] = field(default_factory=dict)
    unheeded: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints; amounts are dollars."""
        return {
            "run": self.run,
            "seed": self.seed,
            "standings": [_plain(row) for row in self.standings],
            self.parts: [_plain(row) for row in self.items],
            **self.figures,
            "calls": self.calls.as_json() if self.calls else None,
            "seconds": round(self.seconds, 3),
            "simulated": self.simulated,
            "unheeded": self.unheeded,
        }


def failures(*logs: Sequence[Entry]) -> list[Failure]:
    """List the bidders whose seats or thoughts failed in any of these logs, in the order of their first failures."""
    details: dict[str, list[str]] = {}
    for entry in (entry for log in logs for entry in log):
        if isinstance(entry.event, SeatFailed | ThoughtFailed):
            details.setdefault(entry.event.bidder, []).append(entry.event.detail)
    return [Failure(bidder, len(said), said[0]) for bidder, said in details.items()]


def summarise(entries: Sequence[Entry]) -> Summary:
    """Summarise the log of a run."""
    opened = of_type(entries, LogOpened)[0]
    played = game_of(entries)
    public = is_public(entries)
    told = entries if played.measures.public or not public else ()
    game = played.measures
    return Summary(
        run=opened.run,
        seed=opened.seed,
        standings=_rows(f"the standings of the game {played.name!r}", game.standings, told),
        items=_rows(f"the results of the game {played.name!r}", game.items, told),
        calls=None if public else calls(entries),
        failures=failures(entries),
        refusals=refusals(entries),
        seconds=round(entries[-1].at, 6),
        simulated=is_simulated(entries),
        parts=game.parts,
        figures=_figures(played, told),
        unheeded=unheeded(entries, played),
    )


def _figures(game: Game, entries: Sequence[Entry]) -> dict[str, float]:
    if not entries:
        return {}
    return of_strangers(f"the figures of the game {game.name!r}", lambda: game.measures.figures(entries))


def _rows(what: str, measure: Callable[[Sequence[Entry]], Sequence[Any]], entries: Sequence[Entry]) -> Sequence[Any]:
    """Return the rows that a function of a game makes from a log; no rows if the log has no entries.

    The function may be of another package, so its rows are checked.
    """
    if not entries:
        return []
    rows = of_strangers(what, lambda: list(measure(entries)))
    if not all(is_dataclass(row) and not isinstance(row, type) for row in rows):
        raise ConfigError(f"{what} are no rows; give dataclasses, whose fields are the columns")
    return rows


def _plain(row: Any) -> dict[str, Any]:
    """Return a row as plain JSON, without its field `closed`."""
    values = {name: as_number(value) if isinstance(value, Decimal) else value for name, value in asdict(row).items()}
    values.pop("closed", None)
    return values


@dataclass(frozen=True)
class RunScore:
    """The measurements of a run or a series.

    `simulated` says whether the built-in model played any bidder. `left_out` maps each installed metric that can't
    measure this game to the reason.
    """

    run: str
    seed: int | None
    simulated: bool
    measurements: tuple[Measurement, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return asdict(self)


def score(entries: Sequence[Entry], names: Iterable[str] = ()) -> RunScore:
    """Measure a log by the metrics with these names; without names, by all installed metrics that fit its game."""
    opened, asked = of_type(entries, LogOpened)[0], list(names)
    misfits = {} if asked else fits(kinds_in(entries))
    wanted = asked or [name for name, why in misfits.items() if not why]
    return RunScore(
        opened.run,
        opened.seed,
        is_simulated(entries),
        tuple(measure(wanted, entries)),
        {name: why for name, why in misfits.items() if why},
    )


_metric = partial(metric, of=SeriesOpened, no_data="no auction is over yet", place="auction")


@dataclass(frozen=True)
class SeriesSummary:
    """The summary of a series: of those of its auctions that are over.

    `length` is the planned number of auctions. `mean_ranks` and `total_profits` (in dollars) name the bidder with the
    best mean rank first; rank 1 is the best. `calls`, `failures` and `refusals` are over all auctions; without the logs
    of the auctions, `calls` is None and the other two are empty. `simulated` says whether the built-in model played any
    bidder.
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
        """Return the object that `--json` prints; profits are dollars."""
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
    """Return whether a log is that of a series."""
    return any(isinstance(entry.event, SeriesOpened) for entry in entries[:2])


def summarise_series(entries: Sequence[Entry], logs: Sequence[Sequence[Entry]] = ()) -> SeriesSummary:
    """Summarise the log of a series; `logs` are the logs of its auctions, in which the model calls are recorded."""
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
    """Measure each bidder's rank by profit in each auction of a series; `at` is the number of the auction.

    Rank 1 is the best, and bidders with equal profits share a rank.

    Source: Chen et al. 2023, sec. 4.3 and B.3.
    """
    return [
        Measurement(name, float(rank), bidder, at=one.auction)
        for one in of_type(entries, AuctionHeld)
        for bidder, rank in one.ranks.items()
    ]


@_metric("profit in an auction", "dollars")
def series_profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's profit in each auction of a series, in dollars; `at` is the number of the auction.

    Source: Chen et al. 2023, sec. 4.3.
    """
    return [
        Measurement(name, float(profit), bidder, at=one.auction)
        for one in of_type(entries, AuctionHeld)
        for bidder, profit in one.profits.items()
    ]


@_metric("mean rank over the auctions", "rank")
def mean_rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean rank in the finished auctions of a series.

    Rank 1 is the best.

    Source: Chen et al. 2023, B.3.
    """
    return by_bidder(name, summarise_series(entries).mean_ranks)


@_metric("how much the rank changes from auction to auction; below 0 it gets better", "number")
def rank_trend(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the slope of each bidder's rank over the number of the auction, by least squares.

    If the slope is below 0, the rank gets better from auction to auction. The slope is missing if fewer than two
    auctions are over.

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
    """Measure each bidder's total profit over those auctions of a series that are over, in dollars.

    Source: Chen et al. 2023, B.3.
    """
    return by_bidder(name, summarise_series(entries).total_profits)
