"""Harbor's own figures, in the order in which a report shows them."""

from __future__ import annotations

from harbor.evaluation._report import curves, distributions, shares
from harbor.evaluation._report.figure import Figure

_BAND = "Mean over games; the band is its 95 % interval."
_LIVING = "Only residents alive on that day count."

FIGURES = (
    Figure(
        name="priority-heatmap",
        description="Priorities of items, item by item",
        caption="Mean priority from 1 (give up if need be) to 3 (top) of the items still to come. Source: Chen et al."
        " 2023, Fig. 4; Harbor, Fig. 3.",
        needs="priority",
        draw=shares.heatmap,
        by_place=True,
    ),
    Figure(
        name="remaining-budget",
        description="Remaining budget over items",
        caption=f"{_BAND} Source: Chen et al. 2023, B.2.",
        needs="remaining_budget",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="profiling-error",
        description="Profiling error over rounds",
        caption=f"KL(truth ‖ profile) in nats, over all bidders and rivals. {_BAND} Source: Harbor, Fig. 5.",
        needs="profiling_error",
        draw=curves.by_condition,
        by_place=True,
    ),
    Figure(
        name="bid-increases",
        description="Bid increases",
        caption="Share of a bidder's bids whose increase over the highest bid before, in percent, lies in each bin;"
        " mean over games. Source: Chen et al. 2023, later version, Fig. 5.",
        needs="bid_increase_share",
        draw=shares.stacked,
    ),
    Figure(
        name="strategic-actions",
        description="Strategic actions",
        caption="Share of each action among those chosen; mean over games. Source: Harbor, Table 1.",
        needs="strategy_share",
        draw=shares.stacked,
    ),
    Figure(
        name="winning-bids",
        description="Winning bids",
        caption="Histogram and Gaussian kernel density of all winning bids, as shares of their group. Source: Chen et"
        " al. 2023, sec. 4.3.",
        needs="winning_bid",
        draw=distributions.density,
    ),
    Figure(
        name="lowest-bids",
        description="Lowest successful bid by day",
        caption="Boxes over games: median, quartiles, and whiskers up to 1.5 times the quartiles' distance. Source:"
        " Alympics, sec. 5.",
        needs="lowest_bid",
        draw=distributions.boxes,
        by_place=True,
    ),
    Figure(
        name="water-bids",
        description="Bids by day",
        caption=f"{_BAND} Source: Alympics, Fig. 7.",
        needs="water_bid",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="health",
        description="Health by day",
        caption=f"{_BAND} {_LIVING} Source: Alympics, sec. 5.",
        needs="health",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="balance",
        description="Balance by day",
        caption=f"{_BAND} {_LIVING} Source: Alympics, sec. 5.",
        needs="balance",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="ranks",
        description="Ranks over the games of a series",
        caption=f"Rank by profit, 1 is the best. {_BAND} Source: Chen et al. 2023, B.3.",
        needs="series_rank",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="series-profits",
        description="Profit over the games of a series",
        caption=f"{_BAND} Source: Chen et al. 2023, sec. 4.3.",
        needs="series_profit",
        draw=curves.by_bidder,
        by_place=True,
    ),
    Figure(
        name="actions",
        description="Paths of actions over runs",
        caption=f"Thin: single games, {curves.MOST_PATHS} at most. Thick: their mean. Source: EconArena, Fig. 5.",
        needs="action",
        draw=curves.paths,
        by_place=True,
    ),
    Figure(
        name="deviations",
        description="Deviation from equilibrium over runs",
        caption=f"{_BAND} Source: EconArena, sec. 3.2.",
        needs="deviation_path",
        draw=curves.by_bidder,
        by_place=True,
    ),
)
