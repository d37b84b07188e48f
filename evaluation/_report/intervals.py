"""Means with their intervals, by arm and bidder, beside published ones: of metrics, and of TrueSkill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation._experiments.published import EVERYONE, PER_GAME, TRUESKILL
from harbor.evaluation._metrics.measurement import Bounds
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report.canvas import INK, Drawing, Panel, colour, marker, paint
from harbor.evaluation._report.chart_rows import LINE, MARGIN, Row, laid_out, panelled, rows_of, write_rows
from harbor.evaluation._report.facts import Facts, facts
from harbor.evaluation._report.formatting import unit_of, write, write_interval
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.own_numbers import Finding, findings
from harbor.evaluation._report.panels import GAME, MOST, links, values_of
from harbor.evaluation._report.published_marks import PublishedMark, keys_of, published_marks, sources
from harbor.evaluation._report.scales import along, bounds_of
from harbor.evaluation._report.series_marks import GAMES_KEY, game_dots, open_mark
from harbor.evaluation._report.tables import label_of

WIDE = 520
QUESTION = "Who does better than whom, by rank?"
AT_FIRST = 25.0
"""The rating that everybody begins with."""
ASIDE = 0.3
"""How far published marks and single games stand from ours, a share of the distance of two rows."""

CAPTION = "Filled marks are means of games, or of values where a game has several."
WHISKERS = " Whiskers are 95 % intervals."
OPEN_MARKS = " Open marks just below are numbers of others, each in the row of what it is of."


class Rating(NamedTuple):
    """How a kind of TrueSkill rating is drawn: title, axis, caption, and its interval."""

    title: str
    says: str
    caption: str
    interval: str


RATED = {
    TRUESKILL: Rating(
        "TrueSkill",
        "mu after all games",
        "Ratings mu after all games, averaged over shuffled orders of the games. TrueSkill's own sigma is in the table"
        " of ratings. Everybody begins at 25, the dotted line.",
        "95 %, by resampling games",
    ),
    PER_GAME: Rating(
        "TrueSkill of single games",
        "mean of mu after single games",
        "Mean of the ratings mu after each game alone, from 25, the dotted line. After Harbor, Table 3, whose ratings"
        " are of this kind.",
        "95 % over games, by t",
    ),
}


def dots(loaded: Loaded, metric: str, says: str, caption: str = CAPTION, told: Facts = ()) -> Drawing | None:
    """Draw the mean of a metric with its interval, one row per condition, arm and bidder.

    Faint dots are single games, and open marks published numbers.
    """
    everything = findings(metric, loaded.analysis)
    found = [one for one in everything if one.place.at is None and not one.place.about and one.value is not None]
    if (own := metric_or_none(metric)) is not None and own.shared:  # everyone's mean follows from the design
        found = [one for one in found if one.place.bidder != EVERYONE]
    if not found:
        return None
    published = published_marks(metric, everything, loaded.experiment)
    chart = _Chart(loaded, metric, says, _without_repetition(found, published), published)
    panels = tuple(chart.panel(rows) for rows in panelled(chart.rows()))
    keys = keys_of(sources(metric, loaded.experiment)) if chart.published else ()
    keys += () if chart.games.empty else (GAMES_KEY,)
    told = told or facts(loaded, metric, _methods(loaded, metric))
    if chart.whose:
        caption += f" All rows are of {chart.whose}."
    caption += WHISKERS * any(one.low is not None for one in chart.found) + OPEN_MARKS * bool(chart.published)
    return Drawing(says, caption, panels[:MOST], keys, max(0, len(panels) - MOST), facts=told)


def _without_repetition(found: Sequence[Finding], published: Sequence[PublishedMark]) -> list[Finding]:
    """Leave out the mean of everyone where it is that of one bidder, unless a number of others belongs to it."""
    bidders = Counter((one.place.arm, one.place.condition) for one in found)
    kept = {one.place for one in published}
    return [
        one
        for one in found
        if one.place.bidder != EVERYONE or bidders[one.place.arm, one.place.condition] != 2 or one.place in kept
    ]


def rated(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw TrueSkill ratings, of either kind."""
    kind, found = RATED[metric], findings(metric, loaded.analysis)
    if not found:
        return None
    with_interval = any(one.low is not None for one in found)
    told = facts(loaded, metric, kind.interval if with_interval else "left out, as too few games were rated")
    drawn = dots(loaded, metric, kind.says, kind.caption, told)
    return None if drawn is None else replace(drawn, title=kind.title, question=QUESTION)


def _methods(loaded: Loaded, metric: str) -> str:
    """Name the intervals of the means of a metric."""
    shown = [one for one in loaded.analysis.estimates if one.metric == metric and one.at is None and not one.about]
    methods = dict.fromkeys(one.method for one in shown if one.method != "none")
    return f"95 %, {' or '.join(methods)}" if methods else ""


class _Chart:
    """What all panels of dots share: bidders, the axis, single games and published numbers."""

    def __init__(
        self, loaded: Loaded, metric: str, says: str, found: Sequence[Finding], published: Sequence[PublishedMark]
    ) -> None:
        self.loaded, self.metric, self.says, self.found = loaded, metric, says, found
        self.bidders = sorted({one.place.bidder for one in found}, key=lambda name: (name == EVERYONE, name))
        shown = {(one.place.arm, one.place.condition) for one in found}
        self.published = [
            one
            for one in published
            if one.place.bidder in self.bidders and (one.place.arm, one.place.condition) in shown
        ]
        self.games = _games(loaded, metric)
        means = [end for one in found for end in (one.value, one.low, one.high) if end is not None]
        printed = [end for one in self.published for end in (one.value, one.low, one.high) if end is not None]
        ends = [*means, *printed, *self.games["value"], *([AT_FIRST] if metric in RATED else [])]
        self.ends = min(ends), max(ends)
        self.bounds: Bounds = bounds_of(metric, len({*self.bidders} - {EVERYONE, ""}))

    @property
    def whose(self) -> str:
        """The one bidder of all rows, where their labels do not name it."""
        alone = len({(one.place.arm, one.place.condition) for one in self.found}) == 1
        return self.bidders[0] if len(self.bidders) == 1 and not alone else ""

    def rows(self) -> list[Row]:
        """Give the rows of what was found, and of what is published beside it."""
        places = [one.place for one in self.found] + [mark.place for mark in self.published]
        return rows_of(self.loaded, places, self.bidders)

    def panel(self, rows: Sequence[Row]) -> Panel:
        """Draw the dots of some rows."""
        layout = laid_out(rows)
        found = [one for one in self.found if one.place in layout.rows]

        def draw(axes: Axes) -> None:
            along(axes, self.metric, *self.ends, self.bounds, self.says)
            for one in found:
                self._row(axes, one, layout.rows[one.place])
            for mark in self.published:
                if mark.place in layout.rows:
                    _published(axes, mark, layout.rows[mark.place] + ASIDE)
            write_rows(axes, rows, layout)
            if self.metric in RATED:
                axes.axvline(AT_FIRST, color=INK, linewidth=1, linestyle=(0, (1, 1.5)), zorder=1)

        told = "; ".join(_told(self.loaded, one, unit_of(self.metric)) for one in found)
        return paint("", f"{self.says}: {told}", draw, WIDE, MARGIN + LINE * layout.height)

    def _row(self, axes: Axes, one: Finding, row: float) -> None:
        """Draw a mean with its interval, and its single games just above."""
        series = self.bidders.index(one.place.bidder)
        place, games = one.place, self.games
        own = games[
            (games["arm"] == place.arm) & (games["condition"] == place.condition) & (games["bidder"] == place.bidder)
        ]
        game_dots(axes, list(own["value"]), [row - ASIDE] * len(own), series, links(self.loaded, own))
        if one.low is not None and one.high is not None:
            axes.plot([one.low, one.high], [row, row], color=colour(series))
        if one.value is not None:
            axes.plot(one.value, row, marker(series), color=colour(series), clip_on=False)


def _published(axes: Axes, mark: PublishedMark, row: float) -> None:
    """Draw a published number just below ours, with the exact interval of a share."""
    if mark.low is not None and mark.high is not None:
        axes.plot([mark.low, mark.high], [row, row], color=INK, linewidth=0.8, linestyle="--")
    open_mark(axes, mark.value, row, mark.source, derived=mark.derived)


def _games(loaded: Loaded, metric: str) -> pd.DataFrame:
    """Give one value per game and bidder, of a metric that has one; none where it has several, at places or about."""
    rows = values_of(loaded, metric)
    if rows.empty or rows["at"].notna().any() or (rows["about"] != "").any():
        return rows[[*GAME, "bidder", "value"]][:0]
    return rows[[*GAME, "bidder", "value"]]


def _told(loaded: Loaded, one: Finding, unit: str) -> str:
    who = " ".join(part for part in (label_of(loaded.experiment, "arm", one.place.arm), one.place.bidder) if part)
    return f"{who} {write(one.value, unit)} {write_interval(one.low, one.high, unit)}".rstrip()
