"""Sessions of one-shot games: payoffs, distance from equilibrium, the path of actions, broken rules.

Source: EconArena, sec. 3.2, A.2 and A.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import SupportsFloat

from harbor._core.log_lines import Entry
from harbor._games.sessions.measures import Played, standings
from harbor._games.sessions.session import RunClosed, SessionOpened
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, measured, metric

_metric = partial(metric, of=SessionOpened, no_data="no run is over yet", place="run")


NO_EQUILIBRIUM = "no equilibrium to compare with is known, or no number was picked"
NO_DEVIATION = "no equilibrium to deviate from is known"


@_metric("dollars earned in all runs", "dollars", "skewed", better="higher")
def earned(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder earned in all runs together.

    In an auction: value minus price of the items won, minus entrance fees. In a beauty contest: the prizes, or shares
    of them. Source: EconArena, A.2 (assets after a run, less those before it).
    """
    return _column(name, "earned", entries)


@_metric("dollars earned in a run", "dollars", "skewed", better="higher")
def earned_by_run(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder earned in each run (`at`), as in `earned`. Source: EconArena, A.2."""
    return _path(name, Played.of(entries).earnings())


@_metric("points: runs won, where tied winners share one", "count", "skewed", shared=True, better="higher")
def points(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Points of each bidder: one for each run that it won; the winners of a tie share it. Source: Harbor's own."""
    return _column(name, "points", entries)


@_metric("mean payoff over the runs", "number", "skewed")
def payoff(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean payoff of each bidder over the runs: assets over assets in equilibrium, a ratio.

    In a beauty contest it is the share of the prize won. Source: EconArena, sec. 3.2.
    """
    return _column(name, "payoff", entries)


@_metric("mean payoff over that in equilibrium", "ratio", "skewed")
def payoff_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Ratio r of each bidder: its mean payoff over the mean payoff in equilibrium. Source: EconArena, A.3.1."""
    return _column(name, "payoff_ratio", entries)


@_metric("mean deviation from equilibrium", "number", "skewed", least=0)
def deviation(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean deviation of each bidder from equilibrium over the runs, a ratio: d as in `distances`.

    Source: EconArena, A.3.1.
    """
    return _column(name, "deviation", entries)


@_metric("deviation from equilibrium in a run", "number", "skewed", least=0, no_data=NO_DEVIATION)
def deviation_path(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Deviation of each bidder from equilibrium in each run (`at`), a ratio: d as in `distances`.

    Source: EconArena, sec. 4.3 (convergence).
    """
    unsolved = _unsolved(entries)
    return [measured(name, None, missing=unsolved)] if unsolved else _path(name, Played.of(entries).distances())


@_metric("bid or number in a run", "number", "skewed", least=0)
def action(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Bid in dollars, or number, of each bidder in each run (`at`): the path of actions. Source: EconArena, Fig. 5."""
    return _path(name, Played.of(entries).paths())


def _path(name: str, paths: Mapping[str, Sequence[SupportsFloat | None]]) -> list[Measurement]:
    return [
        measured(name, value, bidder, at=run, missing="no action")
        for bidder, path in paths.items()
        for run, value in enumerate(path, start=1)
    ]


@_metric("runs in which a rule was broken", "share", "skewed")
def broken_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of runs in which each bidder made a failed bid, corrected or not. Source: EconArena, sec. 4.4, Table 2."""
    played = Played.of(entries)
    runs = Counter(event.bidder for event in played.results)
    return [measured(name, share, bidder, counted=runs[bidder]) for bidder, share in played.broken_shares().items()]


def _unsolved(entries: Sequence[Entry]) -> str:
    """Say why no equilibrium of the game is known; empty if one is."""
    openings = (entry.event for entry in entries if isinstance(entry.event, SessionOpened))
    return next((f"no equilibrium is known: {opened.unsolved}" for opened in openings if opened.unsolved), "")


def _column(name: str, column: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a column of the standings; before the first run is over nothing is known of the bidders."""
    rows = standings(entries) if any(isinstance(entry.event, RunClosed) for entry in entries) else []
    values = {row.bidder: getattr(row, column) for row in rows}
    return by_bidder(name, values, _unsolved(entries) or NO_EQUILIBRIUM)
