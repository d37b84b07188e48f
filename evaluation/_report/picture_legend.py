"""The legend of a picture: marks, lines and bars with their names, in as many columns as have room."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from harbor.evaluation._report.canvas import INK, LegendEntry
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.series_marks import PALE

DOTS_AN_INCH, MOST_LINES = 300, 4
LETTER = 0.062
"""Inches: a letter of a heading or a legend, as wide as most are."""


def draw_legend(place: Figure | SubFigure, entries: Sequence[LegendEntry], width: float) -> Legend:
    """Draw a legend in as many columns as have room in this width, in inches."""
    kept = (legible(one.label).replace(" = ", "\u00a0=\u00a0") for one in entries)  # a line never ends inside n = 15
    labels = [fill(label, int(width / LETTER) - 6, max_lines=MOST_LINES, placeholder="…") for label in kept]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    across = max(1, min(len(labels), int(width / (LETTER * (longest + 6)))))
    bars = any(one.hatch for one in entries)
    return place.legend(
        [_handle(one, bars) for one in entries], labels, loc="center", ncols=across, frameon=False, borderaxespad=0
    )


def legend_height(entries: Sequence[LegendEntry], width: float) -> float:
    """Measure a legend of this width, in inches."""
    if not entries:
        return 0.0
    figure = Figure((width, 9), dpi=DOTS_AN_INCH)
    return float(draw_legend(figure, entries, width).get_window_extent().height / DOTS_AN_INCH) + 0.05


def _handle(one: LegendEntry, bars: bool) -> Artist:
    """Draw the mark of a legend: a bar with its hatch, or a line and its marker."""
    if bars:
        return Patch(facecolor=to_rgba(one.colour, PALE), edgecolor=INK, hatch=one.hatch, linewidth=0.6)
    inside = one.colour if one.filled else "none"
    style: dict[str, Any] = {"marker": one.marker, "linestyle": one.line or "none", "markerfacecolor": inside}
    return Line2D([], [], color=one.colour, **style)
