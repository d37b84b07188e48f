"""Heatmaps by item: priorities and bids, in single games with the items that match a bidder marked, and over games."""

from __future__ import annotations

from collections.abc import Set
from math import ceil
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import Rectangle

from harbor.evaluation._report.drawing.canvas import COLOURS, FAINT, TALLEST_PANEL, Drawing, LegendEntry, Panel, paint
from harbor.evaluation._report.drawing.figure import PanelData, drawing, facts, few_bidders, names_in, parts, values_of
from harbor.evaluation._report.tabular.formatting import write
from harbor.evaluation._report.tabular.loading import Loaded

MATCH = "persona_match"
"""Metric that marks matched items."""
FIRST_GAMES = 3
"""Number of games that are shown one by one."""
CMAP = LinearSegmentedColormap.from_list("cells", mpl.colormaps["Blues"](np.linspace(0.15, 0.85, 9)))
"""Colours of cells: the palest and the darkest differ from an empty cell on a white and a black page."""
ON_DARK, ON_LIGHT = "#f7fbff", "#08306b"
"""Colours of numbers on dark and on light cells; they do not change on a dark page."""
SIDE, CELL, MARGIN = 300, 24, 78
"""Pixels: the side of a square heatmap; a cell with a number; everything around such cells."""
NAME = 15
"""Least height of a row with its name, in pixels."""
MOST_NUMBERS = 15
"""The greatest number of columns in which each cell has room for its number, and each column for its name."""
MOST_BIDDERS = (TALLEST_PANEL - MARGIN) // CELL
"""The greatest number of bidders in a panel."""
PRIORITIES = 1, 3
"""Range of priorities, from 1 (give up if need be) to 3 (top)."""
FRAME = COLOURS[1]
"""Colour of the frames of matched items; visible on pale and dark cells, on light and dark pages, and in grey."""
SHADES = tuple(LegendEntry(f"mean priority {mean:g}", to_hex(CMAP((mean - 1) / 2))) for mean in (1, 1.5, 2, 2.5, 3))
"""The legend that all panels of means share."""
DARKER = LegendEntry("the darker, the more bids", to_hex(CMAP(1.0)))
"""Legend of heatmaps whose cells have no room for numbers."""
MATCHED = LegendEntry("framed, with ◆: the item matches the bidder's persona", FRAME, "▢", "s", filled=False)


def priorities(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the priority of each item (`about`) at each place: of single games if matches are known, else means."""
    table, matches = values_of(loaded, metric), values_of(loaded, MATCH)
    if matches.empty:
        told = facts(loaded, metric)
        by = ("bidder", "arm", "condition")  # bidder first, as a long heading is cut at the end
        return drawing(title, caption, parts(loaded, table, by), lambda part: _means(part, title), SHADES, told)
    shown = _first_games(parts(loaded, table, ("arm", "condition", "repeat", "bidder")))

    def panel(part: PanelData) -> Panel:
        matched = _matched(matches, part.rows)
        grid = part.rows.pivot_table("value", "about", "at", aggfunc="mean", sort=False)
        grid = grid.reindex(index=names_in(part.rows, "about"), columns=sorted(grid.columns))

        def draw(axes: Axes) -> None:
            _cells(axes, grid, PRIORITIES)
            _frame_rows(axes, grid, {str(place) for place in matched})
            axes.set(xlabel="item on sale", ylabel="item")

        own = sorted(place for place in matched)
        told = f"items {', '.join(map(str, own))} match its persona" if own else "no item matches a persona of it"
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, SIDE, _height(grid))

    keys = (MATCHED, *(SHADES if table["at"].nunique() > MOST_NUMBERS else ()))
    return drawing(title, caption, shown, panel, keys, facts(loaded, metric, first=FIRST_GAMES))


def _means(part: PanelData, title: str) -> Panel:
    """Draw the means over games, by the places of the items."""
    grid = part.rows.pivot_table("value", "about", "at", aggfunc="mean", sort=False)
    grid = grid.reindex(index=names_in(part.rows, "about"), columns=sorted(grid.columns))

    def draw(axes: Axes) -> None:
        _cells(axes, grid, PRIORITIES, numbers=False)
        axes.set(xlabel="item on sale", ylabel="item, by its place")

    told = f"means from {write(grid.min().min(), 'number')} to {write(grid.max().max(), 'number')}"
    return paint(part.heading, f"{title}, {part.heading}: {told}, {part.games} games", draw, SIDE, _height(grid))


def _height(grid: pd.DataFrame) -> int:
    """Return the height of a heatmap of priorities in pixels: square, or higher if the names of its rows need it."""
    return min(TALLEST_PANEL, max(SIDE, MARGIN + NAME * len(grid)))


def bids(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw how often each bidder bid on each item, in the first games of each arm and condition."""
    table, matches = values_of(loaded, metric), values_of(loaded, MATCH)
    most = table["value"].max()
    shown = few_bidders(_first_games(parts(loaded, table, ("arm", "condition", "repeat"))), MOST_BIDDERS)
    places = sorted(int(at) for at in table["at"].unique())

    def panel(part: PanelData) -> Panel:
        bidders = names_in(part.rows, "bidder")
        grid = part.rows.pivot_table("value", "bidder", "at", aggfunc="mean").reindex(index=bidders)

        def draw(axes: Axes) -> None:
            _cells(axes, grid, (0, most))
            for row, bidder in enumerate(bidders):
                for place in _matched(matches, part.rows, bidder) & {*grid.columns}:
                    column = [int(at) for at in grid.columns].index(place)
                    _frame(axes, column, row, 1)
                    axes.text(column + 0.12, row + 0.14, "◆", ha="left", va="top", fontsize=7, color=FRAME)
            axes.set(xlabel="item, by its place")

        told = "; ".join(f"{bidder} {grid.loc[bidder].sum():g}" for bidder in bidders)
        size = (MARGIN + 60 + CELL * len(places), MARGIN + CELL * len(bidders))
        return paint(part.heading, f"{title}, {part.heading}: bids in all, {told}", draw, *size)

    keys = (*((MATCHED,) if len(matches) else ()), *((DARKER,) if len(places) > MOST_NUMBERS else ()))
    return drawing(title, caption, shown, panel, keys, facts(loaded, metric, first=FIRST_GAMES))


def _first_games(split: list[PanelData]) -> list[PanelData]:
    """Return the panels of the first `FIRST_GAMES` games of each arm and condition."""
    kept, seen = [], dict[tuple[str, str], list[int]]()
    for part in split:
        arm, condition, repeat = part.rows[["arm", "condition", "repeat"]].iloc[0]
        games = seen.setdefault((arm, condition), [])
        if repeat not in games:
            games.append(repeat)
        if len(games) <= FIRST_GAMES:
            kept.append(part)
    return kept


def _matched(matches: pd.DataFrame, rows: pd.DataFrame, bidder: str = "") -> Set[int]:
    """Return the places of the items that match a bidder in the game of these rows, by default their own bidder."""
    one = rows.iloc[0]
    own = matches[
        (matches["arm"] == one["arm"])
        & (matches["condition"] == one["condition"])
        & (matches["repeat"] == one["repeat"])
        & (matches["bidder"] == (bidder or one["bidder"]))
        & (matches["value"] == 1)
    ]
    return {int(at) for at in own["at"]}


def _cells(axes: Axes, grid: pd.DataFrame, scale: tuple[float, float], *, numbers: bool = True) -> None:
    """Draw the cells. With `numbers`, write its number into each if there is room."""
    low, high = scale
    style: dict[str, Any] = {"cmap": CMAP, "edgecolors": FAINT, "linewidth": 0.3}
    axes.pcolormesh(grid.to_numpy("float64"), vmin=low, vmax=high, **style)
    each = ceil(grid.shape[1] / MOST_NUMBERS)
    axes.set_xticks([place + 0.5 for place in range(0, grid.shape[1], each)], [str(at) for at in grid.columns[::each]])
    axes.set_yticks([place + 0.5 for place in range(grid.shape[0])], [str(name) for name in grid.index])
    axes.set_ylim(grid.shape[0], 0)
    axes.grid(visible=False)
    middle = (low + high) / 2
    for row, values in enumerate(grid.to_numpy("float64") if numbers and each == 1 else ()):
        for column, value in enumerate(values):
            if value == value:
                tone = ON_DARK if value > middle else ON_LIGHT
                axes.text(column + 0.5, row + 0.5, f"{value:g}", ha="center", va="center", fontsize=7.5, color=tone)


def _frame_rows(axes: Axes, grid: pd.DataFrame, matched: Set[str]) -> None:
    """Frame the rows of matched items, and mark their names."""
    names = [str(name) for name in grid.index]
    axes.set_yticks(
        [row + 0.5 for row in range(len(names))], [f"◆ {name}" if name in matched else name for name in names]
    )
    for row, name in enumerate(names):
        if name in matched:
            filled = int(grid.iloc[row].notna().sum())
            _frame(axes, 0, row, filled)


def _frame(axes: Axes, column: int, row: int, width: int) -> None:
    axes.add_patch(
        Rectangle((column, row), width, 1, fill=False, edgecolor=FRAME, linewidth=2.2, zorder=4, clip_on=False)
    )
