"""Shares as stacked bars, and priorities of items as heatmaps."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from harbor.evaluation._report.canvas import FAINT, Drawing, LegendEntry, Panel, colour, label, paint, wrapped
from harbor.evaluation._report.formatting import write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, names_in, parts, values_of

ROW, MARGIN = 34, 66
PRIORITIES = ("1, give up if need be", "2, bid if the budget allows", "3, top")
CMAP = "cividis"
SIDE = 300
"""Pixels: a heatmap's side."""


def stacked(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the mean share of each kind (`about`) as one stacked bar per bidder, in one panel per arm and condition."""
    kinds = names_in(values_of(loaded, metric), "about")

    def panel(part: PanelData) -> Panel:
        shares = part.rows.pivot_table("value", "bidder", "about", aggfunc="mean", sort=False).reindex(columns=kinds)

        def draw(axes: Axes) -> None:
            for row, (_, mix) in enumerate(shares.iterrows()):
                left = 0.0
                for place, share in enumerate(mix.fillna(0)):
                    axes.barh(row, share, 0.62, left=left, color=colour(place))
                    left += share
            axes.set_yticks(range(len(shares)), [wrapped(str(bidder)) for bidder in shares.index])
            axes.set(ylim=(len(shares) - 0.5, -0.5), xlim=(0, 1), xlabel="share")
            axes.grid(visible=False, axis="y")

        told = "; ".join(
            f"{bidder}: " + ", ".join(f"{kind} {write(share, 'share')}" for kind, share in mix.dropna().items())
            for bidder, mix in shares.iterrows()
        )
        return paint(part.heading, f"{title}, {part.heading}: {told}", draw, height=MARGIN + ROW * len(shares))

    keys = tuple(LegendEntry(kind, colour(place)) for place, kind in enumerate(kinds))
    return drawing(title, caption, parts(loaded, metric), panel, keys)


def heatmap(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
    """Draw the mean value of each item (`about`) at each place, in one panel per arm, condition and bidder."""

    def panel(part: PanelData) -> Panel:
        grid = part.rows.pivot_table("value", "about", "at", aggfunc="mean", sort=False)
        grid = grid.reindex(index=names_in(part.rows, "about"), columns=sorted(grid.columns))

        def draw(axes: Axes) -> None:
            axes.pcolormesh(grid.to_numpy(), vmin=1, vmax=len(PRIORITIES), cmap=CMAP, edgecolors=FAINT, linewidth=0.3)
            axes.set_xticks([place + 0.5 for place in range(grid.shape[1])], [str(at) for at in grid.columns])
            axes.set_yticks([place + 0.5 for place in range(grid.shape[0])], [label(item) for item in grid.index])
            axes.set(xlabel="item on sale", ylabel="item", ylim=(grid.shape[0], 0))
            axes.grid(visible=False)

        told = f"means from {write(grid.min().min(), 'number')} to {write(grid.max().max(), 'number')}"
        return paint(part.heading, f"{title}, {part.heading}: {told}, {part.games} games", draw, SIDE, SIDE)

    shades = colormaps[CMAP](np.linspace(0, 1, len(PRIORITIES)))
    keys = tuple(LegendEntry(name, to_hex(shade)) for name, shade in zip(PRIORITIES, shades, strict=True))
    return drawing(title, caption, parts(loaded, metric, ("arm", "condition", "bidder")), panel, keys)
