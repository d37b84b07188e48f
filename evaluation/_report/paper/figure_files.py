"""Writes the figures of an experiment to files for a paper, each with its caption in a file beside it.

A figure is as wide as a column or a page, with one file for each page. Fonts are embedded, or text is outlines: every
viewer shows the same. The caption stands beside the picture, not in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure, SubFigure

from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.feedback import steps
from harbor._core.files.safe_files import write_whole
from harbor.evaluation._report.drawing.canvas import STYLE, Drawing, Panel
from harbor.evaluation._report.drawing.inline import legal
from harbor.evaluation._report.paper.exports import SIMULATED
from harbor.evaluation._report.paper.paging import (
    DOTS_AN_INCH,
    LETTER,
    Page,
    draw_legend,
    height_of,
    legend_height,
    pages,
    row_height,
)
from harbor.evaluation._report.plots.figures import Way, in_a_name, means_name, way_of_means, ways_to_draw
from harbor.evaluation._report.plots.intervals import drawable
from harbor.evaluation._report.tabular.formatting import escaped
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import legible
from harbor.evaluation._report.tabular.tables import asked

FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": 3.4, "page": 7.0}
"""Widths of figures in inches."""
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
"""Matplotlib settings for files: fonts as outlines or TrueType, smaller text, thinner lines."""
_MISSING = re.compile(r"Glyph (\d+) ")
"""Matplotlib's warning of a missing glyph."""


class Picture(NamedTuple):
    """The bytes of a file, and a sentence on its page ("" if the figure has one page)."""

    data: bytes
    says: str


def pictures(drawing: Drawing, form: str, width: float) -> list[Picture]:
    """Draw a figure as files: one for each of its pages.

    A character that the fonts lack is an empty box there; one warning names all.

    Args:
        drawing: the figure.
        form: one of `FORMATS`.
        width: width in inches.

    Raises:
        ConfigError: the figure can't be drawn, its drawing failed, or a panel is taller than a page.
    """
    if drawing.failure:
        raise ConfigError(drawing.failure)
    with mpl.rc_context(FILE_STYLE), _telling_of_missing_glyphs():
        try:
            laid_out = pages(drawing, width)
            return [Picture(_saved(_figure(page, width), form, drawing.title), page.says) for page in laid_out]
        except Exception as error:  # an extension may raise anything
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
    """Return the upper part of a cell, so that a panel keeps its own height."""
    return cell.subfigures(2, 1, squeeze=False, height_ratios=[height, rest])[0, 0] if rest > 0.1 else cell


def _panel(place: SubFigure, panel: Panel, width: float) -> None:
    panel.drawn(place.subplots())
    for axes in place.axes:  # a label longer than its axis would shrink the axis, or be cut
        axes.set_xlabel(_label(axes.get_xlabel(), width))
        axes.set_ylabel(_label(axes.get_ylabel(), height_of(panel)))
        for line in axes.lines:  # layout puts a line without points in the picture's corner
            line.set_in_layout(bool(np.isfinite(line.get_xydata()).all(axis=1).any()))
    if panel.heading:
        said = place.suptitle("", fontsize=mpl.rcParams["axes.titlesize"], fontweight="bold")
        for letters in range(int(width / LETTER), 1, -1):  # letters differ in width, so measure
            said.set_text(fill(legible(panel.heading), letters, max_lines=2, placeholder="…"))
            if said.get_window_extent().width <= width * place.dpi:
                break


def _label(text: str, room: float) -> str:
    """Wrap the label of an axis, which has about half of a panel's width or height."""
    return fill(legible(text), int(room * 0.55 / LETTER))


def _unlink(figure: Figure) -> None:
    """Remove links: they lead to pages beside a report."""
    for one in figure.findobj():
        one.set_url(None)
        if hasattr(one, "set_urls"):
            one.set_urls([None])


@contextmanager
def _telling_of_missing_glyphs() -> Iterator[None]:
    """Replace matplotlib's warnings of missing glyphs by one that names the characters."""
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


def drawings(loaded: Loaded, only: str = "") -> dict[str, Drawing]:
    """Draw the figures of an experiment by file name: those of its report, and the means of each metric.

    Args:
        loaded: the experiment.
        only: the only figure to draw; "" for all.
    """
    ways = _ways(loaded)
    drawn = {name: ways[name].draw() for name in ([only] if only else ways) if name in ways}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def names(loaded: Loaded) -> dict[str, str]:
    """Return the figures of an experiment with their question or title, without drawing them.

    Drawing may find that a rare figure has nothing to show.
    """
    there = {"differences": bool(loaded.experiment.comparisons), "trueskill": loaded.experiment.trueskill}
    there |= {means_name(one): bool(drawable(loaded, one)[0]) for one in asked(loaded.experiment)}
    return {name: way.says for name, way in _ways(loaded).items() if there.get(name, True)}


def _ways(loaded: Loaded) -> dict[str, Way]:
    return ways_to_draw(loaded) | {
        means_name(one): way for one in asked(loaded.experiment) if (way := way_of_means(loaded, one)) is not None
    }


def write_figure(loaded: Loaded | None, drawing: Drawing, file: Path, form: str, width: str) -> list[Path]:
    """Write a figure into a file, and its caption beside it: ready for LaTeX, or as text beside an SVG.

    For a single run (`loaded` is None), the words of `drawing` already tell whether it is simulated. If the figure has
    several pages, each is a file, numbered from 1: `NAME-1.pdf`, `NAME-2.pdf`.

    Returns:
        each file, followed by that of its caption, whose name ends in `-caption`.

    Raises:
        ConfigError: the figure can't be drawn.
        OSError: a file can't be written.
    """
    [painted] = [pictures(one, form, WIDTHS[width]) for one in steps([drawing], "figures drawn")]
    file.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for number, (data, page) in enumerate(painted, 1):
        own = file.with_name(f"{file.stem}-{number}{file.suffix}") if page else file
        write_whole(own, data, private=False)
        said = caption(loaded, drawing, WIDTHS[width], page)
        words, ending = (said, ".txt") if form == "svg" else (_tex(own, said, width), ".tex")
        beside = own.with_name(f"{own.stem}-caption{ending}")  # NAME.tex may be the manuscript
        write_whole(beside, f"{words}\n".encode(), private=False)
        written += [own, beside]
    return written


def caption(loaded: Loaded | None, drawing: Drawing, inches: float, page: str = "") -> str:
    """Return the caption of a figure of this width in one paragraph, with its experiment's limits and its page."""
    left = f"{drawing.left_out} more panels are left out." if drawing.left_out else ""
    title = legible(drawing.title).rstrip(".") + "."
    title = title[0].upper() + title[1:]
    simulated = SIMULATED * (loaded is not None and loaded.results.simulated)
    return legible(" ".join(filter(None, (title, drawing.reading(inches), left, simulated, page))))


def _tex(file: Path, said: str, width: str) -> str:
    """Return the LaTeX environment for a figure file. A figure as wide as a page spans both columns."""
    kind, wide = ("figure*", r"\textwidth") if width == "page" else ("figure", r"\columnwidth")
    label = in_a_name(file.stem)
    return "\n".join(
        (
            "% needs \\usepackage{graphicx}",
            rf"\begin{{{kind}}}",
            r"  \centering",
            rf"  \includegraphics[width={wide}]{{{file.name}}}",
            rf"  \caption{{{escaped(said)}}}",
            rf"  \label{{fig:{label}}}",
            rf"\end{{{kind}}}",
        )
    )
