"""Lays out the panels and the legend of a figure on paper, in rows, on as many pages as they need.

Every picture is made from a `Page`, so no figure can be taller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from textwrap import fill
from typing import Any

from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from harbor._core.basics.errors import ConfigError
from harbor.evaluation._report.drawing.canvas import INK, PIXELS_AN_INCH, Drawing, LegendEntry, Panel
from harbor.evaluation._report.drawing.series_marks import PALE
from harbor.evaluation._report.tabular.page_parts import legible

DOTS_AN_INCH, MOST_LINES = 300, 4
"""Resolution of pictures in dots per inch, and the greatest number of lines of a legend's entry."""
LETTER = 0.062
"""Average width of a letter in a heading or a legend, in inches."""


def draw_legend(place: Figure | SubFigure, entries: Sequence[LegendEntry], width: float) -> Legend:
    """Draw a legend in as many columns as fit into this width, in inches."""
    kept = (legible(one.label).replace(" = ", "\u00a0=\u00a0") for one in entries)  # no line break inside n = 15
    labels = [fill(label, int(width / LETTER) - 6, max_lines=MOST_LINES, placeholder="…") for label in kept]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    across = max(1, min(len(labels), int(width / (LETTER * (longest + 6)))))
    bars = any(one.hatch for one in entries)
    return place.legend(
        [_handle(one, bars) for one in entries], labels, loc="center", ncols=across, frameon=False, borderaxespad=0
    )


def legend_height(entries: Sequence[LegendEntry], width: float) -> float:
    """Return the height of a legend of this width. Both are in inches."""
    if not entries:
        return 0.0
    figure = Figure((width, 9), dpi=DOTS_AN_INCH)
    return float(draw_legend(figure, entries, width).get_window_extent().height / DOTS_AN_INCH) + 0.05


def _handle(one: LegendEntry, bars: bool) -> Artist:
    """Return the mark of a legend: a bar with its hatch, or a line with its marker."""
    if bars:
        return Patch(facecolor=to_rgba(one.colour, PALE), edgecolor=INK, hatch=one.hatch, linewidth=0.6)
    inside = one.colour if one.filled else "none"
    style: dict[str, Any] = {"marker": one.marker, "linestyle": one.line or "none", "markerfacecolor": inside}
    return Line2D([], [], color=one.colour, **style)


TALLEST = 9.0
"""Height of a page in inches."""
MOST_LEGEND = TALLEST / 3
"""Inches: a higher legend gets a page of its own, unless one page holds everything."""
SCALE = 0.8
"""Size of a panel on paper, as a share of its size on a screen page. Letters are smaller on paper."""
NARROWEST = 0.6
"""Least share of a panel's width; narrower panels have no room between their labels."""

Row = Sequence[Panel]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a figure: rows of panels in `across` columns, the legend below, and words such as "Page 2 of 3."."""

    rows: tuple[Row, ...]
    legend: tuple[LegendEntry, ...]
    across: int = 1
    says: str = ""


def pages(drawing: Drawing, width: float) -> list[Page]:
    """Lay out a figure on pages of this width in inches. A legend that leaves too little room gets pages of its own.

    Raises:
        ConfigError: one of its panels is taller than a page.
    """
    tallest = max(map(height_of, drawing.panels))
    if tallest > TALLEST:
        raise ConfigError(
            f"a panel of it is {tallest:.1f} inches high, and a page {TALLEST:g}; draw it as several panels"
        )
    below = legend_height(drawing.legend, width)
    rows = _rows(drawing.panels, width, TALLEST - below)
    across = len(rows[0])
    if sum(map(row_height, rows)) + below <= TALLEST:
        return [Page(tuple(rows), drawing.legend, across)]
    alone = below > MOST_LEGEND or tallest + below > TALLEST
    keys, room = ((), TALLEST) if alone else (drawing.legend, TALLEST - below)
    found = [Page(some, keys, across) for some in _filled(rows, room)]
    found += [Page((), some) for some in _legends(drawing.legend, width) if alone]
    keyed = "; the legend is on the last" * alone
    return [replace(page, says=f"Page {place} of {len(found)}{keyed}.") for place, page in enumerate(found, 1)]


def height_of(panel: Panel) -> float:
    """Return the height of a panel in inches, with its heading."""
    return panel.height / PIXELS_AN_INCH * SCALE + (0.25 if panel.heading else 0.05)


def row_height(row: Row) -> float:
    """Return the height of the highest panel of a row, in inches."""
    return max(map(height_of, row))


def _rows(panels: Row, width: float, room: float) -> list[Row]:
    """Put as many panels in a row as fit, or more if a page would not hold the rows."""
    widest = max(panel.width for panel in panels) / PIXELS_AN_INCH * SCALE
    most = max(1, round(width / widest))
    while (found := _evenly(panels, most)) and sum(map(row_height, found)) > room:
        if width / (most + 1) < NARROWEST * widest:
            break
        most += 1
    return found


def _evenly(panels: Row, most: int) -> list[Row]:
    """Split panels into as few rows as possible, all but the last equally long."""
    across = ceil(len(panels) / ceil(len(panels) / most))
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _filled(rows: Sequence[Row], room: float) -> list[tuple[Row, ...]]:
    """Put rows on pages, as many on each as fit."""
    found: list[list[Row]] = [[]]
    for row in rows:
        if found[-1] and sum(map(row_height, (*found[-1], row))) > room:
            found.append([])
        found[-1].append(row)
    return [tuple(page) for page in found]


def _legends(entries: tuple[LegendEntry, ...], width: float) -> list[tuple[LegendEntry, ...]]:
    """Split the entries of a legend among as few pages as possible."""
    each = len(entries)
    while each > 1 and legend_height(entries[:each], width) > TALLEST:
        each -= 1
    return [entries[:each], *_legends(entries[each:], width)] if entries else []
