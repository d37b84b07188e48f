"""Curves of a number over items, days, runs and auctions, also by whether items match a persona."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from harbor.evaluation._analysis.means import Mean, mean_of, per_draw
from harbor.evaluation._metrics.measurement import Bounds, Interval, metric_of
from harbor.evaluation._report.drawing.canvas import (
    INK,
    TALLEST_PANEL,
    Drawing,
    LegendEntry,
    Panel,
    along,
    bounds_in,
    colour,
    marker,
    paint,
    upright,
    wrapped,
)
from harbor.evaluation._report.drawing.figure import (
    GAME,
    PanelData,
    drawing,
    facts,
    few_bidders,
    links,
    names_in,
    over_games,
    parts,
    series_in,
    values_of,
)
from harbor.evaluation._report.drawing.series_marks import GAMES_KEY, dash, game_dots, label_ends, line_at, lines_legend
from harbor.evaluation._report.tabular.formatting import unit_of, write
from harbor.evaluation._report.tabular.loading import Loaded

MOST_PATHS = 40
"""The greatest number of paths of single games in a panel: more can't be told apart."""
MOST_BANDS = 2
"""With more intervals than this, whiskers side by side replace bands, which would cover each other."""
SIDESTEP = 0.11
"""Distance between whiskers, in places; at most 0.7 places for all together."""
UNIFORM = "uniform_profiling_error"
"""Metric with the error of a uniform guess."""
GUESSED = " Dashed lines are the error of a uniform guess, one for each number of personas that a rival may mix."


def by_bidder(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw one line per bidder, in one panel per arm and condition."""
    return _lines(loaded, metric, title, caption, "bidder", ("arm", "condition"))


def compared_lines(loaded: Loaded, metric: str, title: str, caption: str, each: str = "") -> Drawing | None:
    """Draw one line per condition, in one panel per arm; with a single condition, one line per arm.

    `each` "bidder" or "about" splits the panels further. If nothing is compared, bidders are the lines of one panel.
    Errors of profiles get a line at the error of a uniform guess, if `uniform_profiling_error` was measured.
    """
    table = in_places(values_of(loaded, metric))
    series, by = compared(table)
    if each == "bidder" and table[series].nunique() == 1:
        return by_bidder(loaded, metric, title, caption)
    return _lines(loaded, metric, title, caption, series, (*by, each) if each else by)


def compared(table: pd.DataFrame) -> tuple[str, tuple[str, ...]]:
    """Return the columns for lines and for panels: conditions in arms, or arms if there is one condition."""
    return ("condition", ("arm",)) if table["condition"].nunique() > 1 else ("arm", ("condition",))


def in_places(rows: pd.DataFrame) -> pd.DataFrame:
    """Drop arms and conditions whose values all have one `at`: a curve needs two."""
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
            step = 0 if bands else min(SIDESTEP, 0.7 / max(1, len(shown)))  # so that no whisker hides another
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
    """Return the different errors of a uniform guess in the games of a panel: several if personas are mixed."""
    if levels.empty:
        return []
    here = levels.merge(part.rows[list(by)].drop_duplicates(), on=list(by))
    return sorted({round(float(value), 3) for value in here["value"]})


def style(place: int) -> dict[str, Any]:
    """Return the style of the line of a bidder at this place."""
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
    """Return mean and interval at each place, with draws as the unit: one row per place, columns mean, low and high."""
    place = [*GAME, "draw", "at"]  # skip grouping if each has one value, as it is slow
    games = rows.groupby(place)["value"].mean().reset_index() if rows.duplicated(place).any() else rows
    # a mean over several bidders is a share and no longer a yes or no
    kind: Interval = "skewed" if metric_of(metric).interval == "skewed" else "mean"
    found = {at: mean_of(per_draw(here["value"], here["draw"]), kind, bounds) for at, here in games.groupby("at")}
    columns = {name: [getattr(one, name) for one in found.values()] for name in ("mean", "low", "high")}
    return pd.DataFrame(columns, index=pd.Index(list(found), dtype="int64"), dtype="float64")


def paths(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the path of every game, up to `MOST_PATHS`, and the mean path of each bidder. Each panel has its own scale.

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
    """Return the paths of single games, each with a link to its game if there is one."""
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


MATCHED, OTHERS = 0, 1
"""Places of the two series: matched items, and all others."""
KEYS = (
    LegendEntry("items that match the bidder's persona", colour(MATCHED), "●", marker(MATCHED), "-"),
    LegendEntry("items that do not", colour(OTHERS), "■", marker(OTHERS), "--"),
    GAMES_KEY,
)
"""Legend of both series and of single games."""
CELL = ["arm", "condition"]
"""Columns that name a cell of the design."""
ASIDE = 0.16
"""Distance between the two series: in places, or in rows."""
MOST_TICKS = 12
"""The greatest number of ticks on the axis of places."""
ROW, MARGIN, WIDE = 52, 70, 520
"""Pixels: the height of a row, of everything around the rows, and the width of the panel."""
MOST_BIDDERS = (TALLEST_PANEL - MARGIN) // ROW
"""The greatest number of bidders in a panel."""


def by_place(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw matched items and others at each place, in one panel per arm, condition and bidder.

    `metric` is that of matched items. The name of the other metric has "unmatched" in place of "matched".
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

        told = _matched_told([rows["value"] for rows in own], unit_of(metric))
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw)

    told = facts(loaded, metric, over_games(metric))
    return drawing(title, caption, parts(loaded, both[0], ("arm", "condition", "bidder")), panel, KEYS, told)


def others_of(metric: str) -> str:
    """Return the metric of the items that do not match.

    >>> others_of("matched_priority")
    'unmatched_priority'
    """
    return metric.replace("matched", "unmatched", 1)


def _curve(axes: Axes, curve: pd.DataFrame, place: int, aside: float) -> None:
    xs = curve.index.to_numpy("float64") + aside
    axes.vlines(xs, curve["low"], curve["high"], color=colour(place), linewidth=1, alpha=0.7)
    dashes: Literal["--", "-"] = "--" if place else "-"
    axes.plot(xs, curve["mean"], color=colour(place), marker=marker(place), linestyle=dashes, clip_on=False, zorder=3)


def matched_by_bidder(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the means of matched items and of others with intervals, a row per bidder, a panel per arm and condition."""
    both = [values_of(loaded, name) for name in (metric, others_of(metric))]
    table = pd.concat(both)
    bounds = bounds_in(metric, table)
    shown = pd.concat([_means_of_games(rows) for rows in both], keys=(MATCHED, OTHERS), names=["kind"])
    means = [_mean_of(rows, metric) for _, rows in shown.groupby([*CELL, "bidder", "kind"])]
    ends = [*table["value"], *(end for one in means for end in (one.low, one.high) if end is not None)]

    def panel(part: PanelData) -> Panel:
        here, bidders = part.rows[CELL].drop_duplicates(), names_in(part.rows, "bidder")
        own = [_means_of_games(rows.merge(here, on=list(here))) for rows in both]

        def draw(axes: Axes) -> None:
            along(axes, metric, min(ends), max(ends), bounds, "mean number of bids per item")
            for row, bidder in enumerate(bidders):
                for place, rows in enumerate(own):
                    _mean(loaded, axes, rows[rows["bidder"] == bidder], metric, row, place)
            axes.set_yticks(range(len(bidders)), [wrapped(bidder) for bidder in bidders])
            axes.set_ylim(len(bidders) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")

        told = "; ".join(
            f"{bidder}: {_matched_told([rows.loc[rows['bidder'] == bidder, 'value'] for rows in own], unit_of(metric))}"
            for bidder in bidders
        )
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, WIDE, MARGIN + ROW * len(bidders))

    split = few_bidders(parts(loaded, both[0]), MOST_BIDDERS)
    return drawing(title, caption, split, panel, KEYS, facts(loaded, metric, over_games(metric)))


def _means_of_games(rows: pd.DataFrame) -> pd.DataFrame:
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


def _matched_told(values: Sequence[pd.Series], unit: str) -> str:
    """Return the means of matched items and of others in words."""
    said = ("matched", "others")
    return ", ".join(
        f"{name} {write(float(one.mean()), unit)}" for name, one in zip(said, values, strict=True) if len(one)
    )
