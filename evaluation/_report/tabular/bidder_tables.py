"""A metric by arm and condition (rows) and bidder (columns), our numbers first, then the published ones.

A paper's table, its CSV file and the short table in a terminal are written from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harbor.evaluation._analysis.findings import Analysis
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._metrics.measurement import metric_or_none
from harbor.evaluation._report.tabular.formatting import unit_of, write
from harbor.evaluation._report.tabular.tables import Finding, findings, label_of, published_numbers

GAME = "game"
"""Column of a metric that belongs to the game and not to a bidder."""


@dataclass(frozen=True, slots=True)
class BidderRow:
    """A row: an arm and a condition by their labels, the source ("" for ours), and one number per column.

    `games` is a count, or the least and the greatest: "3 to 5". `draws` counts shared draws; 0 if each game has its
    own.
    """

    arm: str
    condition: str
    source: str
    games: str
    draws: int
    numbers: tuple[Finding | None, ...]

    @property
    def cell(self) -> tuple[str, str]:
        """Return the arm and the condition by their names, which are unique; labels may not be."""
        return next((one.place.arm, one.place.condition) for one in self.numbers if one)


@dataclass(frozen=True, slots=True)
class BidderTable:
    """A metric by arm and condition (rows) and bidder (columns). A metric of the game has one column, ""."""

    metric: str
    bidders: tuple[str, ...]
    rows: tuple[BidderRow, ...]

    def best(self, column: int) -> str:
        """Return the best of our numbers in a column, as written; "" if all are equal or none is better."""
        own = metric_or_none(self.metric)
        found = [one.value for row in self.rows if not row.source and (one := row.numbers[column]) is not None]
        values = {value for value in found if value is not None}
        if own is None or not own.better or len(values) < 2:
            return ""
        return write((max if own.better == "higher" else min)(values), unit_of(self.metric))


def bidder_table(metric: str, results: Results, analysis: Analysis) -> BidderTable | None:
    """Return the table of a metric; None if the metric has no number for whole games."""
    own = [one for one in findings(metric, analysis) if is_whole(one) and one.value is not None]
    if not own:
        return None
    bidders = tuple(dict.fromkeys(one.place.bidder for one in own))
    rows = _rows(own, bidders, results.experiment, "")
    for published, values in published_numbers(metric, own, results.experiment).items():
        printed = [
            Finding(place, value.value, None, None, published.games(value) or 0) for place, value in values.items()
        ]
        there = [one for one in printed if is_whole(one) and one.place.bidder in bidders]
        rows += _rows(there, bidders, results.experiment, f"{published.produced_by}, {published.source}")
    return BidderTable(metric, bidders, tuple(rows))


def is_whole(one: Finding) -> bool:
    """Return whether a number belongs to whole games, and not to an item, a day or a rival."""
    return one.place.at is None and not one.place.about


def _rows(found: Sequence[Finding], bidders: Sequence[str], experiment: Experiment, source: str) -> list[BidderRow]:
    rows = []
    for arm, condition in dict.fromkeys((one.place.arm, one.place.condition) for one in found):
        here = {one.place.bidder: one for one in found if (one.place.arm, one.place.condition) == (arm, condition)}
        games = sorted({one.games for one in here.values() if one.games})
        span = " to ".join(map(str, dict.fromkeys((*games[:1], *games[-1:]))))
        draws = max(one.draws for one in here.values())
        shared = draws if 0 < draws < max(games, default=0) else 0
        labels = label_of(experiment, "arm", arm), label_of(experiment, "condition", condition)
        rows.append(BidderRow(*labels, source, span, shared, tuple(here.get(bidder) for bidder in bidders)))
    return rows
