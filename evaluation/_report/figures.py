"""The figures by name, each with the metrics that it needs; a report has those whose metrics were measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harbor.evaluation._metrics.registry import METRICS
from harbor.evaluation._report import courses, distributions, intervals, shares
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.loading import Loaded

_BAND = "Mean over games; the band is its 95 % interval."
_LIVING = "Only who lives that day counts."


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its title, how to read it, the metric that it needs, and how it is drawn."""

    title: str
    caption: str
    needs: str
    draw: Callable[[Loaded, str, str, str], Drawing | None]


FIGURES: dict[str, Figure] = {
    "priority-heatmap": Figure(
        "Priorities of items, item by item",
        "Mean priority from 1 (give up if need be) to 3 (top) of the items still to come. Source: Chen et al. 2023,"
        " Fig. 4; Harbor, Fig. 3.",
        "priority",
        shares.heatmap,
    ),
    "remaining-budget": Figure(
        "Remaining budget over items", f"{_BAND} Source: Chen et al. 2023, B.2.", "remaining_budget", courses.by_bidder
    ),
    "profiling-error": Figure(
        "Profiling error over rounds",
        f"KL(truth ‖ profile) in nats, over all bidders and rivals. {_BAND} Source: Harbor, Fig. 5.",
        "profiling_error",
        courses.by_condition,
    ),
    "bid-increases": Figure(
        "Bid increases",
        "Share of a bidder's bids whose increase over the highest bid before, in percent, lies in each bin; mean over"
        " games. Source: Chen et al. 2023, later version, Fig. 5.",
        "bid_increase_share",
        shares.stacked,
    ),
    "strategic-actions": Figure(
        "Strategic actions",
        "Share of each action among those chosen; mean over games. Source: Harbor, Table 1.",
        "strategy_share",
        shares.stacked,
    ),
    "winning-bids": Figure(
        "Winning bids",
        "Histogram and Gaussian kernel density of all winning bids, as shares of their group. Source: Chen et al. 2023,"
        " sec. 4.3.",
        "winning_bid",
        distributions.density,
    ),
    "lowest-bids": Figure(
        "Lowest successful bid by day",
        "Boxes over games: median, quartiles, and whiskers up to 1.5 times the quartiles' distance. Source: Alympics,"
        " sec. 5.",
        "lowest_bid",
        distributions.boxes,
    ),
    "water-bids": Figure("Bids by day", f"{_BAND} Source: Alympics, Fig. 7.", "water_bid", courses.by_bidder),
    "health": Figure(
        "Health by day",
        f"{_BAND} {_LIVING} Source: Alympics, sec. 5.",
        "health",
        courses.by_bidder,
    ),
    "balance": Figure(
        "Balance by day",
        f"{_BAND} {_LIVING} Source: Alympics, sec. 5.",
        "balance",
        courses.by_bidder,
    ),
    "ranks": Figure(
        "Ranks over the games of a series",
        f"Rank by profit, 1 is the best. {_BAND} Source: Chen et al. 2023, B.3.",
        "series_rank",
        courses.by_bidder,
    ),
    "series-profits": Figure(
        "Profit over the games of a series",
        f"{_BAND} Source: Chen et al. 2023, sec. 4.3.",
        "series_profit",
        courses.by_bidder,
    ),
    "actions": Figure(
        "Paths of actions over runs",
        f"Thin: single games, {courses.MOST_PATHS} at most. Thick: their mean. Source: EconArena, Fig. 5.",
        "action",
        courses.paths,
    ),
    "deviations": Figure(
        "Deviation from equilibrium over runs",
        f"{_BAND} Source: EconArena, sec. 3.2.",
        "deviation_path",
        courses.by_bidder,
    ),
}


def figures(loaded: Loaded) -> dict[str, Drawing]:
    """Draw the figures of the papers that the metrics of an experiment allow, by name."""
    known = {one.metric for game in loaded.results.games for one in game.measurements if one.value is not None}
    drawn = {
        name: figure.draw(loaded, figure.needs, figure.title, figure.caption)
        for name, figure in FIGURES.items()
        if figure.needs in known
    }
    drawn["trueskill"] = intervals.trueskill(
        loaded,
        "TrueSkill",
        "Bars: mean mu over shuffled orders of the games. Thick: 95 % of the mus. Thin: one sigma around it.",
    )
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def means(loaded: Loaded, metric: str) -> Drawing | None:
    """Draw the means of a metric by arm."""
    return intervals.dots(loaded, metric, METRICS[metric].says) if metric in METRICS else None
