"""How a number develops over items, days, runs and auctions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._analysis.means import mean_of, per_draw
from harbor.evaluation._metrics.measurement import Bounds, Interval
from harbor.evaluation._metrics.registry import metric_of
from harbor.evaluation._report.canvas import INK, Drawing, LegendEntry, Panel, colour, marker, paint
from harbor.evaluation._report.facts import facts, over_games
from harbor.evaluation._report.formatting import unit_of, write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import GAME, PanelData, drawing, links, names_in, parts, series_in, values_of
from harbor.evaluation._report.scales import bounds_in, upright
from harbor.evaluation._report.series_marks import dash, label_ends, line_at, lines_legend

MOST_PATHS = 40
"""The most paths of single games in a panel: more can't be told apart."""
MOST_BANDS = 2
"""More intervals than these are drawn as whiskers side by side, as bands would lie on each other."""
SIDESTEP = 0.11
"""How far whiskers stand apart, in places; all together take no more than the distance of two places."""
UNIFORM = "uniform_profiling_error"
GUESSED = " Dashed lines are the error of a uniform guess, one for each number of personas that a rival may mix."


def by_bidder(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw one line per bidder, in one panel per arm and condition."""
    return _lines(loaded, metric, title, caption, "bidder", ("arm", "condition"))


def compared_lines(loaded: Loaded, metric: str, title: str, caption: str, each: str = "") -> Drawing | None:
    """Draw one line per condition, in one panel per arm; with a single condition, one line per arm.

    `each` "bidder" or "about" parts the panels further; where nothing is compared, bidders are the lines of one panel.
    Errors of profiles have a line at that of a uniform guess, where `uniform_profiling_error` was measured.
    """
    table = in_places(values_of(loaded, metric))
    series, by = compared(table)
    if each == "bidder" and table[series].nunique() == 1:
        return by_bidder(loaded, metric, title, caption)
    return _lines(loaded, metric, title, caption, series, (*by, each) if each else by)


def compared(table: pd.DataFrame) -> tuple[str, tuple[str, ...]]:
    """Tell what has a line and what a panel: conditions in arms, or arms if there is one condition."""
    return ("condition", ("arm",)) if table["condition"].nunique() > 1 else ("arm", ("condition",))


def in_places(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out games of arms and conditions with a single place: no way leads from it to the next."""
    return rows[rows.groupby(["arm", "condition"])["at"].transform("nunique") > 1]


def _lines(loaded: Loaded, metric: str, title: str, caption: str, series: str, by: Sequence[str]) -> Drawing | None:
    table = in_places(values_of(loaded, metric))
    guesses = values_of(loaded, UNIFORM) if metric != UNIFORM else pd.DataFrame()
    names, bounds = series_in(loaded, table, series), bounds_in(metric, table)
    levels = guesses if metric.startswith("profiling_error") else guesses[:0]
    values = pd.concat([table["value"], levels["value"]]) if len(levels) else table["value"]

    def panel(part: PanelData) -> Panel:
        curves = {
            label: mean_curve(part.rows[part.rows[series] == name], metric, bounds) for name, label in names.items()
        }
        references = uniform_guesses(levels, part, by)

        def draw(axes: Axes) -> None:
            upright(axes, metric, values.min(), values.max(), bounds)
            bands, shown = len(curves) <= MOST_BANDS, [place for place, one in enumerate(curves.values()) if len(one)]
            step = 0 if bands else min(SIDESTEP, 0.7 / max(1, len(shown)))  # side by side, whiskers are all seen
            ends = []
            for place, (name, one) in enumerate(curves.items()):
                aside = step * (shown.index(place) - (len(shown) - 1) / 2) if len(one) else 0
                xs = one.index.to_numpy("float64") + aside
                _intervals(axes, one, xs, place, bands=bands)
                axes.plot(xs, one["mean"], **style(place))
                ends += [(name, xs[-1], one["mean"].iloc[-1])] if len(one) else []
            for guess in references:
                line_at(axes, guess, f"uniform guess, {write(guess, unit_of(metric))}")
            _ground(axes, metric, part.rows)
            label_ends(axes, ends)

        return paint(part.heading, f"{title}, {part.heading}: {_told(curves, metric, references)}", draw)

    keys, told = lines_legend(names.values()), facts(loaded, metric, over_games(metric))
    caption += GUESSED * (len(levels) > 0)
    return drawing(title, caption, parts(loaded, table, by), panel, keys, told)


def uniform_guesses(levels: pd.DataFrame, part: PanelData, by: Sequence[str]) -> list[float]:
    """Give the errors of a uniform guess in the games of a panel, each once: one, or more where personas are mixed."""
    if levels.empty:
        return []
    here = levels.merge(part.rows[list(by)].drop_duplicates(), on=list(by))
    return sorted({round(float(value), 3) for value in here["value"]})


def style(place: int) -> dict[str, Any]:
    return {"color": colour(place), "marker": marker(place), "linestyle": dash(place), "clip_on": False, "zorder": 3}


def _intervals(axes: Axes, one: pd.DataFrame, xs: np.ndarray, place: int, *, bands: bool) -> None:
    """Draw the intervals of a curve: a band, else whiskers."""
    if bands:
        axes.fill_between(xs, one["low"], one["high"], color=colour(place), alpha=0.15, linewidth=0)
    else:
        axes.vlines(xs, one["low"], one["high"], color=colour(place), linewidth=0.8, alpha=0.4)


def _told(curves: Mapping[str, pd.DataFrame], metric: str, references: Iterable[float]) -> str:
    unit = unit_of(metric)
    ends = [
        f"{name} from {write(one['mean'].iloc[0], unit)} to {write(one['mean'].iloc[-1], unit)}"
        for name, one in curves.items()
        if len(one)
    ]
    return "; ".join([*ends, *(f"a uniform guess has {write(guess, unit)}" for guess in references)])


def mean_curve(rows: pd.DataFrame, metric: str, bounds: Bounds) -> pd.DataFrame:
    """Give mean and interval at each place, with draws as the unit: one row per place, columns mean, low and high."""
    place = [*GAME, "draw", "at"]  # most often with one value each, and to group many short tables is slow
    games = rows.groupby(place)["value"].mean().reset_index() if rows.duplicated(place).any() else rows
    # the mean of a yes or no over several bidders is a share
    kind: Interval = "skewed" if metric_of(metric).interval == "skewed" else "mean"
    found = {at: mean_of(per_draw(here["value"], here["draw"]), kind, bounds) for at, here in games.groupby("at")}
    columns = {name: [getattr(one, name) for one in found.values()] for name in ("mean", "low", "high")}
    return pd.DataFrame(columns, index=pd.Index(list(found), dtype="int64"), dtype="float64")


def paths(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the path of every game, up to `MOST_PATHS`, and the mean path of each bidder; each panel has its own scale.

    Conditions may differ by orders of magnitude, as bounds of numbers and values of items do.
    """
    table = in_places(values_of(loaded, metric))
    bidders, bounds = names_in(table, "bidder"), bounds_in(metric, table)

    def panel(part: PanelData) -> Panel:
        def draw(axes: Axes) -> None:
            upright(axes, metric, part.rows["value"].min(), part.rows["value"].max(), bounds)
            ends = []
            for place, bidder in enumerate(bidders):
                rows = part.rows[part.rows["bidder"] == bidder]
                axes.add_collection(_games(loaded, rows, place))
                mean = mean_curve(rows, metric, bounds)["mean"]
                axes.plot(mean.index, mean, **style(place), linewidth=2)
                ends += [(bidder, mean.index[-1], mean.iloc[-1])] if len(mean) else []
            _ground(axes, metric, part.rows)
            label_ends(axes, ends)

        return paint(part.heading, f"{title}, {part.heading}: paths of {part.games} games", draw)

    keys = (*lines_legend(bidders), LegendEntry("thin: single games", INK, "─", "", "-"))
    return drawing(title, caption, parts(loaded, table), panel, keys, facts(loaded, metric))


def _games(loaded: Loaded, rows: pd.DataFrame, place: int) -> LineCollection:
    """Draw the paths of single games, each a link to its game where there is one."""
    games = [game for _, game in rows.groupby(GAME)][:MOST_PATHS]
    lines = [game[["at", "value"]].to_numpy("float64") for game in games]
    drawn = LineCollection(lines, colors=colour(place), linewidths=0.6, alpha=0.3)
    addresses = [links(loaded, game[:1])[0] for game in games]
    if any(addresses):
        drawn.set_urls([address or None for address in addresses])
    return drawn


def _ground(axes: Axes, metric: str, table: pd.DataFrame) -> None:
    """Set the axis of places: whole numbers, from the first to the last."""
    first, last = float(table["at"].min()), float(table["at"].max())
    axes.set_xlim(first - 0.5, last + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_xlabel(metric_of(metric).place)
