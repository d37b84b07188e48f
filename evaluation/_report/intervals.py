"""Means with their intervals: dots by arm, and the bars of TrueSkill."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from matplotlib.axes import Axes

from harbor.evaluation._analysis.findings import SkillRating
from harbor.evaluation._metrics.measurement import Unit
from harbor.evaluation._report.canvas import (
    INK,
    WIDTH,
    Drawing,
    Panel,
    colour,
    legend,
    marker,
    paint,
    show_unit,
    wrapped,
)
from harbor.evaluation._report.formatting import unit_of, write, write_interval
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import MOST, heading
from harbor.evaluation._report.tables import TRUESKILL, Finding, findings, label_of

WIDE = 520
ROW, MARGIN = 15, 64
"""Pixels: the width of a single panel, the height of a row of dots, and of everything around the rows."""

CAPTION = "Mean over games with its 95 % interval."


def dots(loaded: Loaded, metric: str, says: str) -> Drawing | None:
    """Draw the mean of a metric with its interval, by arm and bidder, one panel per condition."""
    found = [
        one
        for one in findings(metric, loaded.analysis)
        if one.place.at is None and not one.place.about and one.value is not None
    ]
    if not found:
        return None
    bidders = list(dict.fromkeys(one.place.bidder for one in found))
    ends = [end for one in found for end in (one.value, one.low, one.high) if end is not None]
    margin = (max(ends) - min(ends)) * 0.04 or 0.5
    span = min(ends) - margin, max(ends) + margin
    conditions = list(dict.fromkeys(one.place.condition for one in found))
    panels = [
        _dots(loaded, metric, says, bidders, span, [one for one in found if one.place.condition == condition])
        for condition in conditions[:MOST]
    ]
    keys = legend(bidders) if bidders != [""] else ()
    return Drawing(says, CAPTION, tuple(panels), keys, max(0, len(conditions) - MOST))


def _dots(
    loaded: Loaded,
    metric: str,
    says: str,
    bidders: Sequence[str],
    span: tuple[float, float],
    found: Sequence[Finding],
) -> Panel:
    experiment, unit = loaded.experiment, unit_of(metric)
    arms = list(dict.fromkeys(one.place.arm for one in found))
    step = 1 / (len(bidders) + 1)

    def draw(axes: Axes) -> None:
        for one in found:
            series = bidders.index(one.place.bidder)
            row = arms.index(one.place.arm) + (series + 1) * step - 0.5
            if one.low is not None and one.high is not None:
                axes.plot([one.low, one.high], [row, row], color=colour(series))
            axes.plot(nan if one.value is None else one.value, row, marker(series), color=colour(series))
        axes.set_yticks(range(len(arms)), [wrapped(label_of(experiment, "arm", arm)) for arm in arms])
        axes.set(xlabel=says, xlim=span, ylim=(len(arms) - 0.5, -0.5))
        axes.grid(visible=False, axis="y")
        show_unit(axes, unit, vertical=False)

    told = "; ".join(_told(loaded, one, unit) for one in found)
    height = MARGIN + ROW * len(arms) * (len(bidders) + 1)
    alone = len(experiment.conditions) == 1
    name = "" if alone else label_of(experiment, "condition", found[0].place.condition)
    return paint(name, f"{says}: {told}", draw, WIDE if alone else WIDTH, height)


def _told(loaded: Loaded, one: Finding, unit: Unit) -> str:
    who = " ".join(part for part in (label_of(loaded.experiment, "arm", one.place.arm), one.place.bidder) if part)
    return f"{who} {write(one.value, unit)} {write_interval(one.low, one.high, unit)}".rstrip()


def trueskill(loaded: Loaded, title: str, caption: str) -> Drawing | None:
    """Draw TrueSkill ratings as bars, with how mu spreads over orders of the games and one sigma around it."""
    cells: dict[str, list[SkillRating]] = {}
    for one in loaded.analysis.ratings:
        cells.setdefault(heading(loaded.experiment, {"arm": one.arm, "condition": one.condition}), []).append(one)
    bidders = list(dict.fromkeys(one.bidder for one in loaded.analysis.ratings))
    panels = tuple(_bars(name, rated, bidders) for name, rated in list(cells.items())[:MOST])
    return Drawing(title, caption, panels, left_out=max(0, len(cells) - MOST)) if panels else None


def _bars(heading: str, rated: Sequence[SkillRating], bidders: Sequence[str]) -> Panel:
    def draw(axes: Axes) -> None:
        for row, one in enumerate(rated):
            axes.barh(row, one.mu, 0.6, color=colour(bidders.index(one.bidder)), alpha=0.85)
            axes.plot([one.mu - one.sigma, one.mu + one.sigma], [row, row], color=INK, linewidth=0.8)
            axes.plot([one.mu_low, one.mu_high], [row, row], color=INK, linewidth=3.2, solid_capstyle="butt")
        axes.set_yticks(range(len(rated)), [wrapped(one.bidder) for one in rated])
        axes.set_ylim(len(rated) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("TrueSkill mu")

    told = "; ".join(f"{one.bidder} {write(one.mu, 'number')}, sigma {write(one.sigma, 'number')}" for one in rated)
    return paint(heading, f"{TRUESKILL}: {told}", draw, height=MARGIN + 30 * len(rated))
