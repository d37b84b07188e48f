"""Sessions of one-shot games: payoffs, distance from equilibrium, the path of actions, broken rules.

Source: EconArena, sec. 3.2, A.2 and A.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from statistics import fmean
from typing import SupportsFloat, TypeVar

from harbor._core.events import BidderLabelled, BidFailed
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.beauty.rules import BeautyOpened, target
from harbor._games.sessions.session import RunLabelled, RunSettled
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric

_metric = partial(metric, game="session", no_data="no run is over yet")


@dataclass(frozen=True, slots=True)
class PlayerStanding:
    """How a bidder did over the runs of a session.

    `mean_assets` is dollars after a run. `payoff`, `payoff_ratio` and `deviation` are as in the functions of this
    module: means over the runs, None where no equilibrium is known; `deviation` also where any common number is one.
    `broken_share` is the share of its runs with at least one failed bid, corrected or not. The entrance fee is charged
    in fewer runs: only where every attempt to answer failed.
    """

    bidder: str
    persona: str | None
    runs_won: int
    mean_assets: Decimal
    payoff: float | None
    payoff_ratio: float | None
    deviation: float | None
    broken_share: float


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run went: its winners, the price in dollars in an auction, the target number in a beauty contest."""

    name: str
    winners: tuple[str, ...]
    price: Decimal | None
    target: float | None


NO_EQUILIBRIUM = "no equilibrium to compare with is known, or no number was picked"
T = TypeVar("T")
Series = dict[str, list[float]]
"""One number per run, by bidder."""


def standings(entries: Sequence[Entry]) -> list[PlayerStanding]:
    """Rank the bidders by mean payoff, or by mean assets where no equilibrium is known; equals are in seat order."""
    payoff, optimum, distance = payoffs(entries), optima(entries), deviations(entries)
    broken = broken_shares(entries)
    rows = []
    for label in of_type(entries, BidderLabelled):
        name = label.bidder
        mine = [settled for settled in of_type(entries, RunSettled) if settled.bidder == name]
        total = sum((settled.assets for settled in mine), Decimal(0))
        ratio = fmean(payoff[name]) / fmean(optimum[name]) if payoff.get(name) else None
        rows.append(
            PlayerStanding(
                name,
                " + ".join(label.personas) or None,
                sum(settled.won for settled in mine),
                round(total / len(mine), 2) if mine else Decimal(0),
                fmean(payoff[name]) if payoff.get(name) else None,
                ratio,
                fmean(distance[name]) if distance.get(name) else None,
                broken.get(name, 0.0),
            )
        )
    return sorted(rows, key=lambda row: (-(row.payoff or 0), -row.mean_assets))


def runs(entries: Sequence[Entry]) -> list[RunResult]:
    """List the runs that are over, whether or not bidders were told their results."""
    settled: dict[str, list[RunSettled]] = {}
    for event in of_type(entries, RunSettled):
        settled.setdefault(event.item, []).append(event)
    contest = next(iter(of_type(entries, BeautyOpened)), None)
    return [_run(item, events, contest) for item, events in settled.items()]


def _run(item: str, settled: list[RunSettled], contest: BeautyOpened | None) -> RunResult:
    winners = tuple(event.bidder for event in settled if event.won)
    if contest is None:
        return RunResult(item, winners, next((event.paid for event in settled if event.won), None), None)
    numbers = [event.action for event in settled if event.action is not None]
    return RunResult(item, winners, None, float(target(numbers, contest.fraction)) if numbers else None)


def payoffs(entries: Sequence[Entry]) -> Series:
    """Give the payoff of each run: assets over assets in equilibrium; in a beauty contest, the share of the prize won.

    A run without a known equilibrium has none.
    """
    prize = _prize(entries)
    return _runs(entries, lambda event, ideal: float(event.assets / (prize or ideal.assets[event.bidder])))


def optima(entries: Sequence[Entry]) -> Series:
    """Give the payoff of each run in equilibrium: 1, and in a beauty contest of n bidders 1 / n.

    `payoff_ratio`, the published r, is the mean payoff over the mean of these.
    """
    prize = _prize(entries)
    return _runs(entries, lambda event, ideal: float(ideal.assets[event.bidder] / prize) if prize else 1.0)


def deviations(entries: Sequence[Entry]) -> Series:
    """Give the deviations from equilibrium, of the runs that have one; see `distances`."""
    kept = {name: [one for one in path if one is not None] for name, path in distances(entries).items()}
    return {name: found for name, found in kept.items() if found}


def distances(entries: Sequence[Entry]) -> dict[str, list[float | None]]:
    """Give the deviation from equilibrium of each run: d = |assets / assets in equilibrium - 1|.

    In a beauty contest d is taken on the number itself. The equilibrium is 0, by which nothing can be divided, so d is
    number / bound: 0 in equilibrium, 1 for the highest number. A run in which no number was picked has None. With the
    fraction 1 any number that all pick is an equilibrium, so there is no d.
    """
    contest = next(iter(of_type(entries, BeautyOpened)), None)
    if contest is None:
        return _runs(entries, lambda event, ideal: abs(float(event.assets / ideal.assets[event.bidder]) - 1))
    if contest.fraction == 1:
        return {}
    return _runs(entries, lambda event, _: None if event.action is None else float(event.action / contest.bound))


def paths(entries: Sequence[Entry]) -> dict[str, list[Decimal | None]]:
    """Give the path of actions: bids in dollars, or numbers, run by run (None: none)."""
    found: dict[str, list[Decimal | None]] = {}
    for event in of_type(entries, RunSettled):
        found.setdefault(event.bidder, []).append(event.action)
    return found


def broken_shares(entries: Sequence[Entry]) -> dict[str, float]:
    """Give the share of runs in which a bidder broke a rule: made a failed bid, whether or not it corrected it.

    The entrance fee is rarer: only where every attempt to answer failed, and never in a beauty contest.
    """
    failed = {(event.bidder, event.item) for event in of_type(entries, BidFailed)}
    played: dict[str, list[bool]] = {}
    for event in of_type(entries, RunSettled):
        played.setdefault(event.bidder, []).append((event.bidder, event.item) in failed)
    return {bidder: fmean(broke) for bidder, broke in played.items()}


def _prize(entries: Sequence[Entry]) -> Decimal | None:
    return next((opened.prize for opened in of_type(entries, BeautyOpened)), None)


def _runs(entries: Sequence[Entry], measure: Callable[[RunSettled, RunLabelled], T]) -> dict[str, list[T]]:
    """Measure each bidder's runs against their equilibrium, where one is known."""
    ideals = {label.item: label for label in of_type(entries, RunLabelled)}
    found: dict[str, list[T]] = {}
    for event in of_type(entries, RunSettled):
        if event.item in ideals:
            found.setdefault(event.bidder, []).append(measure(event, ideals[event.item]))
    return found


@_metric("mean payoff over the runs", "number", "skewed")
def payoff(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean payoff of each bidder over the runs: assets over assets in equilibrium, a ratio.

    In a beauty contest it is the share of the prize won. Source: EconArena, sec. 3.2.
    """
    return by_bidder(name, {row.bidder: row.payoff for row in _players(entries)}, NO_EQUILIBRIUM)


@_metric("mean payoff over that in equilibrium", "ratio", "skewed")
def payoff_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Ratio r of each bidder: its mean payoff over the mean payoff in equilibrium. Source: EconArena, A.3.1."""
    return by_bidder(name, {row.bidder: row.payoff_ratio for row in _players(entries)}, NO_EQUILIBRIUM)


@_metric("mean deviation from equilibrium", "number", "skewed")
def deviation(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean deviation of each bidder from equilibrium over the runs, a ratio: d as in `distances`.

    Source: EconArena, A.3.1.
    """
    return by_bidder(name, {row.bidder: row.deviation for row in _players(entries)}, NO_EQUILIBRIUM)


@_metric("deviation from equilibrium in a run", "number", "skewed", no_data="no equilibrium to deviate from is known")
def deviation_path(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Deviation of each bidder from equilibrium in each run (`at`), a ratio: d as in `distances`.

    Source: EconArena, sec. 4.3 (convergence).
    """
    return _path(name, distances(entries))


@_metric("bid or number in a run", "number", "skewed")
def action(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Bid in dollars, or number, of each bidder in each run (`at`): the path of actions. Source: EconArena, Fig. 5."""
    return _path(name, paths(entries))


def _path(name: str, paths: Mapping[str, Sequence[SupportsFloat | None]]) -> list[Measurement]:
    return [
        measured(name, value, bidder, at=run, missing="no action")
        for bidder, path in paths.items()
        for run, value in enumerate(path, start=1)
    ]


@_metric("runs in which a rule was broken", "share", "skewed")
def broken_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of runs in which each bidder made a failed bid, corrected or not. Source: EconArena, sec. 4.4, Table 2."""
    return by_bidder(name, broken_shares(entries))


def _players(entries: Sequence[Entry]) -> list[PlayerStanding]:
    """Give the standings, but none before the first run is over: nothing is known of the bidders then."""
    return standings(entries) if of_type(entries, RunSettled) else []
