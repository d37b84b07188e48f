"""Metrics of sessions of one-shot games, and of bidders' forecasts of rivals and recall of earlier runs.

Source: EconArena, sec. 3.2, A.2 and A.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from statistics import fmean
from typing import NamedTuple, SupportsFloat

from harbor._core.asking.asks import Bid
from harbor._core.log.acts import Acted, ActedSealed
from harbor._core.log.events import LotClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Expected, Stated
from harbor._games.sessions.measures import Played, standings
from harbor._games.sessions.session import RunClosed, SessionOpened
from harbor._games.water.rules import WaterOpened
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric, shares_by_bidder

_metric = partial(metric, of=SessionOpened, no_data="no run is over yet", place="run")


NO_EQUILIBRIUM = "no equilibrium to compare with is known, or no number was picked"
NO_DEVIATION = "no equilibrium to deviate from is known"


@_metric("dollars earned in all runs", "dollars", "skewed", better="higher")
def earned(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that each bidder earned in all runs together.

    In an auction: value minus price of the items won, minus entrance fees. In a beauty contest: the prizes, or shares
    of them. Source: EconArena, A.2 (assets after a run, less those before it).
    """
    return _column(name, "earned", entries)


@_metric("dollars earned in a run", "dollars", "skewed", better="higher")
def earned_by_run(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the dollars that each bidder earned in each run (`at`), as in `earned`. Source: EconArena, A.2."""
    return _path(name, Played.of(entries).earnings())


@_metric("points: runs won, where tied winners share one", "count", "skewed", shared=True, better="higher")
def points(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the points of each bidder: one for each run that it won; tied winners share it. Source: Harbor's own."""
    return _column(name, "points", entries)


@_metric("mean payoff over the runs", "number", "skewed")
def payoff(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean payoff over the runs: its assets divided by those in equilibrium.

    In a beauty contest, the payoff is the bidder's share of the prize. Source: EconArena, sec. 3.2.
    """
    return _column(name, "payoff", entries)


@_metric("mean payoff over that in equilibrium", "ratio", "skewed")
def payoff_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the ratio r of each bidder: its mean payoff over that in equilibrium. Source: EconArena, A.3.1."""
    return _column(name, "payoff_ratio", entries)


@_metric("mean deviation from equilibrium", "number", "skewed", least=0)
def deviation(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean deviation from equilibrium over the runs, a ratio: d as in `distances`.

    Source: EconArena, A.3.1.
    """
    return _column(name, "deviation", entries)


@_metric("deviation from equilibrium in a run", "number", "skewed", least=0, no_data=NO_DEVIATION)
def deviation_path(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's deviation from equilibrium in each run (`at`), a ratio: d as in `distances`.

    Source: EconArena, sec. 4.3 (convergence).
    """
    unsolved = _unsolved(entries)
    return [measured(name, None, missing=unsolved)] if unsolved else _path(name, Played.of(entries).distances())


@_metric("bid or number in a run", "number", "skewed", least=0)
def action(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's bid in dollars, or number, in each run (`at`): the path of actions.

    Source: EconArena, Fig. 5.
    """
    return _path(name, Played.of(entries).paths())


def _path(name: str, paths: Mapping[str, Sequence[SupportsFloat | None]]) -> list[Measurement]:
    return [
        measured(name, value, bidder, at=run, missing="no action")
        for bidder, path in paths.items()
        for run, value in enumerate(path, start=1)
    ]


@_metric("runs in which a rule was broken", "share", "skewed")
def broken_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the share of runs with a failed bid of each bidder, corrected or not.

    Source: EconArena, sec. 4.4, Table 2.
    """
    played = Played.of(entries)
    runs = Counter(event.bidder for event in played.results)
    return [measured(name, share, bidder, counted=runs[bidder]) for bidder, share in played.broken_shares().items()]


def _unsolved(entries: Sequence[Entry]) -> str:
    """Say why no equilibrium of the game is known; empty if one is known."""
    openings = (entry.event for entry in entries if isinstance(entry.event, SessionOpened))
    return next((f"no equilibrium is known: {opened.unsolved}" for opened in openings if opened.unsolved), "")


def _column(name: str, column: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a column of the standings; empty before the first run is over."""
    rows = standings(entries) if any(isinstance(entry.event, RunClosed) for entry in entries) else []
    values = {row.bidder: getattr(row, column) for row in rows}
    return by_bidder(name, values, _unsolved(entries) or NO_EQUILIBRIUM)


class Forecast(NamedTuple):
    """A bidder's forecast for a rival in a run or day, and the rival's bid: dollars, or numbers that it picked."""

    bidder: str
    rival: str
    expected: Decimal
    came: Decimal


def forecasts(entries: Sequence[Entry]) -> Iterator[Forecast]:
    """Yield the last forecast for each rival in a run or day, with its last bid; leave out rivals without a bid."""
    expected: dict[str, Expected] = {}
    did: dict[str, Decimal] = {}
    for entry in entries:
        match entry.event:
            case Expected(bidder=bidder) as one:
                expected[bidder] = one
            case Acted(bidder=bidder, act=Bid(amount=amount)) | ActedSealed(bidder=bidder, act=Bid(amount=amount)):
                did[bidder] = amount
            case LotClosed():
                for one in expected.values():
                    known = ((rival, bid) for rival, bid in one.bids.items() if rival in did)
                    yield from (Forecast(one.bidder, rival, bid, did[rival]) for rival, bid in known)
                expected, did = {}, {}


@metric(
    "distance of what rivals did from what was expected",
    "number",
    "skewed",
    of=(SessionOpened, WaterOpened),
    no_data="nobody has forecast what a rival does that then bid",
    least=0,
    better="lower",
)
def forecast_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the error of each bidder's forecasts of rivals: mean |expected - last bid| over rivals and runs or days.

    The unit is dollars, or in a beauty contest the numbers picked. A rival without a bid is left out. In the protocol
    with one most popular answer, that answer is the forecast for each rival; if rivals differ, its error can't be 0.
    Source: Harbor's own.
    """
    errors: dict[str, list[float]] = {}
    for one in forecasts(entries):
        errors.setdefault(one.bidder, []).append(float(abs(one.expected - one.came)))
    return by_bidder(name, {bidder: fmean(off) for bidder, off in errors.items()})


@metric(
    "wrong answers on what came of the run before",
    "share",
    "skewed",
    of=SessionOpened,
    no_data="nobody was asked what came of a run",
    better="lower",
)
def recall_error_rate(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the share of wrong answers of each bidder about its own bid, number or payoff in the run before.

    Only forms of answer that ask for it count. A missing answer is wrong. An answer right to the cent is right.

    Source: EconArena, App. B.4 and B.8 ("previous answer", "previous bid", "previous payoff").
    """
    asked = [one for one in of_type(entries, Stated) if one.recalled]
    wrong, of = Counter[str](), Counter[str]()
    for one in asked:
        wrong[one.bidder] += sum(not right for right in one.recalled.values())
        of[one.bidder] += len(one.recalled)
    return shares_by_bidder(name, wrong, of, "")
