"""The pictures of a run as figures for a paper: the marks of its page in the same form, with a panel for each part.

Facts are solid. Bidders' thoughts and theory are dashed. Each bidder has one colour, and all other marks are grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator

from harbor._core.basics.errors import ConfigError
from harbor._core.basics.feedback import steps
from harbor._core.files.layout import auction_logs, log_of
from harbor._core.log.log import read_log
from harbor._core.log.log_entries import is_over
from harbor._core.plugins.finding import command
from harbor._games.board import GuardedBoard, Mark, Picture
from harbor._view.chunks import ANALYSTS, Marks, pictures_drawn
from harbor._view.page_data import places_of, seats_of
from harbor._view.run_record import RunRecord, read_run
from harbor.evaluation._metrics.calls import is_simulated
from harbor.evaluation._report.drawing.canvas import (
    HEIGHT,
    INK,
    WIDTH,
    Drawing,
    LegendEntry,
    few_ticks,
    legend,
    marker,
    paint,
    show_unit,
)
from harbor.evaluation._report.drawing.figure import MOST
from harbor.evaluation._report.drawing.series_marks import DASHES, PALE
from harbor.evaluation._report.paper.exports import SIMULATED
from harbor.evaluation._report.tabular.page_parts import legible

EXPECTED = frozenset({"limit", "estimate", "belief", "expected", "profile", "theory"})
"""Roles and series that are dashed, as on the page."""
DASHED = "Dashed and open: what bidders thought or aimed at, and theory."
OUT = "out"
"""The role of points that are crosses. A series ends at such a point."""
GREYS = (INK, "#747c88", "#a3aab4")
"""Colours of the marks that belong to no bidder."""
SMALL = 205, 175
"""Pixels: the width and height of a panel if there are several. Two fit in a column."""
LONG = 6
"""Points: the length of a dash in a level that several series share. Their dashes alternate."""
SIDESTEP, BARS = 0.12, 0.8
"""Shares of the distance between two places: the gap between two bidders' bids, and the width of all bars together."""
NAMES_HIGH, LONGEST_NAME = 60, 20
"""Height in pixels and most characters of the names along x."""

Key = tuple[str, str, str]
"""Series, role and kind of marks that belong together."""
Place = tuple[str, str, str]
"""A panel: the number and the name of its part, and the name of the panel."""


def run_drawings(run: Path) -> dict[str, Drawing]:
    """Return the pictures of a run that have marks, by name. They are not drawn yet.

    Raises:
        RunFolderError: there is no log.
        LogError: no entry can be read.
        ConfigError: the run has no marks, or it is a series.
    """
    if auctions := auction_logs(run):
        inside = str(auctions[0].parent)
        raise ConfigError(f"{str(run)!r} is a series; give the folder of one of its auctions, such as {inside!r}")
    record = read_run(run)
    if record.raw:
        read_log(log_of(run))  # raises the reason why only raw entries can be shown
    seats, told = seats_of(record.entries), f"Of one game; source: the log in {record.folder.resolve().name}."
    said = told + " It is not over." * (not is_over(record.entries)) + f" {SIMULATED}" * is_simulated(record.entries)
    found = {one.name: _drawing(one, parts, seats, said) for one, parts in _marks(record).items()}
    if not found:
        raise ConfigError(f"{str(run)!r} has no picture: nothing in its log is drawn; see: {command()} view")
    return found


def _marks(record: RunRecord) -> dict[Picture, dict[Place, list[Mark]]]:
    """Return the marks of each picture by part and panel. Marks before the first part count for the first."""
    if record.game is None:
        return {}
    board, marks = GuardedBoard(record.game.name, record.game.board), Marks(record.game, [ANALYSTS])
    known = [Picture(*one) for one in pictures_drawn(record.game)]  # type: ignore[arg-type]  # scales are typed as str
    starts = [(seq, name) for seq, kind, name in places_of(record.entries) if kind == "part"] or [(0, "")]
    found: dict[Picture, dict[Place, list[Mark]]] = {picture: {} for picture in known}
    part = 0
    for seq, _, event in steps(record.entries, "events drawn"):
        part += part + 1 < len(starts) and starts[part + 1][0] <= seq
        board.note(event)
        for _, at, panel, series, role, kind, x, y, high, _ in marks.of(seq, event, {ANALYSTS: board}):
            place = (str(part), starts[part][1]) if known[at].of_part else ("", "")
            mark = Mark(known[at].name, series, role, kind, y, x, high, panel)  # type: ignore[arg-type]  # as checked
            found[known[at]].setdefault((*place, panel), []).append(mark)
    return {picture: parts for picture, parts in found.items() if parts}


def _drawing(picture: Picture, parts: Mapping[Place, Sequence[Mark]], seats: Sequence[str], said: str) -> Drawing:
    keys = dict.fromkeys((one.series, one.role, one.kind) for marks in parts.values() for one in marks)
    drawn = dict.fromkeys(series for series, _, _ in keys)
    said += f" {DASHED}" * any({series, role} & EXPECTED for series, role, _ in keys)
    others = [name for name in drawn if name not in seats]
    looks = dict(zip(seats, legend(seats), strict=True))
    tints = {name: one.colour for name, one in looks.items()}
    tints |= {name: GREYS[at % len(GREYS)] for at, name in enumerate(others)}
    named = any(isinstance(one.x, str) for marks in parts.values() for one in marks)
    size = (WIDTH, HEIGHT + NAMES_HIGH * named) if named or len(parts) == 1 else SMALL
    panels = [
        paint(
            " · ".join(filter(None, place[1:])),
            f"{picture.title}: {len(marks)} marks",
            partial(_draw, picture=picture, marks=marks, seats=seats, tints=tints),
            *size,
        )
        for place, marks in parts.items()
    ]
    keyed = (*(looks[name] for name in seats if name in drawn), *_roles(keys, seats, tints))
    return Drawing(picture.title, said, tuple(panels[:MOST]), keyed, max(0, len(panels) - MOST))


def _roles(keys: Iterable[Key], seats: Sequence[str], tints: Mapping[str, str]) -> Iterable[LegendEntry]:
    """Return the legend entries of roles: bidders' in ink, and all others in their own grey."""
    found, keys = {}, list(keys)
    first = next((role for _, role, kind in keys if kind == "bar"), "")
    for series, role, kind in keys:
        own, dashed = series in seats, bool({series, role} & EXPECTED)
        says = role if own or series == role else f"{series}, {role}"
        line = DASHES[dashed] if kind in ("line", "step") else ""
        shape = "" if line else "x" if role == OUT else "o" if kind == "point" else "s"
        tint, symbol = INK if own else tints[series], "─" if line else "●"
        found[says] = LegendEntry(
            says, tint, symbol, shape, line, filled=not dashed and (kind != "bar" or role == first)
        )
    return found.values()


def _draw(axes: Axes, picture: Picture, marks: Sequence[Mark], seats: Sequence[str], tints: Mapping[str, str]) -> None:
    """Draw the marks of a panel, group by group. A mark without x is a level."""
    names = list(dict.fromkeys(one.x for one in marks if isinstance(one.x, str)))
    groups: dict[Key, list[tuple[object, ...]]] = {}
    for one in marks:
        at = names.index(one.x) if isinstance(one.x, str) else one.x
        groups.setdefault((one.series, one.role, one.kind), []).append((at, one.y, one.high))
    rows = {key: np.array(own, dtype="float64") for key, own in groups.items()}  # None becomes NaN
    placed = np.concatenate([own[:, 0] for own in rows.values()])
    placed = placed[np.isfinite(placed)]
    bars = [key for key in rows if key[2] == "bar"]
    most = max((sum(x in rows[key][:, 0] for key in bars) for x in placed), default=1)
    heights = {key: own[np.isnan(own[:, 0])][-1, 1] for key, own in rows.items() if np.isnan(own[:, 0]).any()}
    for key, own in rows.items():
        series, role, kind = key
        there = own[np.isfinite(own[:, 0])]
        dashed = bool({series, role} & EXPECTED)
        style: dict[str, Any] = {"color": tints[series], "linestyle": DASHES[dashed]}
        if (height := heights.get(key)) is not None and np.isfinite(height):
            alike = [other for other, its in heights.items() if its == height]
            striped = (LONG * alike.index(key), (LONG, LONG * (len(alike) - 1)))  # so that each series is visible
            axes.axhline(height, linewidth=1, **(style | {"linestyle": striped} if len(alike) > 1 else style))
        if not len(there):
            continue
        x, y, high = there.T
        match kind:
            case "line":
                order = x.argsort(kind="stable")
                axes.plot(x[order], y[order], marker="." if len(x) == 1 else "", **style)
            case "step":
                half = 0.5 * bool(bars)  # of a place: a bar stands in the middle of its step
                axes.step(np.append(x - half, placed.max() + half), np.append(y, y[-1]), where="post", **style)
            case "band":
                axes.fill_between(x, y, high, color=tints[series], alpha=0.2, linewidth=0)
            case "bar":
                last, wide = dict(zip(x, y, strict=True)), BARS / most
                here = [[other for other in bars if at in rows[other][:, 0]] for at in last]
                turns = np.array([some.index(key) - (len(some) - 1) / 2 for some in here])
                inside = to_rgba(tints[series], PALE * (not dashed and role == bars[0][1]))
                places = np.array([*last]) + turns * wide
                axes.bar(places, [*last.values()], wide, edgecolor=tints[series], linestyle=DASHES[dashed], fc=inside)
            case "point":
                seat = seats.index(series) if series in seats else (len(seats) - 1) / 2
                shape = "x" if role == OUT else marker(int(seat)) if series in seats else "o"
                aside = (seat - (len(seats) - 1) / 2) * SIDESTEP * (picture.x_scale == "number")
                axes.plot(x + aside, y, shape, color=tints[series], markerfacecolor="none" if dashed else None)
    axes.set(xlabel=picture.x, ylabel=picture.y)
    show_unit(axes, picture.scale)
    if names:
        axes.set_xticks(range(len(names)), [legible(name, LONGEST_NAME) for name in names], rotation=90)
        return
    few_ticks(axes)
    show_unit(axes, picture.x_scale, vertical=False)
    if (placed == placed.round()).all():
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
