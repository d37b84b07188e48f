"""Shares as stacked bars: of bins, and of strategic actions by their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from matplotlib.axes import Axes

from harbor.evaluation._metrics.bidding import BINS
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.canvas import TALLEST_PANEL, Drawing, Panel, paint, wrapped
from harbor.evaluation._report.facts import facts
from harbor.evaluation._report.formatting import write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, few_bidders, names_in, parts, values_of
from harbor.evaluation._report.series_marks import bar_style, bars_legend

ROW, MARGIN = 36, 70
MOST_BARS = (TALLEST_PANEL - MARGIN) // ROW
ON_WHITE = "#000000"
"""Of letters on a white ground, which stays white on a dark page."""
WIDEST_NAME, LEAST_SHARE = 2, 0.06
"""Characters of a kind that is written on its bar, and the least share that has room for it."""


def stacked(
    loaded: Loaded, metric: str, title: str, caption: str, names: Mapping[str, str] = MappingProxyType({})
) -> Drawing | None:
    """Draw the mean share of each kind (`about`) as one stacked bar per bidder, in one panel per arm and condition.

    Args:
        loaded: the experiment.
        metric: the shares.
        title: of the figure.
        caption: of the figure.
        names: of kinds, for the legend; a short kind is written on its bar.
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
