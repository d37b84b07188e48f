"""A figure as a file for a paper: all its panels and its legend in one picture, as wide as a column or a page.

Fonts are embedded, or text is outlines: every viewer shows the same. The caption stands beside the picture, not in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from math import ceil
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from harbor._core.errors import ConfigError
from harbor.evaluation._report.canvas import INK, PIXELS_AN_INCH, STYLE, Drawing, LegendEntry, Panel
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.inline import legal
from harbor.evaluation._report.series_marks import PALE

FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": 3.4, "page": 7.0}
"""Inches."""
DOTS_AN_INCH = 300
SCALE = 0.8
"""Of a panel's size on a page to its size on paper, where letters are smaller."""
FILE_STYLE = STYLE | {
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "harbor",  # equal figures are equal files
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "hatch.linewidth": 0.6,
}
TALLEST = 9.0
"""Inches: the height of a page."""
NARROWEST = 0.6
"""Of a panel's width: narrower ones have no room between their labels."""
LETTER = 0.062
"""Inches: a letter of a heading or a legend, as wide as most are."""
_MISSING = re.compile(r"Glyph (\d+) ")


def picture(drawing: Drawing, form: str, width: float) -> bytes:
    """Put a figure out as the bytes of a file.

    A character that the fonts lack is an empty box there: one warning names all.

    Args:
        drawing: the figure.
        form: one of `FORMATS`.
        width: in inches.

    Raises:
        ConfigError: the figure can't be drawn, or its drawing failed.
    """
    if drawing.failure:
        raise ConfigError(drawing.failure)
    with mpl.rc_context(FILE_STYLE), _telling_of_missing_glyphs():
        try:
            return _saved(_figure(drawing, width), form, drawing.title)
        except Exception as error:  # a stranger's function
            why = legible(f"{type(error).__name__}: {error}")
            raise ConfigError(f"figure {drawing.title!r} can't be drawn: {why}") from error


def _saved(figure: Figure, form: str, title: str) -> bytes:
    about = {"pdf": {"Title": legible(title), "CreationDate": None}, "svg": {"Title": legible(title), "Date": None}}
    file = BytesIO()
    figure.savefig(file, format=form, dpi=DOTS_AN_INCH, metadata=about.get(form))
    if form != "svg":
        return file.getvalue()
    return legal(file.getvalue().decode("utf-8", "surrogatepass")).encode()


def _figure(drawing: Drawing, width: float) -> Figure:
    """Lay out panels in rows, each as high as its highest panel, and the legend below them."""
    rows = _rows(drawing.panels, width)
    heights, below = [max(map(_height, row)) for row in rows], _legend_height(drawing.legend, width)
    if (high := sum(heights) + below) > TALLEST:
        said = f"the picture of {drawing.title!r} is {high:.0f} inches high, and a page about {TALLEST:.0f}"
        warnings.warn(legible(said), stacklevel=2)
    figure = Figure((width, high), dpi=DOTS_AN_INCH, layout="constrained", facecolor="white")
    grid = figure.add_gridspec(len(rows) + bool(below), len(rows[0]), height_ratios=[*heights, *filter(None, [below])])
    for place, panel in enumerate(drawing.panels):
        row, column = divmod(place, len(rows[0]))
        cell, own = figure.add_subfigure(grid[row, column]), _height(panel)
        _panel(_top(cell, own, heights[row] - own), panel, width / len(rows[0]))
    if below:
        _legend(figure.add_subfigure(grid[-1, :]), drawing.legend, width)
    _unlink(figure)
    return figure


def _top(cell: SubFigure, height: float, rest: float) -> SubFigure:
    """Give the upper part of a cell, so that a panel is no higher than it should be."""
    return cell.subfigures(2, 1, squeeze=False, height_ratios=[height, rest])[0, 0] if rest > 0.1 else cell


def _rows(panels: Sequence[Panel], width: float) -> list[Sequence[Panel]]:
    """Put as many panels in a row as have room there, or more where a page would not hold the rows."""
    widest = max(panel.width for panel in panels) / PIXELS_AN_INCH * SCALE
    most = max(1, round(width / widest))
    while (found := _evenly(panels, most)) and sum(max(map(_height, row)) for row in found) > TALLEST:
        if width / (most + 1) < NARROWEST * widest:
            break
        most += 1
    return found


def _evenly(panels: Sequence[Panel], most: int) -> list[Sequence[Panel]]:
    """Split panels into as few rows as go, all but the last equally long."""
    across = ceil(len(panels) / ceil(len(panels) / most))
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _height(panel: Panel) -> float:
    """Give the height of a panel in inches, with its heading."""
    return panel.height / PIXELS_AN_INCH * SCALE + (0.25 if panel.heading else 0.05)


def _panel(place: SubFigure, panel: Panel, width: float) -> None:
    panel.drawn(place.subplots())
    for axes in place.axes:  # a label that is longer than its axis would shrink it, or be cut
        axes.set_xlabel(_label(axes.get_xlabel(), width))
        axes.set_ylabel(_label(axes.get_ylabel(), _height(panel)))
        for line in axes.lines:  # one without a point would be laid out in the corner of the whole picture
            line.set_in_layout(bool(np.isfinite(line.get_xydata()).all(axis=1).any()))
    if panel.heading:
        heading = fill(legible(panel.heading), int(width / LETTER), max_lines=2, placeholder="…")
        place.suptitle(heading, fontsize=mpl.rcParams["axes.titlesize"], fontweight="bold")


def _label(text: str, room: float) -> str:
    """Wrap the label of an axis, which has about half of a panel's width or height."""
    return fill(legible(text), int(room * 0.55 / LETTER))


def _legend(place: Figure | SubFigure, entries: Sequence[LegendEntry], width: float) -> Legend:
    """Draw a legend in as many columns as have room."""
    kept = (legible(one.label).replace(" = ", "\u00a0=\u00a0") for one in entries)  # a line never ends inside n = 15
    labels = [fill(label, int(width / LETTER) - 6) for label in kept]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    across = max(1, min(len(labels), int(width / (LETTER * (longest + 6)))))
    bars = any(one.hatch for one in entries)
    return place.legend(
        [_handle(one, bars) for one in entries], labels, loc="center", ncols=across, frameon=False, borderaxespad=0
    )


def _legend_height(entries: Sequence[LegendEntry], width: float) -> float:
    """Measure the legend, in inches."""
    if not entries:
        return 0.0
    figure = Figure((width, 9), dpi=DOTS_AN_INCH)
    return float(_legend(figure, entries, width).get_window_extent().height / DOTS_AN_INCH) + 0.05


def _handle(one: LegendEntry, bars: bool) -> Artist:
    """Draw the mark of a legend: a bar with its hatch, or a line and its marker."""
    if bars:
        return Patch(facecolor=to_rgba(one.colour, PALE), edgecolor=INK, hatch=one.hatch, linewidth=0.6)
    inside = one.colour if one.filled else "none"
    style: dict[str, Any] = {"marker": one.marker, "linestyle": one.line or "none", "markerfacecolor": inside}
    return Line2D([], [], color=one.colour, **style)


def _unlink(figure: Figure) -> None:
    """Take away links, which lead to pages beside a report."""
    for one in figure.findobj():
        one.set_url(None)
        if hasattr(one, "set_urls"):
            one.set_urls([None])


@contextmanager
def _telling_of_missing_glyphs() -> Iterator[None]:
    """Gather matplotlib's warnings of missing glyphs into one that names the characters."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    missing: dict[str, None] = {}
    for one in heard:
        if found := _MISSING.match(str(one.message)):
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if missing:
        said = f"the fonts here lack {' '.join(missing)}: boxes in the figure; the report's page shows them"
        warnings.warn(said, stacklevel=4)
