"""Reliability: how often what was predicted came true, over what was predicted, bin by bin."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation._analysis.means import counted_share
from harbor.evaluation._metrics.reliability import OBSERVED, PREDICTED
from harbor.evaluation._report.canvas import INK, Drawing, LegendEntry, Panel, colour, marker, paint
from harbor.evaluation._report.curves import compared
from harbor.evaluation._report.facts import facts
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, parts, series_in, values_of
from harbor.evaluation._report.series_marks import dash, lines_legend

LEAST_MARK, LARGEST_MARK = 8.0, 60.0
"""The area of a mark, in square points, by how much is in its bin."""
DOTTED = (0, (1, 1.5))
WIDE, HIGH = 330, 310
"""Pixels: a panel, about square within its labels."""
INTERVAL = "95 % over draws, by Korn-Graubard, or Clopper-Pearson at 0 and 1"
CALIBRATED = LegendEntry("as predicted", INK, "┈", "", ":")


def diagram(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw what was observed over what was predicted, one line per condition or arm, with the diagonal."""
    series, by = compared(loaded)
    names = series_in(loaded, values_of(loaded, metric), series)

    def panel(part: PanelData) -> Panel:
        curves = {label: bins(part.rows[part.rows[series] == name]) for name, label in names.items()}
        most = max(one["n"].max() for one in curves.values() if len(one))

        def draw(axes: Axes) -> None:
            axes.plot((0, 1), (0, 1), color=INK, linewidth=1.1, linestyle=DOTTED, zorder=1.5)
            for place, one in enumerate(curves.values()):
                axes.vlines(one["predicted"], one["low"], one["high"], color=colour(place), linewidth=1, alpha=0.7)
                axes.plot(one["predicted"], one["observed"], color=colour(place), linestyle=dash(place))
                sizes = LEAST_MARK + (LARGEST_MARK - LEAST_MARK) * one["n"] / most
                axes.scatter(*one[[PREDICTED, OBSERVED]].T.to_numpy(), sizes, colour(place), marker(place), zorder=3)
            axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xlabel="predicted share", ylabel="observed share")
            axes.set_box_aspect(1)

        told = "; ".join(f"{name} {_told(one)}" for name, one in curves.items() if len(one))
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, WIDE, HIGH)

    keys, told = (*lines_legend(names.values()), CALIBRATED), facts(loaded, metric, INTERVAL)
    return drawing(title, caption, parts(loaded, metric, by), panel, keys, told)


def bins(rows: pd.DataFrame) -> pd.DataFrame:
    """Give a row per bin: what was predicted, what was observed with its interval by draws, and of how many (n)."""
    found = []
    for _, here in rows.assign(counted=rows["counted"].fillna(1)).groupby("at"):
        both = dict(list(here.assign(total=here["value"] * here["counted"]).groupby("about")))
        draws = both[OBSERVED].groupby("draw")[["total", "counted"]].sum()
        share = counted_share(draws["total"] / draws["counted"], draws["counted"])
        predicted = both[PREDICTED]["total"].sum() / both[PREDICTED]["counted"].sum()
        found.append((predicted, share.mean, share.low, share.high, draws["counted"].sum()))
    return pd.DataFrame(found, columns=[PREDICTED, OBSERVED, "low", "high", "n"], dtype="float64")


def _told(curve: pd.DataFrame) -> str:
    """Say each bin: predicted, observed, and of how many."""
    return ", ".join(f"{one.predicted:.2f} came true {one.observed:.2f} of {one.n:.0f}" for one in curve.itertuples())
