"""Reliability: how often what was predicted came true, over what was predicted, bin by bin."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation._analysis.means import counted_share
from harbor.evaluation._report.canvas import INK, Drawing, LegendEntry, Panel, colour, marker, paint
from harbor.evaluation._report.curves import compared
from harbor.evaluation._report.facts import facts
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, parts, series_in, values_of
from harbor.evaluation._report.series_marks import dash, lines_legend

LEAST_MARK, LARGEST_MARK = 8.0, 60.0
"""The area of a mark, in square points, by how much is in its bin."""
INTERVAL = "95 % over draws, by Korn-Graubard, or Clopper-Pearson at 0 and 1"
CALIBRATED = LegendEntry("as predicted", INK, "┈", "", ":")


def diagram(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw what was observed over what was predicted, one line per condition or arm, with the diagonal."""
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

        told = "; ".join(f"{name}: {_told(one)}" for name, one in curves.items() if len(one))
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw)

    keys = (*lines_legend(names.values()), CALIBRATED)
    return drawing(title, caption, parts(loaded, table, by), panel, keys, facts(loaded, metric, INTERVAL))


def bins(rows: pd.DataFrame) -> pd.DataFrame:
    """Give a row per bin: what was predicted, what was observed with its interval by draws, and of how many (n)."""
    weighted = rows.assign(n=rows["counted"].fillna(1), total=rows["value"] * rows["counted"].fillna(1))
    found = []
    for _, here in weighted[weighted["n"] > 0].groupby("at"):
        predicted, observed = (here[here["about"] == about] for about in ("predicted", "observed"))
        if predicted.empty or observed.empty:  # as in results that somebody has edited
            continue
        draws = observed.groupby("draw")[["total", "n"]].sum()
        share = counted_share(draws["total"] / draws["n"], draws["n"])
        given = predicted["total"].sum() / predicted["n"].sum()
        found.append((given, share.mean, share.low, share.high, draws["n"].sum()))
    return pd.DataFrame(found, columns=["predicted", "observed", "low", "high", "n"], dtype="float64")


def _told(curve: pd.DataFrame) -> str:
    """Say each bin: predicted, observed, and of how many."""
    return ", ".join(f"{one.predicted:.2f} came true {one.observed:.2f} of {one.n:.0f}" for one in curve.itertuples())
