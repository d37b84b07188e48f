"""The pictures of a run as a figure: its marks, drawn as the page of the run draws them, a panel for each part.

Facts are solid. What bidders thought, and what theory says, is dashed. A bidder has one colour; all else is in ink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from harbor._games.drawn import Mark, Picture, Scale
from harbor.evaluation._report.canvas import (
    HEIGHT,
    INK,
    WIDTH,
    Drawing,
    LegendEntry,
    Panel,
    colour,
    marker,
    paint,
    show_unit,
    sign,
)
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.panels import MOST
from harbor.evaluation._report.scales import few_ticks
from harbor.evaluation._report.series_marks import PALE

EXPECTED = frozenset({"limit", "estimate", "belief", "expected", "predicted", "mirrored", "profile", "theory"})
"""Roles and series that are dashed, as on the page."""
OUT = "out"
"""The role of points that are crosses: there a series ends."""
GREYS = (INK, "#747c88", "#a3aab4")
"""Of what is no bidder's."""
SMALL = 205, 175
"""Pixels: the width and height of a panel where there are several; two have room in a column."""
ASIDE = 1.8
"""Points: how far bids of two bidders in one round stand apart."""
LONGEST_NAME, NAMES_ASIDE, NAMES_HIGH = 20, 4, 60
"""Of names along x: the most characters, how many stand side by side before they are turned, and then their pixels."""

Key = tuple[str, str, str]
"""Series, role and kind: marks that belong together."""
Part = tuple[str, Sequence[Mark]]
"""A panel: its heading, and its marks."""
At = tuple[float | None, float | None, float | None]
"""Of a mark: x, y and the upper end."""


class Look(NamedTuple):
    """How marks that belong together look; points of bidders stand `aside`, in typographic points, to be seen."""

    colour: str
    marker: str
    dashes: str
    aside: float = 0.0

    def line(self) -> dict[str, Any]:
        """Give the style of a line."""
        return {"color": self.colour, "linestyle": self.dashes}


def run_figure(picture: Picture, parts: Sequence[Part], bidders: Sequence[str], caption: str) -> Drawing:
    """Draw a picture of a run, one panel per part that has marks; `bidders` in the order of their colours."""
    keys = list(dict.fromkeys(_key(mark) for _, marks in parts for mark in marks))
    aside = ASIDE * (picture.x_scale == "number")
    looks = {key: _look(key, keys, bidders, aside) for key in keys}
    named = any(_names(marks) for _, marks in parts)
    size = (WIDTH, HEIGHT + NAMES_HIGH * named) if len(parts) == 1 or named else SMALL

    def panel(heading: str, marks: Sequence[Mark]) -> Panel:
        told = f"{picture.title}, {heading}: {len(marks)} marks"
        return paint(heading, told, lambda axes: _draw(axes, picture, marks, looks), *size)

    panels = tuple(panel(heading, marks) for heading, marks in parts)
    left_out = max(0, len(panels) - MOST)
    return Drawing(picture.title, caption, panels[:MOST], _legend(looks, bidders), left_out)


def _key(mark: Mark) -> Key:
    return mark.series, mark.role, mark.kind


def _look(key: Key, keys: Sequence[Key], bidders: Sequence[str], aside: float) -> Look:
    series, role, _ = key
    dashes = "--" if {series, role} & EXPECTED else "-"
    if series in bidders:
        place = bidders.index(series)
        return Look(
            colour(place), "x" if role == OUT else marker(place), dashes, (place - (len(bidders) - 1) / 2) * aside
        )
    others = [one for one in keys if one[0] not in bidders]
    return Look(GREYS[others.index(key) % len(GREYS)], "x" if role == OUT else ".", dashes)


def _legend(looks: Mapping[Key, Look], bidders: Sequence[str]) -> tuple[LegendEntry, ...]:
    """Name the bidders by their colours, then what they do in ink, then what is no bidder's in its own."""
    drawn = {series for series, _, _ in looks}
    names = {
        name: LegendEntry(name, colour(place), sign(place), marker(place))
        for place, name in enumerate(bidders)
        if name in drawn
    }
    found: dict[str, LegendEntry] = {}
    for (series, role, kind), look in looks.items():
        own = series in names
        says = role if own or series == role else f"{series}, {role}"
        line = look.dashes if kind in ("line", "step") else ""
        shape = "" if line else look.marker if not own or role == OUT else "o" if kind == "point" else "s"
        found.setdefault(
            says,
            LegendEntry(
                says, INK if own else look.colour, "─" if line else "●", shape, line, filled=look.dashes == "-"
            ),
        )
    return (*names.values(), *found.values())


def _draw(axes: Axes, picture: Picture, marks: Sequence[Mark], looks: Mapping[Key, Look]) -> None:
    """Draw the marks of a panel, group by group, then what stands everywhere, and the axes."""
    names = _names(marks)
    groups: dict[Key, list[At]] = {}
    for mark in marks:
        at = names.index(mark.x) if isinstance(mark.x, str) else _number(mark.x)
        groups.setdefault(_key(mark), []).append((at, _number(mark.y), _number(mark.high)))
    placed = [at for rows in groups.values() for at, _, _ in rows if at is not None]
    end = max(placed, default=1.0)
    bars = [key for key in groups if key[2] == "bar"]
    for key, rows in groups.items():
        look, there = looks[key], [row for row in rows if row[0] is not None]
        if len(there) < len(rows) and (level := [y for at, y, _ in rows if at is None][-1]) is not None:
            axes.axhline(level, **look.line(), linewidth=1)
        if key[2] == "bar":
            _bars(axes, there, look, bars.index(key), len(bars))
        elif there:
            _DRAWN[key[2]](axes, there, look, end)
    axes.set(xlabel=picture.x, ylabel=picture.y)
    _scale(axes, picture.scale, vertical=True)
    if names:
        turned = len(names) > NAMES_ASIDE
        axes.set_xticks(range(len(names)), [legible(name, LONGEST_NAME) for name in names], rotation=90 * turned)
        return
    few_ticks(axes)
    _scale(axes, picture.x_scale, vertical=False)
    if all(at == int(at) for at in placed):
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.margins(x=0.05)


def _line(axes: Axes, rows: Sequence[At], look: Look, end: float) -> None:
    del end
    ordered = sorted(rows, key=lambda row: cast("float", row[0]))
    dot = "." if look.dashes == "-" or len(rows) == 1 else ""
    axes.plot([at for at, _, _ in ordered], [_or_gap(y) for _, y, _ in ordered], marker=dot, **look.line())


def _step(axes: Axes, rows: Sequence[At], look: Look, end: float) -> None:
    held = (*rows, (max(end, rows[-1][0] or end), rows[-1][1], None))
    axes.plot([at for at, _, _ in held], [_or_gap(y) for _, y, _ in held], drawstyle="steps-post", **look.line())


def _points(axes: Axes, rows: Sequence[At], look: Look, end: float) -> None:
    del end
    inside = {"markerfacecolor": "none"} if look.dashes == "--" else {}
    at, ys, _ = zip(*((at, _or_gap(y), high) for at, y, high in rows), strict=True)
    [drawn] = axes.plot(at, ys, linestyle="", marker=look.marker, color=look.colour, clip_on=False, **inside)
    drawn.set_transform(drawn.get_transform() + ScaledTranslation(look.aside / 72, 0, axes.figure.dpi_scale_trans))


def _band(axes: Axes, rows: Sequence[At], look: Look, end: float) -> None:
    del end
    at, low, high = ([_or_gap(value) for value in column] for column in zip(*sorted(rows), strict=True))
    axes.fill_between(at, low, high, color=look.colour, alpha=0.2, linewidth=0)


def _bars(axes: Axes, rows: Sequence[At], look: Look, nth: int, many: int) -> None:
    """Draw bars side by side; the last at a place replaces those before it."""
    last = {at: y for at, y, _ in rows}
    places = [cast("float", at) + (nth - (many - 1) / 2) * 0.8 / many for at, y in last.items() if y is not None]
    heights = [y for y in last.values() if y is not None]
    inside = "none" if look.dashes == "--" else to_rgba(look.colour, PALE)
    axes.bar(places, heights, 0.8 / many, color=inside, edgecolor=look.colour, linestyle=look.dashes)


_DRAWN = {"line": _line, "step": _step, "point": _points, "band": _band}


def _scale(axes: Axes, scale: Scale, *, vertical: bool) -> None:
    show_unit(axes, scale, vertical=vertical)
    if scale == "share" and vertical:
        axes.set_ylim(-0.02, 1.02)


def _names(marks: Sequence[Mark]) -> list[str]:
    """List the names along x, if these are names."""
    return list(dict.fromkeys(mark.x for mark in marks if isinstance(mark.x, str)))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _or_gap(value: float | None) -> float:
    return float("nan") if value is None else value
