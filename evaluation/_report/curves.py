"""How a number develops over items, days, runs and auctions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._analysis.statistics import t_mean
from harbor.evaluation._metrics.registry import metric_of
from harbor.evaluation._report.canvas import Drawing, Panel, colour, legend, marker, paint, show_unit
from harbor.evaluation._report.formatting import unit_of, write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, names_in, parts, series_in, values_of

MOST_PATHS = 40
"""The most paths of single games in a panel: more can't be told apart."""
GAME = ["arm", "condition", "repeat"]


def by_bidder(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw one line per bidder, in one panel per arm and condition."""
    return _lines(loaded, metric, title, caption, "bidder", ("arm", "condition"))


def by_condition(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw one line per condition, in one panel per arm; with a single condition, one line per arm."""
    if len(loaded.experiment.conditions) > 1:
        return _lines(loaded, metric, title, caption, "condition", ("arm",))
    return _lines(loaded, metric, title, caption, "arm", ("condition",))


def _lines(loaded: Loaded, metric: str, title: str, caption: str, series: str, by: Sequence[str]) -> Drawing | None:
    table = values_of(loaded, metric)
    names, low, high = series_in(loaded, table, series), table["value"].min(), table["value"].max()
    unit = unit_of(metric)

    def panel(part: PanelData) -> Panel:
        curves = {name: mean_curve(part.rows[part.rows[series] == name]) for name in names}

        def draw(axes: Axes) -> None:
            for place, one in enumerate(curves.values()):
                axes.plot(one.index, one["mean"], color=colour(place), marker=marker(place))
                axes.fill_between(one.index, one["low"], one["high"], color=colour(place), alpha=0.12, linewidth=0)
            _frame(axes, metric, low, high)

        ends = [
            f"{name} from {write(one['mean'].iloc[0], unit)} to {write(one['mean'].iloc[-1], unit)}"
            for name, one in zip(names.values(), curves.values(), strict=True)
            if len(one)
        ]
        return paint(part.heading, f"{title}, {part.heading}: {'; '.join(ends)}", draw)

    return drawing(title, caption, parts(loaded, metric, by), panel, legend(names.values()))


def mean_curve(rows: pd.DataFrame) -> pd.DataFrame:
    """Give mean and interval over games at each place: one row per place, columns mean, low and high."""
    games = rows.groupby([*GAME, "at"])["value"].mean()
    found = {at: t_mean(values) for at, values in games.groupby("at")}
    columns = {name: [getattr(one, name) for one in found.values()] for name in ("mean", "low", "high")}
    return pd.DataFrame(columns, index=pd.Index(list(found), dtype="int64"), dtype="float64")


def paths(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the path of every game, up to `MOST_PATHS`, and the mean path of each bidder."""
    table = values_of(loaded, metric)
    bidders, low, high = names_in(table, "bidder"), table["value"].min(), table["value"].max()

    def panel(part: PanelData) -> Panel:
        def draw(axes: Axes) -> None:
            for place, bidder in enumerate(bidders):
                rows = part.rows[part.rows["bidder"] == bidder]
                games = [game[["at", "value"]].to_numpy("float64") for _, game in rows.groupby(GAME)]
                axes.add_collection(LineCollection(games[:MOST_PATHS], colors=colour(place), linewidths=0.6, alpha=0.3))
                mean = mean_curve(rows)
                axes.plot(mean.index, mean["mean"], color=colour(place), marker=marker(place), linewidth=2)
            _frame(axes, metric, low, high)

        return paint(part.heading, f"{title}, {part.heading}: paths of {part.games} games", draw)

    return drawing(title, caption, parts(loaded, metric), panel, legend(bidders))


def _frame(axes: Axes, metric: str, low: float, high: float) -> None:
    """Give all panels equal scales; ranks are upside down, with the best on top."""
    unit, margin = unit_of(metric), (high - low) * 0.05 or 0.5
    axes.set_ylim(*((high + margin, low - margin) if unit == "rank" else (low - margin, high + margin)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(metric_of(metric).place)
    show_unit(axes, unit)
