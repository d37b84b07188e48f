"""Means with their intervals, by arm and bidder, beside published ones: of metrics, and of TrueSkill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.axes import Axes

from harbor.evaluation._experiments.published import EVERYONE, PER_GAME, TRUESKILL
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report.canvas import INK, Drawing, Panel, colour, marker, paint
from harbor.evaluation._report.chart_rows import LINE, MARGIN, Row, laid_out, panelled, rows_of, write_rows
from harbor.evaluation._report.design_scale import scale_of
from harbor.evaluation._report.facts import Facts, facts
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.mean_lines import line_panels
from harbor.evaluation._report.mean_values import AT_FIRST, Means
from harbor.evaluation._report.own_numbers import Finding, findings
from harbor.evaluation._report.panels import MOST, links, values_of
from harbor.evaluation._report.published_marks import PublishedMark, keys_of, published_marks, sources
from harbor.evaluation._report.scales import along
from harbor.evaluation._report.series_marks import GAMES_KEY, game_dots, open_mark

WIDE = 520
QUESTION = "Who does better than whom, by rank?"
ASIDE = 0.3
"""How far published marks and single games stand from ours, a share of the distance of two rows."""

CAPTION = "Filled marks are means of games, or of values where a game has several."
WHISKERS = " Whiskers are 95 % intervals."
ALONE = " There are no intervals, as each mark is of one game."
OPEN_MARKS = " Open marks just below are numbers of others, each in the row of what it is of."
REFERENCES = (
    " Open marks are published, in the colour of their line; dashed lines are levels of reference, which no model"
    " produced."
)


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
    """Draw the means of a metric with their intervals: as lines over the scale of the design, or else as rows.

    Faint dots are single games, and open marks published numbers. What never varies is not drawn.
    """
    found, published = drawable(loaded, metric)
    if not found:
        return None
    means = Means(loaded, metric, says, _without_repetition(found, published), published)
    scale, rows = scale_of(loaded.experiment), _Rows(means)
    lines = scale is not None and len({scale.at[getattr(one.place, scale.of)] for one in means.found}) > 1
    panels, keys = line_panels(means, scale) if scale and lines else (rows.panels(), ())
    known = sources(metric, loaded.experiment) if means.published else []
    keys += tuple(key for one, key in zip(known, keys_of(known), strict=True) if not (lines and one.derived))
    keys += () if means.games.empty else (GAMES_KEY,)
    told = told or facts(loaded, metric, _methods(loaded, metric))
    if len(means.bidders) == 1 and (lines or rows.unnamed):
        caption += f" {'All' if lines else 'All rows'} are of {means.bidders[0]}."
    caption += (
        WHISKERS
        if any(one.low is not None for one in means.found)
        else ALONE * all(one.games == 1 for one in means.found)
    )
    caption += (REFERENCES if lines else OPEN_MARKS) * bool(means.published)
    return Drawing(says, caption, tuple(panels[:MOST]), keys, max(0, len(panels) - MOST), facts=told)


def drawable(loaded: Loaded, metric: str) -> tuple[list[Finding], list[PublishedMark]]:
    """Give the means of a metric that are drawn, and the published numbers beside them; none if nothing varies."""
    everything = findings(metric, loaded.analysis)
    found = [one for one in everything if one.place.at is None and not one.place.about and one.value is not None]
    if (own := metric_or_none(metric)) is not None and own.shared:  # everyone's mean follows from the design
        found = [one for one in found if one.place.bidder != EVERYONE]
    published = published_marks(metric, everything, loaded.experiment)
    return ([], []) if not published and found and _never_varies(loaded, metric, found) else (found, published)


def _never_varies(loaded: Loaded, metric: str, found: Sequence[Finding]) -> bool:
    """Tell whether all rows and all games have one number: then words say it better."""
    return len({one.value for one in found}) == 1 < len(found) and values_of(loaded, metric)["value"].nunique() < 2


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


class _Rows:
    """Means as rows: of arms and conditions that have no order."""

    def __init__(self, means: Means) -> None:
        self.means = means

    @property
    def unnamed(self) -> bool:
        """Whether the labels of the rows leave out the only bidder."""
        return len({(one.place.arm, one.place.condition) for one in self.means.found}) > 1

    def panels(self) -> list[Panel]:
        """Draw the rows of what was found, and of what is published beside it."""
        means = self.means
        places = [one.place for one in means.found] + [mark.place for mark in means.published]
        return [self.panel(rows) for rows in panelled(rows_of(means.loaded, places, means.bidders))]

    def panel(self, rows: Sequence[Row]) -> Panel:
        """Draw the dots of some rows."""
        layout, means = laid_out(rows), self.means
        found = [one for one in means.found if one.place in layout.rows]

        def draw(axes: Axes) -> None:
            along(axes, means.metric, *means.ends, means.bounds, means.says)
            for one in found:
                self._row(axes, one, layout.rows[one.place])
            for mark in means.published:
                if mark.place in layout.rows:
                    _published(axes, mark, layout.rows[mark.place] + ASIDE)
            write_rows(axes, rows, layout)
            if means.metric in RATED:
                axes.axvline(AT_FIRST, color=INK, linewidth=1, linestyle=(0, (1, 1.5)), zorder=1)

        return paint("", means.told(found), draw, WIDE, MARGIN + LINE * layout.height)

    def _row(self, axes: Axes, one: Finding, row: float) -> None:
        """Draw a mean with its interval, and its single games just above."""
        series, own = self.means.bidders.index(one.place.bidder), self.means.games_of(one.place)
        game_dots(axes, list(own["value"]), [row - ASIDE] * len(own), series, links(self.means.loaded, own))
        if one.low is not None and one.high is not None:
            axes.plot([one.low, one.high], [row, row], color=colour(series))
        if one.value is not None:
            axes.plot(one.value, row, marker(series), color=colour(series), clip_on=False)


def _published(axes: Axes, mark: PublishedMark, row: float) -> None:
    """Draw a published number just below ours, with the exact interval of a share."""
    if mark.low is not None and mark.high is not None:
        axes.plot([mark.low, mark.high], [row, row], color=INK, linewidth=0.8, linestyle="--")
    open_mark(axes, mark.value, row, mark.source, derived=mark.derived)
