"""The rows of a chart of means: each is named beside the axis, and those of one arm stand under a heading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes

from harbor.evaluation._report.canvas import TALLEST_PANEL, wrapped
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.own_numbers import Place
from harbor.evaluation._report.tables import label_of

LINE, MARGIN = 19, 70
"""Pixels: the height of a line of a row's label or of a heading, and of everything around the rows."""
MOST_LINES = (TALLEST_PANEL - MARGIN) // LINE
"""Of the rows of a panel with their headings; more go on in the next."""
LONGEST_HEADING = 36
"""Characters: what has room above the rows in a column."""
OUTER_FIRST = ("condition", "arm", "bidder")


class Row(NamedTuple):
    """A row of a chart: what it is of, its group, and in lines the heading of the group and its own label."""

    place: Place
    group: tuple[str, ...]
    heading: tuple[str, ...]
    label: tuple[str, ...]


class Layout(NamedTuple):
    """Where rows and headings are, in lines from the top to their middles, and how many lines there are."""

    rows: dict[Place, float]
    headings: list[tuple[float, Sequence[str]]]
    height: int


def rows_of(loaded: Loaded, places: Iterable[Place], bidders: Sequence[str]) -> list[Row]:
    """Name rows by what varies: the last of condition, arm and bidder in the label, all others in the heading."""
    experiment = loaded.experiment
    arms, conditions = ([one.name for one in some] for some in (experiment.arms, experiment.conditions))
    ordered = sorted(
        set(places),
        key=lambda one: (conditions.index(one.condition), arms.index(one.arm), bidders.index(one.bidder)),
    )
    varied = [name for name in OUTER_FIRST if len({getattr(one, name) for one in ordered}) > 1]
    *outer, last = varied or ["bidder" if ordered[0].bidder else "arm"]
    found = []
    for place in ordered:
        group = tuple(_named(loaded, place, name) for name in outer)
        heading = wrap(" · ".join(group), LONGEST_HEADING, max_lines=2, placeholder="…")
        found.append(Row(place, group, tuple(heading), tuple(wrapped(_named(loaded, place, last)).split("\n"))))
    return found


def _named(loaded: Loaded, place: Place, what: str) -> str:
    said = str(getattr(place, what))
    return legible(said if what == "bidder" else label_of(loaded.experiment, what, said)) or "the game"


def laid_out(rows: Sequence[Row]) -> Layout:
    """Put rows below each other, with a heading above each group."""
    at, headings, down = dict[Place, float](), list[tuple[float, Sequence[str]]](), 0
    for place, row in enumerate(rows):
        if row.heading and (place == 0 or rows[place - 1].group != row.group):
            headings.append((down + len(row.heading) / 2, row.heading))
            down += len(row.heading)
        at[row.place] = down + len(row.label) / 2
        down += len(row.label)
    return Layout(at, headings, down)


def panelled(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Put rows in panels of `MOST_LINES`; those of one heading stay together if they can."""
    panel, full = list[Row](), 0
    for piece in _pieces(rows):
        own = laid_out(piece).height
        if panel and full + own > MOST_LINES:
            yield panel
            panel, full = [], 0
        panel, full = panel + piece, full + own
    yield panel


def _pieces(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split rows where the heading changes, and where a panel is full."""
    piece = list[Row]()
    for row in rows:
        if piece and (row.group != piece[0].group or laid_out([*piece, row]).height > MOST_LINES):
            yield piece
            piece = []
        piece.append(row)
    yield piece


def write_rows(axes: Axes, rows: Sequence[Row], layout: Layout) -> None:
    """Set the vertical axis: a label beside each row, and headings, which take no room from the axes."""
    axes.set_yticks([layout.rows[row.place] for row in rows], ["\n".join(row.label) for row in rows])
    axes.set_ylim(layout.height, 0)
    axes.grid(visible=False, axis="y")
    for middle, heading in layout.headings:
        said = axes.text(
            0.01, middle, "\n".join(heading), transform=axes.get_yaxis_transform(), ha="left", va="center",
            fontweight="bold", fontsize=mpl.rcParams["ytick.labelsize"], linespacing=1,
        )  # fmt: skip
        said.set_in_layout(False)
