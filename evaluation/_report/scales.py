"""The axes of figures: inside the scale of their unit, with ticks and a title that names it."""

from __future__ import annotations

from math import inf
from textwrap import wrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._metrics.measurement import Bounds
from harbor.evaluation._metrics.registry import metric_or_none
from harbor.evaluation._report.canvas import show_unit
from harbor.evaluation._report.formatting import unit_of

MARGIN = 0.05
"""Room beyond the values, a share of their span; never beyond the bounds of their unit."""
WHOLE = ("priority", "rank")
"""Units whose ticks are whole numbers."""
LONGEST = 38
"""Characters on each line of the title of an axis."""


def bounds_of(metric: str, bidders: int = 0) -> Bounds:
    """Give the least and the greatest value of a metric; a rank is at most the number of bidders."""
    found = metric_or_none(metric)
    if found is None:
        return -inf, inf
    least, most = found.bounds
    return least, float(bidders) if found.unit == "rank" and bidders > 1 else most


def bounds_in(metric: str, rows: pd.DataFrame) -> Bounds:
    """Give the bounds of a metric in a game of the bidders of these rows."""
    return bounds_of(metric, rows["bidder"].nunique())


def span(low: float, high: float, bounds: Bounds) -> tuple[float, float]:
    """Give the ends of an axis: the values with a margin, cut where their unit ends."""
    margin = (high - low) * MARGIN or min(0.5, abs(high) / 10 or 0.5)
    ends = max(low - margin, bounds[0]), min(high + margin, bounds[1])
    return ends if ends[0] < ends[1] else (low - margin, high + margin)


def titled(metric: str, says: str = "") -> str:
    """Give the title of an axis: what is measured, and its unit unless the words or the ticks name it."""
    found, unit = metric_or_none(metric), unit_of(metric)
    said = says or (found.description if found else metric)
    named = said if unit in ("dollars", "number", "count", *said.casefold().split()) else f"{said}, {unit}"
    return "\n".join(wrap(named, LONGEST))


def upright(axes: Axes, metric: str, low: float, high: float, bounds: Bounds) -> None:
    """Set a vertical axis of a metric; ranks are upside down, with the best on top."""
    ends = span(low, high, bounds)
    axes.set_ylim(*(reversed(ends) if unit_of(metric) == "rank" else ends))
    axes.set_ylabel(titled(metric))
    if unit_of(metric) in WHOLE:
        axes.yaxis.set_major_locator(MaxNLocator(steps=[1, 5, 10], integer=True))
    show_unit(axes, unit_of(metric))


def along(axes: Axes, metric: str, low: float, high: float, bounds: Bounds, says: str = "") -> None:
    """Set a horizontal axis of a metric."""
    axes.set_xlim(*span(low, high, bounds))
    axes.set_xlabel(titled(metric, says))
    few_ticks(axes)
    show_unit(axes, unit_of(metric), vertical=False)


def few_ticks(axes: Axes) -> None:
    """Keep the ticks of a horizontal axis clear of each other."""
    most = min(6, int(axes.figure.bbox.width / axes.figure.dpi))  # one for each inch
    axes.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
