"""How values are distributed over games: histograms with kernel densities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import gaussian_kde

from harbor.evaluation._report.canvas import COLOURS, Drawing, Panel, colour, paint, show_unit
from harbor.evaluation._report.facts import facts
from harbor.evaluation._report.formatting import unit_of, write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, parts, series_in, values_of
from harbor.evaluation._report.series_marks import bars_legend, dash, hatch

BINS, POINTS = 20, 200


def density(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw histogram and kernel density of values by group (`about`); with a single group, by arm.

    More arms than there are colours have a panel each.
    """
    table = values_of(loaded, metric)
    if table.empty:
        return None
    grouped = table["about"].nunique() > 1 or table["arm"].nunique() > len(COLOURS)
    series, by = ("about", ("arm", "condition")) if grouped else ("arm", ("condition",))
    names = series_in(loaded, table, series)
    edges = np.histogram_bin_edges(table["value"], BINS)

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
    """Draw one group: the share in each bin and, unless all values are equal, the density times the width of a bin."""
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
