"""Measures of a session, computed from the results of its runs: payoffs, deviation from equilibrium, actions, faults.

The results of a run are computed from its events: acts, outcomes and signals. A reader that may not see all of these
events gets fewer results.
Source: EconArena, sec. 3.2, A.2 and A.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import fmean
from typing import NamedTuple, TypeVar

from harbor._core.asking.asks import Bid
from harbor._core.basics.numbers import Claim
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Signal, Tried
from harbor._core.log.events import BidderLabelled, Event
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.outcomes import GETS, PAYS, Outcomes
from harbor._games.sessions.session import RunClosed, RunLabelled, RunOpened, SessionOpened

NOTHING = Decimal(0)
Actions = dict[str, Claim | None]
"""The action of each player in a run, in seat order (None: the player made no bid)."""


class Result(NamedTuple):
    """A player's result of a run.

    `item` is the name of the run. `action` is the player's bid or number (None: it made none). `paid` is the price in
    dollars, `fee` the entrance fee for a broken rule, and `assets` the player's dollars after the run. `value` is the
    worth of the item to the player (None: not told).
    """

    bidder: str
    item: str
    action: Claim | None
    won: bool
    paid: Decimal
    fee: Decimal
    assets: Decimal
    value: Decimal | None


class Past(NamedTuple):
    """A run that is over: the event of its end, the actions that were made public, and the results that are known."""

    closed: RunClosed
    shown: Actions
    results: tuple[Result, ...]


@dataclass
class Sessions:
    """Follows the events of a session and computes the result of each run.

    From a player's events come that player's own results; from the whole log, the results of all players; from public
    events alone, no results.
    """

    opened: SessionOpened | None = None
    _run: _Run = field(default_factory=lambda: _Run())

    def note(self, event: Event) -> Past | None:
        """Process one event; return the run that the event closes, or None if it closes none."""
        match event:
            case SessionOpened():
                self.opened = event
            case RunOpened():
                self._run = _Run()
            case RunClosed() if self.opened:
                return self._run.past(event, self.opened)
            case _:
                self._run.note(event)
        return None


@dataclass
class _Run:
    """A run that is not over; `known` are the players whose results can be computed."""

    actions: Actions = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    winners: set[str] = field(default_factory=set)
    told: Outcomes = field(default_factory=Outcomes)
    is_shown: bool = False

    def note(self, event: Event) -> None:
        """Process one event; if a player bids several times in the run, its last bid counts."""
        self.told.note(event)
        if isinstance(event, ActedSealed | Signal):
            self.known.add(event.bidder)
        if isinstance(event, Acted | ActedSealed):
            bidder, act = event.bidder, event.act
            self.actions[bidder] = act.amount if isinstance(act, Bid) else self.actions.get(bidder)
            self.is_shown |= isinstance(event, Acted)
        elif isinstance(event, GETS):
            self.winners.add(event.bidder)
        elif isinstance(event, PAYS) and event.payer == HOUSE:
            self.winners.add(event.payee)

    def past(self, closed: RunClosed, opened: SessionOpened) -> Past:
        """Return the finished run; `closed` is the event of its end."""
        shown = {name: self.actions.get(name) for name in opened.bidders} if self.is_shown else {}
        results = [self._result(name, closed.item, opened) for name in opened.bidders if name in self.known]
        return Past(closed, shown, tuple(results))

    def _result(self, name: str, item: str, opened: SessionOpened) -> Result:
        mine, won, value = self.told.account(name), name in self.winners, self.told.worths.of(name, item)
        left = opened.assets + mine.received - mine.spent + (value or NOTHING if won else NOTHING)
        return Result(name, item, self.actions.get(name), won, mine.paid.get(item, NOTHING), mine.fees, left, value)


def past_runs(events: Iterable[Event]) -> Iterator[Past]:
    """Yield the runs that are over, in order."""
    fold = Sessions()
    for event in events:
        if (past := fold.note(event)) is not None:
            yield past


@dataclass(frozen=True, slots=True)
class PlayerStanding:
    """The result of a bidder over the runs of a session; `Played` defines the measures.

    `earned` is the dollars that the bidder earned in all runs, and `mean_assets` its mean dollars after a run.
    `payoff`, `payoff_ratio` and `deviation` are means over the runs, and None if no equilibrium is known; `deviation`
    is also None if any number that all players pick is an equilibrium. `broken_share` is the share of runs in which the
    bidder made at least one failed bid, even if it corrected that bid. The entrance fee is charged in fewer runs: only
    if every attempt to answer failed.
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
    """The result of a run: its winners, and the price in dollars (auction) or the target number (beauty contest)."""

    name: str
    winners: tuple[str, ...]
    price: Decimal | None
    target: float | None


T = TypeVar("T")
Series = dict[str, list[float]]
"""One number per run, by bidder."""
Measured = Callable[[SessionOpened, Result, Decimal], T]
"""A function that measures a player's run, given the session's opening, the result, and the assets in equilibrium."""


@dataclass(frozen=True)
class Played:
    """The runs of a session that are over, with the results of all bidders and the outcomes in equilibrium.

    `opened` is None if the session has not opened. `ideals` maps each run with a known equilibrium to the assets of
    each bidder in equilibrium. `failed` contains each pair of bidder and run in which the bidder made a failed bid.
    """

    opened: SessionOpened | None
    results: Sequence[Result]
    ideals: Mapping[str, Mapping[str, Decimal]]
    failed: Collection[tuple[str, str]]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Played:
        """Read the runs from a log."""
        opened = next((entry.event for entry in entries if isinstance(entry.event, SessionOpened)), None)
        ideals = {label.item: label.assets for label in of_type(entries, RunLabelled)}
        failed = {(event.bidder, event.item) for event in of_type(entries, Tried)}
        return cls(opened, results_of(entries), ideals, failed)

    def by_run(self) -> dict[str, list[Result]]:
        """Return the results of all bidders by run."""
        return _grouped(self.results, lambda result: result.item)

    def points(self) -> dict[str, float]:
        """Return the number of runs that each bidder won; the winners of a tie share the point."""
        found: dict[str, float] = {}
        for settled in self.by_run().values():
            winners = winners_of(settled)
            for event in settled:
                found[event.bidder] = found.get(event.bidder, 0.0) + (1 / len(winners) if event.won else 0)
        return found

    def earnings(self) -> dict[str, list[Decimal]]:
        """Return the dollars that each bidder earned in each run: its assets after the run minus those before it.

        In an auction these are the value of the item minus its price if the bidder won, minus the entrance fee if it
        broke a rule. In a beauty contest they are the bidder's share of the prize.
        """
        start = self.opened.assets if self.opened else Decimal(0)
        return self._each(lambda result: result.assets - start)

    def payoffs(self) -> Series:
        """Return each bidder's payoff in each run; a run without a known equilibrium has none.

        In an auction, the payoff is the bidder's assets divided by its assets in equilibrium. In a beauty contest, it
        is the bidder's share of the prize.
        """
        return self._against(lambda game, event, ideal: game.payoff(event.assets, ideal))

    def optima(self) -> Series:
        """Return the payoff in equilibrium of each run: 1 in an auction, and 1 / n in a beauty contest of n bidders.

        `payoff_ratio`, the source's r, is a bidder's mean payoff divided by its mean payoff in equilibrium.
        """
        return self._against(lambda game, _, ideal: game.payoff(ideal, ideal))

    def deviations(self) -> Series:
        """Return each bidder's deviations from equilibrium, without the runs that have None; see `distances`."""
        kept = {name: [one for one in path if one is not None] for name, path in self.distances().items()}
        return {name: found for name, found in kept.items() if found}

    def distances(self) -> dict[str, list[float | None]]:
        """Return the deviation from equilibrium of each run: d = |assets / assets in equilibrium - 1|.

        In a beauty contest the number in equilibrium is 0, and division by 0 is undefined. So d = number / bound, where
        the bound is the highest number that may be picked: d is 0 in equilibrium, 1 for the highest number, and None if
        the bidder picked no number. If the target is the mean itself (fraction 1), any number that all players pick is
        an equilibrium, so the result is empty.
        """
        if self.opened is None or not self.opened.has_distances:
            return {}
        return self._against(lambda game, event, ideal: game.distance(event.action, event.assets, ideal))

    def paths(self) -> dict[str, list[Decimal | None]]:
        """Return each bidder's action in each run: a bid in dollars, or the number that it picked (None: no action)."""
        return self._each(lambda result: result.action)

    def broken_shares(self) -> dict[str, float]:
        """Return the share of runs in which each bidder made a failed bid, even if it corrected that bid.

        The entrance fee is charged in fewer runs: only if every attempt to answer failed, and never in a beauty
        contest.
        """
        broke = self._each(lambda result: (result.bidder, result.item) in self.failed)
        return {bidder: fmean(runs) for bidder, runs in broke.items()}

    def _each(self, measure: Callable[[Result], T]) -> dict[str, list[T]]:
        """Return the measure of each run, by bidder."""
        grouped = _grouped(self.results, lambda result: result.bidder)
        return {bidder: [measure(result) for result in own] for bidder, own in grouped.items()}

    def _against(self, measure: Measured[T]) -> dict[str, list[T]]:
        """Return a measure that compares each run with equilibrium, by bidder; a run without a known one is skipped."""
        found: dict[str, list[T]] = {}
        if self.opened is None:
            return found
        for event in self.results:
            if event.item in self.ideals:
                ideal = self.ideals[event.item][event.bidder]
                found.setdefault(event.bidder, []).append(measure(self.opened, event, ideal))
        return found


def _grouped(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(key(result), []).append(result)
    return found


def standings(entries: Sequence[Entry]) -> list[PlayerStanding]:
    """Rank the bidders by mean payoff, or by mean assets if no equilibrium is known.

    Bidders that are equal are in seat order.
    """
    played = Played.of(entries)
    payoff, optimum, distance = played.payoffs(), played.optima(), played.deviations()
    broken, score, gains = played.broken_shares(), played.points(), played.earnings()
    results = _grouped(played.results, lambda result: result.bidder)
    rows = []
    for label in of_type(entries, BidderLabelled):
        name = label.bidder
        mine = results.get(name, [])
        total = sum((settled.assets for settled in mine), Decimal(0))
        best = fmean(optimum[name]) if optimum.get(name) else 0  # 0: the prize has fewer cents than players
        ratio = fmean(payoff[name]) / best if best else None
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
    """List the results of the auctions that are over, whether or not the bidders were told them."""
    return [
        RunResult(item, winners_of(events), next((event.paid for event in events if event.won), None), None)
        for item, events in Played.of(entries).by_run().items()
    ]


def results_of(entries: Sequence[Entry]) -> list[Result]:
    """Return the results of all bidders, in the order of the runs."""
    return [result for past in past_runs(entry.event for entry in entries) for result in past.results]


def winners_of(settled: Sequence[Result]) -> tuple[str, ...]:
    """Return the winners of a run."""
    return tuple(event.bidder for event in settled if event.won)
