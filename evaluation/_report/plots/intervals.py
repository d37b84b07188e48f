"""Charts of means with their intervals, beside published numbers: of a metric or of TrueSkill, by arm and bidder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes

from harbor.evaluation._experiments.design_parts import EVERYONE, PER_GAME, TRUESKILL
from harbor.evaluation._metrics.measurement import metric_or_none
from harbor.evaluation._report.drawing.canvas import (
    INK,
    TALLEST_PANEL,
    Drawing,
    Panel,
    along,
    colour,
    marker,
    paint,
    wrapped,
)
from harbor.evaluation._report.drawing.figure import MOST, Facts, facts, links, values_of
from harbor.evaluation._report.drawing.series_marks import (
    GAMES_KEY,
    PublishedMark,
    game_dots,
    keys_of,
    open_mark,
    published_marks,
    sources,
)
from harbor.evaluation._report.plots.mean_lines import AT_FIRST, Means, line_panels, scale_of
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import legible
from harbor.evaluation._report.tabular.tables import Finding, Place, findings, label_of

LINE, MARGIN = 19, 70
"""Pixels: the height of a line of a label or heading, and of everything around the rows."""
MOST_LINES = (TALLEST_PANEL - MARGIN) // LINE
"""The greatest number of lines of rows and headings in a panel; the others go into the next."""
LONGEST_HEADING = 36
"""Characters that fit above the rows in a column."""
OUTER_FIRST = ("condition", "arm", "bidder")
"""Order in which rows are grouped, outermost first."""


class Row(NamedTuple):
    """A row of a chart: its place, its group, and the lines of the group's heading and of its own label."""

    place: Place
    group: tuple[str, ...]
    heading: tuple[str, ...]
    label: tuple[str, ...]


class Layout(NamedTuple):
    """Middles of rows and headings, in lines from the top, and the number of lines."""

    rows: dict[Place, float]
    headings: list[tuple[float, Sequence[str]]]
    height: int


def rows_of(loaded: Loaded, places: Iterable[Place], bidders: Sequence[str]) -> list[Row]:
    """Name rows by the varying parts: the last of condition, arm and bidder in the label, the others in the heading."""
    experiment = loaded.experiment
    arms, conditions = ([one.name for one in some] for some in (experiment.arms, experiment.conditions))
    ordered = sorted(
        set(places),
        key=lambda one: (conditions.index(one.condition), arms.index(one.arm), bidders.index(one.bidder)),
    )
    varied = [name for name in OUTER_FIRST if len({getattr(one, name) for one in ordered}) > 1]
    *outer, last = varied or ["bidder" if ordered[0].bidder else "arm"]
    found = []
    for place in ordered:
        group = tuple(_named(loaded, place, name) for name in outer)
        heading = wrap(" · ".join(group), LONGEST_HEADING, max_lines=2, placeholder="…")
        found.append(Row(place, group, tuple(heading), tuple(wrapped(_named(loaded, place, last)).split("\n"))))
    return found


def _named(loaded: Loaded, place: Place, what: str) -> str:
    said = str(getattr(place, what))
    return legible(said if what == "bidder" else label_of(loaded.experiment, what, said)) or "the game"


def laid_out(rows: Sequence[Row]) -> Layout:
    """Put rows below each other, with a heading above each group."""
    at, headings, down = dict[Place, float](), list[tuple[float, Sequence[str]]](), 0
    for place, row in enumerate(rows):
        if row.heading and (place == 0 or rows[place - 1].group != row.group):
            headings.append((down + len(row.heading) / 2, row.heading))
            down += len(row.heading)
        at[row.place] = down + len(row.label) / 2
        down += len(row.label)
    return Layout(at, headings, down)


def panelled(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split rows among panels of `MOST_LINES`. Rows of one heading stay together if they fit."""
    panel, full = list[Row](), 0
    for piece in _pieces(rows):
        own = laid_out(piece).height
        if panel and full + own > MOST_LINES:
            yield panel
            panel, full = [], 0
        panel, full = panel + piece, full + own
    yield panel


def _pieces(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split rows at each change of heading, and at a full panel."""
    piece = list[Row]()
    for row in rows:
        if piece and (row.group != piece[0].group or laid_out([*piece, row]).height > MOST_LINES):
            yield piece
            piece = []
        piece.append(row)
    yield piece


def write_rows(axes: Axes, rows: Sequence[Row], layout: Layout) -> None:
    """Set the vertical axis: a label beside each row, and headings, which take no room from the axes."""
    axes.set_yticks([layout.rows[row.place] for row in rows], ["\n".join(row.label) for row in rows])
    axes.set_ylim(layout.height, 0)
    axes.grid(visible=False, axis="y")
    for middle, heading in layout.headings:
        said = axes.text(
            0.01, middle, "\n".join(heading), transform=axes.get_yaxis_transform(), ha="left", va="center",
            fontweight="bold", fontsize=mpl.rcParams["ytick.labelsize"], linespacing=1,
        )  # fmt: skip
        said.set_in_layout(False)


WIDE = 520
"""Width of a panel in pixels."""
QUESTION = "Who does better than whom, by rank?"
ASIDE = 0.3
"""Distance of published marks and single games from our mark, in lines."""

CAPTION = "Filled marks are means of games, or of values where a game has several."
WHISKERS = " Whiskers are 95 % intervals."
ALONE = " There are no intervals, as each mark is of one game."
OPEN_MARKS = " Open marks just below are numbers of others, each in the row of what it is of."
REFERENCES = (
    " Open marks are published, in the colour of their line; dashed lines are levels of reference, which no model"
    " produced."
)


class Rating(NamedTuple):
    """The texts for a kind of TrueSkill rating: title, axis, caption, and its interval."""

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
"""The texts by kind of rating."""


def dots(loaded: Loaded, metric: str, says: str, caption: str = CAPTION, told: Facts = ()) -> Drawing | None:
    """Draw the means of a metric with their intervals: as lines if conditions or arms have a scale, else as rows.

    Faint dots are single games, and open marks published numbers. A metric that never varies is drawn only beside
    published numbers.
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
    """Return the means of a metric to draw, and the published numbers beside them. Both are empty if nothing varies."""
    everything = findings(metric, loaded.analysis)
    found = [one for one in everything if one.place.at is None and not one.place.about and one.value is not None]
    if (own := metric_or_none(metric)) is not None and own.shared:  # the mean of everyone follows from the design
        found = [one for one in found if one.place.bidder != EVERYONE]
    published = published_marks(metric, everything, loaded.experiment)
    return ([], []) if not published and found and _never_varies(loaded, metric, found) else (found, published)


def _never_varies(loaded: Loaded, metric: str, found: Sequence[Finding]) -> bool:
    """Return whether all rows and all games have one number, which words say better."""
    return len({one.value for one in found}) == 1 < len(found) and values_of(loaded, metric)["value"].nunique() < 2


def _without_repetition(found: Sequence[Finding], published: Sequence[PublishedMark]) -> list[Finding]:
    """Drop the mean of everyone if it equals that of the only bidder, unless a published number belongs to it."""
    bidders = Counter((one.place.arm, one.place.condition) for one in found)
    kept = {one.place for one in published}
    return [
        one
        for one in found
        if one.place.bidder != EVERYONE or bidders[one.place.arm, one.place.condition] != 2 or one.place in kept
    ]


def rated(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw TrueSkill ratings of either kind."""
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
    """Means as rows, for arms and conditions without an order."""

    def __init__(self, means: Means) -> None:
        self.means = means

    @property
    def unnamed(self) -> bool:
        """Return whether the labels of the rows leave out the only bidder."""
        return len({(one.place.arm, one.place.condition) for one in self.means.found}) > 1

    def panels(self) -> list[Panel]:
        """Draw the rows of our means, and of the published numbers beside them."""
        means = self.means
        places = [one.place for one in means.found] + [mark.place for mark in means.published]
        return [self.panel(rows) for rows in panelled(rows_of(means.loaded, places, means.bidders))]

    def panel(self, rows: Sequence[Row]) -> Panel:
        """Draw the marks of some rows."""
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
