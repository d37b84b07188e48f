"""A figure as files for a paper: its panels and its legend, as wide as a column or a page, one file for each page.

Fonts are embedded, or text is outlines: every viewer shows the same. The caption stands beside the picture, not in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from textwrap import fill
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure, SubFigure

from harbor._core.errors import ConfigError, HarborError
from harbor.evaluation._report.canvas import STYLE, Drawing, Panel
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.inline import legal
from harbor.evaluation._report.paging import Page, height_of, pages, row_height
from harbor.evaluation._report.picture_legend import DOTS_AN_INCH, LETTER, draw_legend, legend_height

FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": 3.4, "page": 7.0}
"""Inches."""
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
_MISSING = re.compile(r"Glyph (\d+) ")


class Picture(NamedTuple):
    """The bytes of a file, and which page of its figure it is; empty if it is the only one."""

    data: bytes
    says: str


def pictures(drawing: Drawing, form: str, width: float) -> list[Picture]:
    """Put a figure out as files: one for each of its pages.

    A character that the fonts lack is an empty box there: one warning names all.

    Args:
        drawing: the figure.
        form: one of `FORMATS`.
        width: in inches.

    Raises:
        ConfigError: the figure can't be drawn, its drawing failed, or a panel is taller than a page.
    """
    if drawing.failure:
        raise ConfigError(drawing.failure)
    with mpl.rc_context(FILE_STYLE), _telling_of_missing_glyphs():
        try:
            laid_out = pages(drawing, width)
            return [Picture(_saved(_figure(page, width), form, drawing.title), page.says) for page in laid_out]
        except Exception as error:  # a stranger's function
            why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
            raise ConfigError(legible(f"figure {drawing.title!r} can't be drawn: {why}")) from error


def _saved(figure: Figure, form: str, title: str) -> bytes:
    about = {"pdf": {"Title": legible(title), "CreationDate": None}, "svg": {"Title": legible(title), "Date": None}}
    file = BytesIO()
    figure.savefig(file, format=form, dpi=DOTS_AN_INCH, metadata=about.get(form))
    if form != "svg":
        return file.getvalue()
    return legal(file.getvalue().decode("utf-8", "surrogatepass")).encode()


def _figure(page: Page, width: float) -> Figure:
    """Draw a page: rows of panels, each as high as its highest panel, and the legend below them."""
    heights, below = [row_height(row) for row in page.rows], legend_height(page.legend, width)
    size = (width, sum(heights) + below)
    figure = Figure(size, dpi=DOTS_AN_INCH, layout="constrained", facecolor="white")
    grid = figure.add_gridspec(
        len(heights) + bool(below), page.across, height_ratios=[*heights, *filter(None, [below])]
    )
    for place, row in enumerate(page.rows):
        for column, panel in enumerate(row):
            cell, own = figure.add_subfigure(grid[place, column]), height_of(panel)
            _panel(_top(cell, own, heights[place] - own), panel, width / page.across)
    if below:
        draw_legend(figure.add_subfigure(grid[-1, :]), page.legend, width)
    if tuple(figure.get_size_inches()) != size:
        raise ConfigError("its function changes the size of the picture; leave that to Harbor")
    _unlink(figure)
    return figure


def _top(cell: SubFigure, height: float, rest: float) -> SubFigure:
    """Give the upper part of a cell, so that a panel is no higher than it should be."""
    return cell.subfigures(2, 1, squeeze=False, height_ratios=[height, rest])[0, 0] if rest > 0.1 else cell


def _panel(place: SubFigure, panel: Panel, width: float) -> None:
    panel.drawn(place.subplots())
    for axes in place.axes:  # a label that is longer than its axis would shrink it, or be cut
        axes.set_xlabel(_label(axes.get_xlabel(), width))
        axes.set_ylabel(_label(axes.get_ylabel(), height_of(panel)))
        for line in axes.lines:  # one without a point would be laid out in the corner of the whole picture
            line.set_in_layout(bool(np.isfinite(line.get_xydata()).all(axis=1).any()))
    if panel.heading:
        said = place.suptitle("", fontsize=mpl.rcParams["axes.titlesize"], fontweight="bold")
        for letters in range(int(width / LETTER), 1, -1):  # as many as have room there, be they wide or narrow
            said.set_text(fill(legible(panel.heading), letters, max_lines=2, placeholder="…"))
            if said.get_window_extent().width <= width * place.dpi:
                break


def _label(text: str, room: float) -> str:
    """Wrap the label of an axis, which has about half of a panel's width or height."""
    return fill(legible(text), int(room * 0.55 / LETTER))


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
