"""Drawing with matplotlib, without a screen, as SVG images that follow a light or a dark page.

Text is never parsed as mathematics and stays text in the image, so that the reader's fonts can show every script.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import StringIO
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._metrics.measurement import Unit
from harbor.evaluation._report.formatting import legible, write_tick

INK, FAINT = "#2b3038", "#d4d8de"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
"""Wong's colour-blind-safe palette, without the colours that are invisible on a white or a black page."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖")
"""The markers as text, for legends."""
PIXELS_AN_INCH = 96
WIDTH, HEIGHT = 430, 280
LONGEST_LABEL, LONGEST_LINE = 28, 24
"""Most characters of a label on one line, and of each line of a label on two."""
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "harbor",  # equal figures are equal text
    "svg.fonttype": "none",
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
_DARK = "".join(
    f'[style*="{what}: {light}"]{{{what}:{dark} !important}}'
    for light, dark in ((INK, "#dfe3e8"), (FAINT, "#454b55"), (COLOURS[0], "#3d9ad6"))
    for what in ("fill", "stroke")
)
_CSS = f"text{{font-family:system-ui,sans-serif !important}}@media(prefers-color-scheme:dark){{{_DARK}}}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One image of a figure: its heading, what it shows in words, the image as a data URI, its size in pixels."""

    heading: str
    alt: str
    source: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of a legend."""

    label: str
    colour: str
    sign: str = "■"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: its title and caption, its panels and their legend, and how many panels were left out.

    `failure` says in one line why it could not be drawn; then there are no panels.
    """

    title: str
    caption: str
    panels: tuple[Panel, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    left_out: int = 0
    failure: str = ""


def colour(place: int) -> str:
    """Give the colour of a series; all series beyond the palette have its last colour."""
    return COLOURS[min(place, len(COLOURS) - 1)]


def marker(place: int) -> str:
    """Give the marker of a series."""
    return MARKERS[min(place, len(MARKERS) - 1)]


def legend(names: Iterable[str]) -> tuple[LegendEntry, ...]:
    """Name series by their colours and markers."""
    last = len(SIGNS) - 1
    return tuple(LegendEntry(name, colour(place), SIGNS[min(place, last)]) for place, name in enumerate(names))


def label(text: str) -> str:
    """Shorten a name to fit beside an axis."""
    return legible(text, LONGEST_LABEL)


def wrapped(text: str) -> str:
    """Wrap a name to one line or two, and shorten it to fit."""
    return "\n".join(wrap(legible(text), LONGEST_LINE, max_lines=2, placeholder="…"))


def show_unit(axes: Axes, unit: Unit, *, vertical: bool = True) -> None:
    """Write the ticks of an axis in the unit of its metric; labels of dollars, side by side, have an inch each."""
    axis = axes.yaxis if vertical else axes.xaxis
    if unit == "dollars":
        low, high = axis.get_view_interval()
        axis.set_major_formatter(lambda value, _: write_tick(value, abs(high - low)))
        if not vertical:
            axis.set_major_locator(MaxNLocator(int(axes.figure.bbox.width / axes.figure.dpi), steps=[1, 2, 2.5, 5, 10]))


def paint(heading: str, alt: str, draw: Callable[[Axes], None], width: int = WIDTH, height: int = HEIGHT) -> Panel:
    """Draw a panel: `draw` gets empty axes; sizes are in pixels."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+")  # fonts here may lack a glyph that the reader's have
        figure = Figure((width / PIXELS_AN_INCH, height / PIXELS_AN_INCH), layout="constrained")
        draw(figure.subplots())
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue().replace('<style type="text/css">', f'<style type="text/css">{_CSS}', 1)
    return Panel(heading, alt, f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}", width, height)
