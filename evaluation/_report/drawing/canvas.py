"""Drawings, panels and axes, with colours, marks, labels and scales. A panel is a function of axes.

A panel is drawn only for its output: into a page by `inline`, into a file by `figure_files`.
Text is never parsed as mathematics.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from harbor._core.basics.errors import HarborError
from harbor.evaluation._metrics.measurement import Bounds, Unit, metric_or_none
from harbor.evaluation._report.tabular.formatting import unit_of, write_tick
from harbor.evaluation._report.tabular.page_parts import legible

INK, FAINT = "#2b3038", "#d4d8de"
"""Colours of text and of lines in the background."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
"""Wong's colour-blind-safe palette, without the colours that are invisible on a white or a black page."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of series, in matplotlib's letters."""
SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖")
"""The markers as text, for legends."""
PIXELS_AN_INCH = 96
"""Pixels per inch on a page."""
INCHES_FOR_NUMBERS = 5.0
"""From this width on, a picture has room for numbers beside its marks. A page always has."""
WIDTH, HEIGHT = 430, 280
"""Default size of a panel in pixels."""
TALLEST_PANEL = 940
"""Highest panel, in pixels, that fits on a page of paper with a heading and a short legend."""
LONGEST_LABEL, LONGEST_LINE = 28, 24
"""The greatest number of characters of a label on one line, and of each line of a label on two."""
STYLE: dict[Any, Any] = {
    **{name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"},  # ignores a matplotlibrc
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
}
"""Matplotlib settings of all figures; sizes are in points."""
Draw = Callable[[Axes], object]
"""Draws on empty axes. It may return a description of the panel, for readers who can't see it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a figure: its heading, its description, its function, and its size in pixels on a page.

    If `draw` returns words, they follow those of `alt`.
    """

    heading: str
    alt: str
    draw: Draw = field(compare=False)
    width: int
    height: int

    def drawn(self, axes: Axes) -> str:
        """Draw the panel on empty axes. Return its description."""
        said = self.draw(axes)
        return f"{self.alt}{said}" if isinstance(said, str) else self.alt


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of a legend: its label, colour, mark as text, and matplotlib's marker, line and hatch."""

    label: str
    colour: str
    sign: str = "■"
    marker: str = "s"
    line: str = ""
    hatch: str = ""
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: its title and caption, its panels and their legend, and the number of panels that were left out.

    If it could not be drawn, `failure` has the reason in one line and there are no panels. `question` is the question
    that it answers. `facts` describe its numbers by name: the games behind them (n), the unit, the interval. `beside`
    explains the numbers beside the marks, which only pictures at least `INCHES_FOR_NUMBERS` wide have; `narrow` says
    where to find them otherwise.
    """

    title: str
    caption: str
    panels: tuple[Panel, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    left_out: int = 0
    failure: str = ""
    question: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    beside: str = ""
    narrow: str = ""

    def reading(self, inches: float = INCHES_FOR_NUMBERS) -> str:
        """Return the question, the caption for this width and the facts in one paragraph."""
        beside = self.beside if inches >= INCHES_FOR_NUMBERS else self.narrow
        return " ".join(filter(None, (self.question, self.caption, *(_sentence(*one) for one in self.facts), beside)))


def _sentence(name: str, said: str) -> str:
    """Return a fact as a sentence. Facts with other names, as from extensions, follow their name."""
    known = {"n": "n = {}.", "unit": "The unit is {}.", "interval": "Intervals are {}."}
    return known.get(name, f"{name}: {{}}.").format(said)


def colour(place: int) -> str:
    """Return the colour of a series. Colours repeat beyond the palette, with other shapes."""
    return COLOURS[place % len(COLOURS)]


def shape(place: int, shapes: Sequence[str]) -> str:
    """Return a shape of as many as there are colours, so that no two of 49 series share both colour and shape."""
    return shapes[(place + place // len(COLOURS)) % len(COLOURS)]


def marker(place: int) -> str:
    """Return the marker of a series."""
    return shape(place, MARKERS)


def sign(place: int) -> str:
    """Return the marker of a series as text."""
    return shape(place, SIGNS)


def legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Return a legend that names series by colour and marker."""
    return tuple(LegendEntry(name, colour(place), sign(place), marker(place)) for place, name in enumerate(names))


def label(text: str) -> str:
    """Shorten a name to fit beside an axis."""
    return legible(text, LONGEST_LABEL)


def wrapped(text: str) -> str:
    """Wrap a name to one line or two, and shorten it to fit."""
    return "\n".join(wrap(legible(text), LONGEST_LINE, max_lines=2, placeholder="…"))


def show_unit(axes: Axes, unit: Unit, *, vertical: bool = True) -> None:
    """Write the ticks of an axis in the unit of its metric. On a horizontal axis each label of dollars gets an inch."""
    axis = axes.yaxis if vertical else axes.xaxis
    if unit == "dollars":
        low, high = axis.get_view_interval()
        axis.set_major_formatter(lambda value, _: write_tick(value, abs(high - low)))
        if not vertical:
            axis.set_major_locator(MaxNLocator(int(axes.figure.bbox.width / axes.figure.dpi), steps=[1, 2, 2.5, 5, 10]))


def failed(name: str, title: str, error: Exception) -> Drawing:
    """Warn that a figure can't be drawn. Return a drawing with the reason in its place."""
    why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
    failure = legible(f"figure {name!r} can't be drawn: {why}")
    warnings.warn(failure, stacklevel=3)
    return Drawing(title, "", failure=failure)


def link(address: str, words: str) -> str:
    """Return the `set_urls` argument that links a mark to an address, and names the mark for readers who can't see it.

    Marks have links only on a page. A space separates address and name, as XML readers turn line ends into spaces.
    """
    return f"{address.replace(' ', '%20')} {words}"


def paint(heading: str, alt: str, draw: Draw, width: int = WIDTH, height: int = HEIGHT) -> Panel:
    """Return a panel. `draw` gets empty axes; sizes are in pixels on a page."""
    return Panel(heading, alt, draw, width, height)


MARGIN = 0.05
"""Room beyond the values, as a share of their span. It ends at the bounds of the metric."""
WHOLE = ("priority", "rank")
"""Units whose ticks are whole numbers."""
LONGEST = 38
"""The greatest number of characters on each line of an axis title."""


def bounds_of(metric: str, bidders: int = 0) -> Bounds:
    """Return the least and the greatest value of a metric. A rank is at most the number of bidders."""
    found = metric_or_none(metric)
    if found is None:
        return -inf, inf
    least, most = found.bounds
    return least, float(bidders) if found.unit == "rank" and bidders > 1 else most


def bounds_in(metric: str, rows: pd.DataFrame) -> Bounds:
    """Return the bounds of a metric in a game of the bidders of these rows."""
    return bounds_of(metric, rows["bidder"].nunique())


def span(low: float, high: float, bounds: Bounds) -> tuple[float, float]:
    """Return the ends of an axis: the values with a margin, within the bounds."""
    margin = (high - low) * MARGIN or min(0.5, abs(high) / 10 or 0.5)
    ends = max(low - margin, bounds[0]), min(high + margin, bounds[1])
    return ends if ends[0] < ends[1] else (low - margin, high + margin)


def titled(metric: str, says: str = "") -> str:
    """Return the title of an axis: its metric, and the unit unless the words or the ticks name it."""
    found, unit = metric_or_none(metric), unit_of(metric)
    said = says or (found.description if found else metric)
    named = said if unit in ("dollars", "number", "count", *said.casefold().split()) else f"{said}, {unit}"
    return "\n".join(wrap(named, LONGEST))


def upright(axes: Axes, metric: str, low: float, high: float, bounds: Bounds) -> None:
    """Set a vertical axis of a metric. Ranks are upside down, with the best on top."""
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
    """Limit the ticks of a horizontal axis so that they do not touch."""
    most = min(6, int(axes.figure.bbox.width / axes.figure.dpi))  # one for each inch
    axes.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
