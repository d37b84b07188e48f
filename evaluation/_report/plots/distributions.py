"""Histograms, stacked bars and reliability diagrams: distributions of values, shares and predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import gaussian_kde

from harbor.evaluation._analysis.means import counted_share
from harbor.evaluation._metrics.behaviour import BINS
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.drawing.canvas import (
    COLOURS,
    INK,
    TALLEST_PANEL,
    Drawing,
    LegendEntry,
    Panel,
    colour,
    marker,
    paint,
    show_unit,
    wrapped,
)
from harbor.evaluation._report.drawing.figure import (
    PanelData,
    drawing,
    facts,
    few_bidders,
    names_in,
    parts,
    series_in,
    values_of,
)
from harbor.evaluation._report.drawing.series_marks import bar_style, bars_legend, dash, hatch, lines_legend
from harbor.evaluation._report.plots.curves import compared
from harbor.evaluation._report.tabular.formatting import unit_of, write
from harbor.evaluation._report.tabular.loading import Loaded

HISTOGRAM_BINS, POINTS = 20, 200
"""Bins of a histogram, and points of a density curve."""


def density(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw histogram and kernel density of values by group (`about`); with a single group, by arm.

    If there are more arms than colours, each arm has a panel.
    """
    table = values_of(loaded, metric)
    if table.empty:
        return None
    grouped = table["about"].nunique() > 1 or table["arm"].nunique() > len(COLOURS)
    series, by = ("about", ("arm", "condition")) if grouped else ("arm", ("condition",))
    names = series_in(loaded, table, series)
    edges = np.histogram_bin_edges(table["value"], HISTOGRAM_BINS)

    def panel(part: PanelData) -> Panel:
        groups = [part.rows.loc[part.rows[series] == name, "value"] for name in names]

        top = 1.1 * max(np.histogram(values, edges)[0].max() / len(values) for values in groups if len(values))

        def draw(axes: Axes) -> None:
            for place, values in enumerate(groups):
                _density(axes, values, edges, place)
            axes.set(
                xlim=(edges[0], edges[-1]), ylim=(0, min(top, 1)), xlabel=title.lower(), ylabel="share of the group"
            )
            show_unit(axes, unit_of(metric), vertical=False)

        return paint(part.heading, f"{title}, {part.heading}: {_told(names.values(), groups, metric)}", draw)

    keys, told = bars_legend(names.values()), facts(loaded, metric)
    return drawing(title, caption, parts(loaded, table, by), panel, keys, told)


def _density(axes: Axes, values: pd.Series, edges: np.ndarray, place: int) -> None:
    """Draw one group: the share in each bin and, unless all values are equal, the density times the bin width."""
    if values.empty:
        return
    weights = np.full(len(values), 1 / len(values))
    axes.hist(
        values,
        bins=list(edges),
        weights=weights,
        color=colour(place),
        edgecolor=colour(place),
        alpha=0.35,
        hatch=hatch(place),
    )
    if values.nunique() > 1:
        grid = np.linspace(edges[0], edges[-1], POINTS)
        axes.plot(
            grid,
            gaussian_kde(values)(grid) * (edges[1] - edges[0]),
            color=colour(place),
            linestyle=dash(place),
            linewidth=1.8,
        )


def _told(names: Iterable[str], groups: Sequence[pd.Series], metric: str) -> str:
    unit = unit_of(metric)
    return "; ".join(
        f"{name} median {write(values.median(), unit)} of {len(values)}"
        for name, values in zip(names, groups, strict=True)
        if len(values)
    )


ROW, MARGIN = 36, 70
"""Height in pixels of a bar with its gap, and of everything around the bars."""
MOST_BARS = (TALLEST_PANEL - MARGIN) // ROW
"""The greatest number of bars in a panel."""
ON_WHITE = "#000000"
"""Colour of letters on a white ground, which stays white on a dark page."""
WIDEST_NAME, LEAST_SHARE = 2, 0.06
"""The longest name of a kind, in characters, that is written on its bar, and the least share that has room for it."""


def stacked(
    loaded: Loaded, metric: str, title: str, caption: str, names: Mapping[str, str] = MappingProxyType({})
) -> Drawing | None:
    """Draw the mean share of each kind (`about`) as one stacked bar per bidder, in one panel per arm and condition.

    Args:
        loaded: the experiment.
        metric: the metric with the shares.
        title: title of the figure.
        caption: caption of the figure.
        names: names of kinds for the legend; a short kind is written on its bar.
    """
    table = values_of(loaded, metric)
    kinds = names_in(table, "about")

    def panel(part: PanelData) -> Panel:
        shares = part.rows.pivot_table("value", "bidder", "about", aggfunc="mean", sort=False).reindex(columns=kinds)

        def draw(axes: Axes) -> None:
            for row, (_, mix) in enumerate(shares.iterrows()):
                left = 0.0
                for place, share in enumerate(mix.fillna(0)):
                    axes.barh(row, share, 0.66, left=left, **bar_style(place))
                    _write_on(axes, kinds[place], left + share / 2, row, share)
                    left += share
            axes.set_yticks(range(len(shares)), [wrapped(str(bidder)) for bidder in shares.index])
            axes.set(ylim=(len(shares) - 0.5, -0.5), xlim=(0, 1), xlabel="share")
            axes.grid(visible=False, axis="y")

        told = "; ".join(
            f"{bidder}: "
            + ", ".join(f"{named[str(kind)]} {write(share, 'share')}" for kind, share in mix.dropna().items())
            for bidder, mix in shares.iterrows()
        )
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, height=MARGIN + ROW * len(shares))

    named = {kind: names.get(kind, kind) for kind in kinds}
    split = few_bidders(parts(loaded, table), MOST_BARS)
    return drawing(title, caption, split, panel, bars_legend(named.values()), facts(loaded, metric))


def actions(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the shares of strategic actions, by their names."""
    return stacked(loaded, metric, title, caption, {letter: f"{letter}: {does}" for letter, does in ACTIONS.items()})


def increases(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the shares of increases of the bid, by bins in percent."""
    ends = [*list(BINS.values())[1:], None]
    names = {
        name: f"{low} % or more" if high is None else f"{low} to below {high} %"
        for (name, low), high in zip(BINS.items(), ends, strict=True)
    }
    return stacked(loaded, metric, title, caption, names)


def _write_on(axes: Axes, kind: str, x: float, row: float, share: float) -> None:
    """Write a short kind on its bar, if there is room."""
    if len(kind) <= WIDEST_NAME and share >= LEAST_SHARE:
        axes.text(
            x, row, kind, ha="center", va="center", fontsize=8.5, fontweight="bold", color=ON_WHITE,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "#ffffff", "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip


LEAST_MARK, LARGEST_MARK = 8.0, 60.0
"""Area of a mark, in square points, by the count in its bin."""
INTERVAL = "95 % over draws, by Korn-Graubard, or Clopper-Pearson at 0 and 1"
"""Names the interval of a share."""
CALIBRATED = LegendEntry("as predicted", INK, "┈", "", ":")


def diagram(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw observed over predicted shares, one line per condition or arm, with the diagonal."""
    table = values_of(loaded, metric)
    series, by = compared(table)
    names = series_in(loaded, table, series)

    def panel(part: PanelData) -> Panel:
        curves = {label: bins(part.rows[part.rows[series] == name]) for name, label in names.items()}
        most = max((one["n"].max() for one in curves.values() if len(one)), default=1)

        def draw(axes: Axes) -> None:
            axes.plot((0, 1), (0, 1), color=INK, linewidth=1.1, linestyle=":", zorder=1.5)
            for place, one in enumerate(curves.values()):
                xs, ys, tint = one["predicted"], one["observed"], colour(place)
                axes.vlines(xs, one["low"], one["high"], color=tint, linewidth=1, alpha=0.7)
                axes.plot(xs, ys, color=tint, linestyle=dash(place))
                sizes = LEAST_MARK + (LARGEST_MARK - LEAST_MARK) * one["n"] / most
                axes.scatter(xs, ys, sizes, tint, marker=marker(place), zorder=3, clip_on=False)
            axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted share", ylabel="observed share", box_aspect=1)

        told = "; ".join(f"{name}: {_bins_told(one)}" for name, one in curves.items() if len(one))
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw)

    keys = (*lines_legend(names.values()), CALIBRATED)
    return drawing(title, caption, parts(loaded, table, by), panel, keys, facts(loaded, metric, INTERVAL))


def bins(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per bin: the predicted share, the observed share with its interval by draws, and their count (n)."""
    weighted = rows.assign(n=rows["counted"].fillna(1), total=rows["value"] * rows["counted"].fillna(1))
    found = []
    for _, here in weighted[weighted["n"] > 0].groupby("at"):
        predicted, observed = (here[here["about"] == about] for about in ("predicted", "observed"))
        if predicted.empty or observed.empty:  # only in edited results
            continue
        draws = observed.groupby("draw")[["total", "n"]].sum()
        share = counted_share(draws["total"] / draws["n"], draws["n"])
        given = predicted["total"].sum() / predicted["n"].sum()
        found.append((given, share.mean, share.low, share.high, draws["n"].sum()))
    return pd.DataFrame(found, columns=["predicted", "observed", "low", "high", "n"], dtype="float64")


def _bins_told(curve: pd.DataFrame) -> str:
    """Describe each bin: predicted, observed, and count."""
    return ", ".join(f"{one.predicted:.2f} came true {one.observed:.2f} of {one.n:.0f}" for one in curve.itertuples())
