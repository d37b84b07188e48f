"""How bidders treat the items that match their personas: priorities and bids, game by game and over games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._analysis.means import Mean, mean_of, per_draw
from harbor.evaluation._metrics.registry import metric_of
from harbor.evaluation._report.canvas import TALLEST_PANEL, Drawing, LegendEntry, Panel, colour, marker, paint, wrapped
from harbor.evaluation._report.curves import mean_curve
from harbor.evaluation._report.facts import facts, over_games
from harbor.evaluation._report.formatting import unit_of, write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import GAME, PanelData, drawing, few_bidders, links, names_in, parts, values_of
from harbor.evaluation._report.scales import along, bounds_in, upright
from harbor.evaluation._report.series_marks import GAMES_KEY, game_dots

MATCHED, OTHERS = 0, 1
KEYS = (
    LegendEntry("items that match the bidder's persona", colour(MATCHED), "●", marker(MATCHED), "-"),
    LegendEntry("items that do not", colour(OTHERS), "■", marker(OTHERS), "--"),
    GAMES_KEY,
)
CELL = ["arm", "condition"]
ASIDE = 0.16
"""How far the two stand apart: in places, or in rows."""
MOST_TICKS = 12
ROW, MARGIN, WIDE = 52, 70, 520
"""Pixels: the height of a row, of everything around the rows, and the width of the panel."""
MOST_BIDDERS = (TALLEST_PANEL - MARGIN) // ROW


def by_place(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw matched items and others at each place, in one panel per arm, condition and bidder.

    `metric` is that of matched items; that of the others has the same name with "unmatched" in place of "matched".
    """
    both = [values_of(loaded, name) for name in (metric, others_of(metric))]
    table = pd.concat(both)
    bounds = metric_of(metric).bounds
    first, last = float(table["at"].min()), float(table["at"].max())

    def panel(part: PanelData) -> Panel:
        here = part.rows[["arm", "condition", "bidder"]].drop_duplicates()
        own = [rows.merge(here, on=list(here)) for rows in both]
        curves = [mean_curve(rows, metric, bounds) for rows in own]

        def draw(axes: Axes) -> None:
            upright(axes, metric, table["value"].min(), table["value"].max(), bounds)
            axes.set_ylabel(f"mean {unit_of(metric)}")
            for place, (rows, curve) in enumerate(zip(own, curves, strict=True)):
                aside = (place - 0.5) * 2 * ASIDE
                game_dots(axes, list(rows["at"] + aside), list(rows["value"]), place, links(loaded, rows))
                _curve(axes, curve, place, aside)
            axes.set(xlim=(first - 0.5, last + 0.5), xlabel=f"{metric_of(metric).place} on sale")
            axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, integer=True))

        told = _told([rows["value"] for rows in own], unit_of(metric))
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw)

    told = facts(loaded, metric, over_games(metric))
    return drawing(title, caption, parts(loaded, both[0], ("arm", "condition", "bidder")), panel, KEYS, told)


def others_of(metric: str) -> str:
    """Name the metric of the items that do not match."""
    return metric.replace("matched", "unmatched", 1)


def _curve(axes: Axes, curve: pd.DataFrame, place: int, aside: float) -> None:
    xs = curve.index.to_numpy("float64") + aside
    axes.vlines(xs, curve["low"], curve["high"], color=colour(place), linewidth=1, alpha=0.7)
    dashes: Literal["--", "-"] = "--" if place else "-"
    axes.plot(xs, curve["mean"], color=colour(place), marker=marker(place), linestyle=dashes, clip_on=False, zorder=3)


def by_bidder(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the means of matched items and of others with intervals, a row per bidder, a panel per arm and condition."""
    both = [values_of(loaded, name) for name in (metric, others_of(metric))]
    table = pd.concat(both)
    bounds = bounds_in(metric, table)
    shown = pd.concat([_games(rows) for rows in both], keys=(MATCHED, OTHERS), names=["kind"])
    means = [_mean_of(rows, metric) for _, rows in shown.groupby([*CELL, "bidder", "kind"])]
    ends = [*table["value"], *(end for one in means for end in (one.low, one.high) if end is not None)]

    def panel(part: PanelData) -> Panel:
        here, bidders = part.rows[CELL].drop_duplicates(), names_in(part.rows, "bidder")
        own = [_games(rows.merge(here, on=list(here))) for rows in both]

        def draw(axes: Axes) -> None:
            along(axes, metric, min(ends), max(ends), bounds, "mean number of bids per item")
            for row, bidder in enumerate(bidders):
                for place, rows in enumerate(own):
                    _mean(loaded, axes, rows[rows["bidder"] == bidder], metric, row, place)
            axes.set_yticks(range(len(bidders)), [wrapped(bidder) for bidder in bidders])
            axes.set_ylim(len(bidders) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")

        told = "; ".join(
            f"{bidder}: {_told([rows.loc[rows['bidder'] == bidder, 'value'] for rows in own], unit_of(metric))}"
            for bidder in bidders
        )
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, WIDE, MARGIN + ROW * len(bidders))

    split = few_bidders(parts(loaded, both[0]), MOST_BIDDERS)
    return drawing(title, caption, split, panel, KEYS, facts(loaded, metric, over_games(metric)))


def _games(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.groupby([*GAME, "draw", "bidder"])["value"].mean().reset_index()


def _mean_of(rows: pd.DataFrame, metric: str) -> Mean:
    own = metric_of(metric)
    return mean_of(per_draw(rows["value"], rows["draw"]), "skewed" if own.interval == "skewed" else "mean", own.bounds)


def _mean(loaded: Loaded, axes: Axes, rows: pd.DataFrame, metric: str, row: int, place: int) -> None:
    """Draw the mean of one bidder's games with its interval, and the games above it."""
    at, found = row + (place - 0.5) * 2.4 * ASIDE, _mean_of(rows, metric)
    game_dots(axes, list(rows["value"]), [at - 0.1] * len(rows), place, links(loaded, rows))
    if found.low is not None and found.high is not None:
        axes.plot([found.low, found.high], [at, at], color=colour(place), linestyle="--" if place else "-")
    if found.mean is not None:
        axes.plot(found.mean, at, marker(place), color=colour(place), clip_on=False)


def _told(values: Sequence[pd.Series], unit: str) -> str:
    """Say the means of matched items and of others."""
    said = ("matched", "others")
    return ", ".join(
        f"{name} {write(float(one.mean()), unit)}" for name, one in zip(said, values, strict=True) if len(one)
    )
