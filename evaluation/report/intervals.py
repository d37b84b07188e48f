"""Means with their intervals: dots by arm, and the bars of TrueSkill."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from harbor.evaluation.experiments.analysis import Rating
from harbor.evaluation.metrics.measurement import Unit
from harbor.evaluation.report.canvas import INK, Drawing, Panel, colour, label, legend, marker, paint, show_unit
from harbor.evaluation.report.formatting import unit_of, write, write_interval
from harbor.evaluation.report.loading import Loaded
from harbor.evaluation.report.tables import TRUESKILL, Finding, findings, label_of

WIDTH = 620
ROW, MARGIN = 15, 64
"""Pixels: a row of dots, and all that stands around them."""


def dots(loaded: Loaded, metric: str, says: str) -> Drawing | None:
    """Draw the mean of a metric with its interval, by arm and bidder, a panel a condition."""
    found = [
        one
        for one in findings(metric, loaded.analysis)
        if one.place.at is None and not one.place.about and one.value is not None
    ]
    if not found:
        return None
    bidders = list(dict.fromkeys(one.place.bidder for one in found))
    panels = [
        _dots(loaded, metric, says, condition.name, bidders, [one for one in found if one.place.condition == condition.name])
        for condition in loaded.experiment.conditions
        if any(one.place.condition == condition.name for one in found)
    ]
    keys = legend(bidders) if bidders != [""] else ()
    return Drawing(says, "Mean over games with its 95 % interval.", tuple(panels), keys)


def _dots(
    loaded: Loaded, metric: str, says: str, condition: str, bidders: Sequence[str], found: Sequence[Finding]
) -> Panel:
    experiment, unit = loaded.experiment, unit_of(metric)
    arms = [arm.name for arm in experiment.arms if any(one.place.arm == arm.name for one in found)]
    step = 1 / (len(bidders) + 1)

    def draw(axes: Axes) -> None:
        for one in found:
            assert one.value is not None  # noqa: S101 - findings without a value are left out
            series = bidders.index(one.place.bidder)
            row = arms.index(one.place.arm) + (series + 1) * step - 0.5
            if one.low is not None and one.high is not None:
                axes.plot([one.low, one.high], [row, row], color=colour(series))
            axes.plot([one.value], [row], marker(series), color=colour(series))
        axes.set_yticks(range(len(arms)), [label(label_of(experiment, "arm", arm)) for arm in arms])
        axes.set_ylim(len(arms) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(says)
        show_unit(axes, unit, vertical=False)

    told = "; ".join(_told(loaded, one, unit) for one in found)
    height = MARGIN + ROW * len(arms) * (len(bidders) + 1)
    name = label_of(experiment, "condition", condition) if len(experiment.conditions) > 1 else ""
    return paint(name, f"{says}: {told}", draw, WIDTH, height)


def _told(loaded: Loaded, one: Finding, unit: Unit) -> str:
    who = " ".join(part for part in (label_of(loaded.experiment, "arm", one.place.arm), one.place.bidder) if part)
    return f"{who} {write(one.value, unit)} {write_interval(one.low, one.high, unit)}".rstrip()


def trueskill(loaded: Loaded, title: str, caption: str) -> Drawing | None:
    """Draw TrueSkill ratings as bars, with how mu spreads over orders of the games and one sigma around it."""
    ratings = loaded.analysis.ratings
    bidders = list(dict.fromkeys(one.bidder for one in ratings))
    panels = []
    for arm in loaded.experiment.arms:
        for condition in loaded.experiment.conditions:
            rated = [one for one in ratings if (one.arm, one.condition) == (arm.name, condition.name)]
            if rated:
                told = [arm.label or arm.name] + ([condition.label or condition.name] * (len(loaded.experiment.conditions) > 1))
                panels.append(_bars(" · ".join(told), rated, bidders))
    return Drawing(title, caption, tuple(panels)) if panels else None


def _bars(heading: str, rated: Sequence[Rating], bidders: Sequence[str]) -> Panel:
    def draw(axes: Axes) -> None:
        for row, one in enumerate(rated):
            axes.barh(row, one.mu, 0.6, color=colour(bidders.index(one.bidder)), alpha=0.85)
            axes.plot([one.mu - one.sigma, one.mu + one.sigma], [row, row], color=INK, linewidth=0.8)
            axes.plot([one.mu_low, one.mu_high], [row, row], color=INK, linewidth=3.2, solid_capstyle="butt")
        axes.set_yticks(range(len(rated)), [label(one.bidder) for one in rated])
        axes.set_ylim(len(rated) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("TrueSkill μ")

    told = "; ".join(f"{one.bidder} {write(one.mu, 'number')}, sigma {write(one.sigma, 'number')}" for one in rated)
    return paint(heading, f"{TRUESKILL}: {told}", draw, height=MARGIN + 30 * len(rated))
