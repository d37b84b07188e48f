"""The figures by name, each with the metric that it needs; a report has those whose metric was measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harbor._core.errors import ConfigError, HarborError
from harbor.evaluation._metrics.registry import METRICS
from harbor.evaluation._report import curves, distributions, intervals, shares
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import values_of

_BAND = "Mean over games; the band is its 95 % interval."
_LIVING = "Only residents alive on that day count."


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its title and caption, the metric that it needs, and the function that draws it.

    `by_place`: each value of the metric needs a place (`at`), because the figure goes from one place to the next.
    """

    title: str
    caption: str
    needs: str
    draw: Callable[[Loaded, str, str, str], Drawing | None]
    by_place: bool = True


FIGURES: dict[str, Figure] = {
    "priority-heatmap": Figure(
        "Priorities of items, item by item",
        "Mean priority from 1 (give up if need be) to 3 (top) of the items still to come. Source: Chen et al. 2023,"
        " Fig. 4; Harbor, Fig. 3.",
        "priority",
        shares.heatmap,
    ),
    "remaining-budget": Figure(
        "Remaining budget over items", f"{_BAND} Source: Chen et al. 2023, B.2.", "remaining_budget", curves.by_bidder
    ),
    "profiling-error": Figure(
        "Profiling error over rounds",
        f"KL(truth ‖ profile) in nats, over all bidders and rivals. {_BAND} Source: Harbor, Fig. 5.",
        "profiling_error",
        curves.by_condition,
    ),
    "bid-increases": Figure(
        "Bid increases",
        "Share of a bidder's bids whose increase over the highest bid before, in percent, lies in each bin; mean over"
        " games. Source: Chen et al. 2023, later version, Fig. 5.",
        "bid_increase_share",
        shares.stacked,
        by_place=False,
    ),
    "strategic-actions": Figure(
        "Strategic actions",
        "Share of each action among those chosen; mean over games. Source: Harbor, Table 1.",
        "strategy_share",
        shares.stacked,
        by_place=False,
    ),
    "winning-bids": Figure(
        "Winning bids",
        "Histogram and Gaussian kernel density of all winning bids, as shares of their group. Source: Chen et al. 2023,"
        " sec. 4.3.",
        "winning_bid",
        distributions.density,
        by_place=False,
    ),
    "lowest-bids": Figure(
        "Lowest successful bid by day",
        "Boxes over games: median, quartiles, and whiskers up to 1.5 times the quartiles' distance. Source: Alympics,"
        " sec. 5.",
        "lowest_bid",
        distributions.boxes,
    ),
    "water-bids": Figure("Bids by day", f"{_BAND} Source: Alympics, Fig. 7.", "water_bid", curves.by_bidder),
    "health": Figure("Health by day", f"{_BAND} {_LIVING} Source: Alympics, sec. 5.", "health", curves.by_bidder),
    "balance": Figure("Balance by day", f"{_BAND} {_LIVING} Source: Alympics, sec. 5.", "balance", curves.by_bidder),
    "ranks": Figure(
        "Ranks over the games of a series",
        f"Rank by profit, 1 is the best. {_BAND} Source: Chen et al. 2023, B.3.",
        "series_rank",
        curves.by_bidder,
    ),
    "series-profits": Figure(
        "Profit over the games of a series",
        f"{_BAND} Source: Chen et al. 2023, sec. 4.3.",
        "series_profit",
        curves.by_bidder,
    ),
    "actions": Figure(
        "Paths of actions over runs",
        f"Thin: single games, {curves.MOST_PATHS} at most. Thick: their mean. Source: EconArena, Fig. 5.",
        "action",
        curves.paths,
    ),
    "deviations": Figure(
        "Deviation from equilibrium over runs",
        f"{_BAND} Source: EconArena, sec. 3.2.",
        "deviation_path",
        curves.by_bidder,
    ),
}


def figures(loaded: Loaded) -> dict[str, Drawing]:
    """Draw the figures of the papers that the metrics of an experiment allow, by name."""
    known = {one.metric for game in loaded.results.records for one in game.measurements if one.value is not None}
    drawn = {
        name: _drawn(name, figure.title, partial(_draw, loaded, figure))
        for name, figure in FIGURES.items()
        if figure.needs in known
    }
    reading = (
        "Bars: mean mu over shuffled orders of the games. Thick line: the range of mu in 95 % of the orders. Thin line:"
        " one sigma around mu."
    )
    drawn["trueskill"] = _drawn("trueskill", "TrueSkill", partial(intervals.trueskill, loaded, "TrueSkill", reading))
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def means(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw the means of a metric by arm."""
    if metric not in METRICS:
        return None
    title = METRICS[metric].description
    return _drawn(f"means of {metric}", title, partial(intervals.dots, loaded, metric, title))


def _draw(loaded: Loaded, figure: Figure) -> Drawing | None:
    if figure.by_place and values_of(loaded, figure.needs)["at"].isna().any():
        raise ConfigError(
            f"it is drawn by place, and values of {figure.needs!r} have none; choose a metric with places"
        )
    return figure.draw(loaded, figure.needs, figure.title, figure.caption)


def _drawn(name: str, title: str, draw: Callable[[], Drawing | None]) -> Drawing | None:
    """Draw a figure; one that fails leaves a note and a warning, and costs no other."""
    try:
        return draw()
    except Exception as error:
        why = str(error) if isinstance(error, HarborError) else f"{type(error).__name__}: {error}"
        failure = legible(f"figure {name!r} can't be drawn: {why}")
    warnings.warn(failure, stacklevel=2)
    return Drawing(title, "", failure=failure)
