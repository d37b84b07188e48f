"""The measures of sessions: payoffs, distance from equilibrium, the path of actions, broken rules.

Source: EconArena, sec. 3.2, A.2 and A.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import TypeVar

from harbor._core.acts import Tried
from harbor._core.events import BidderLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.sessions.results import Result, past_runs
from harbor._games.sessions.session import RunLabelled, SessionOpened


@dataclass(frozen=True, slots=True)
class PlayerStanding:
    """How a bidder did over the runs of a session.

    `points` and `earned` (dollars over all runs) are as in the functions of this module. `mean_assets` is dollars after
    a run. `payoff`, `payoff_ratio` and `deviation` are too: means over the runs,
    None where no equilibrium is known; `deviation` also where any common number is one.
    `broken_share` is the share of its runs with at least one failed bid, corrected or not. The entrance fee is charged
    in fewer runs: only where every attempt to answer failed.
    """

    bidder: str
    persona: str | None
    runs_won: int
    points: float
    earned: Decimal
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


T = TypeVar("T")
Series = dict[str, list[float]]
"""One number per run, by bidder."""


def standings(entries: Sequence[Entry]) -> list[PlayerStanding]:
    """Rank the bidders by mean payoff, or by mean assets where no equilibrium is known; equals are in seat order."""
    payoff, optimum, distance = payoffs(entries), optima(entries), deviations(entries)
    broken, score, gains = broken_shares(entries), points(entries), earnings(entries)
    results: dict[str, list[Result]] = {}
    for result in results_of(entries):
        results.setdefault(result.bidder, []).append(result)
    rows = []
    for label in of_type(entries, BidderLabelled):
        name = label.bidder
        mine = results.get(name, [])
        total = sum((settled.assets for settled in mine), Decimal(0))
        ratio = fmean(payoff[name]) / fmean(optimum[name]) if payoff.get(name) else None
        rows.append(
            PlayerStanding(
                name,
                " + ".join(label.personas) or None,
                sum(settled.won for settled in mine),
                score.get(name, 0.0),
                sum(gains.get(name, ()), Decimal(0)),
                round(total / len(mine), 2) if mine else Decimal(0),
                fmean(payoff[name]) if payoff.get(name) else None,
                ratio,
                fmean(distance[name]) if distance.get(name) else None,
                broken.get(name, 0.0),
            )
        )
    return sorted(rows, key=lambda row: (-(row.payoff or 0), -row.mean_assets))


def runs(entries: Sequence[Entry]) -> list[RunResult]:
    """List the auctions that are over, whether or not bidders were told their results."""
    return [
        RunResult(item, winners_of(events), next((event.paid for event in events if event.won), None), None)
        for item, events in by_run(entries).items()
    ]


def results_of(entries: Sequence[Entry]) -> list[Result]:
    """Give the results of all bidders, run by run."""
    return [result for past in past_runs(entry.event for entry in entries) for result in past.results]


def by_run(entries: Sequence[Entry]) -> dict[str, list[Result]]:
    """Give the results of all bidders, run by run."""
    settled: dict[str, list[Result]] = {}
    for result in results_of(entries):
        settled.setdefault(result.item, []).append(result)
    return settled


def winners_of(settled: Sequence[Result]) -> tuple[str, ...]:
    """Name the winners of a run."""
    return tuple(event.bidder for event in settled if event.won)


def points(entries: Sequence[Entry]) -> dict[str, float]:
    """Count the runs that each bidder won; the winners of a tie share the point."""
    found: dict[str, float] = {}
    for settled in by_run(entries).values():
        winners = winners_of(settled)
        for event in settled:
            found[event.bidder] = found.get(event.bidder, 0.0) + (1 / len(winners) if event.won else 0)
    return found


def earnings(entries: Sequence[Entry]) -> dict[str, list[Decimal]]:
    """Give the dollars that each bidder earned in each run: what it had afterwards, less what everyone began with.

    In an auction that is the value less the price, if it won, less the entrance fee for a broken rule; in a beauty
    contest its share of the prize.
    """
    found: dict[str, list[Decimal]] = {}
    for opened in _openings(entries):
        for event in results_of(entries):
            found.setdefault(event.bidder, []).append(event.assets - opened.assets)
    return found


def payoffs(entries: Sequence[Entry]) -> Series:
    """Give the payoff of each run: assets over assets in equilibrium; in a beauty contest, the share of the prize won.

    A run without a known equilibrium has none.
    """
    return _runs(entries, lambda game, event, ideal: game.payoff(event.assets, ideal))


def optima(entries: Sequence[Entry]) -> Series:
    """Give the payoff of each run in equilibrium: 1, and in a beauty contest of n bidders 1 / n.

    `payoff_ratio`, the published r, is the mean payoff over the mean of these.
    """
    return _runs(entries, lambda game, _, ideal: game.payoff(ideal, ideal))


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
    if not all(opened.has_distances for opened in _openings(entries)):
        return {}
    return _runs(entries, lambda game, event, ideal: game.distance(event.action, event.assets, ideal))


def paths(entries: Sequence[Entry]) -> dict[str, list[Decimal | None]]:
    """Give the path of actions: bids in dollars, or numbers, run by run (None: none)."""
    found: dict[str, list[Decimal | None]] = {}
    for event in results_of(entries):
        found.setdefault(event.bidder, []).append(event.action)
    return found


def broken_shares(entries: Sequence[Entry]) -> dict[str, float]:
    """Give the share of runs in which a bidder broke a rule: made a failed bid, whether or not it corrected it.

    The entrance fee is rarer: only where every attempt to answer failed, and never in a beauty contest.
    """
    failed = {(event.bidder, event.item) for event in of_type(entries, Tried)}
    played: dict[str, list[bool]] = {}
    for event in results_of(entries):
        played.setdefault(event.bidder, []).append((event.bidder, event.item) in failed)
    return {bidder: fmean(broke) for bidder, broke in played.items()}


def _openings(entries: Sequence[Entry]) -> list[SessionOpened]:
    return [entry.event for entry in entries if isinstance(entry.event, SessionOpened)]


def _runs(entries: Sequence[Entry], measure: Callable[[SessionOpened, Result, Decimal], T]) -> dict[str, list[T]]:
    """Measure each bidder's runs against its assets in equilibrium, where one is known."""
    ideals = {label.item: label.assets for label in of_type(entries, RunLabelled)}
    found: dict[str, list[T]] = {}
    for opened in _openings(entries):
        for event in results_of(entries):
            if event.item in ideals:
                found.setdefault(event.bidder, []).append(measure(opened, event, ideals[event.item][event.bidder]))
    return found
