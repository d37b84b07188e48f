"""Harbor's own figures in the order of a report, those that answer a question first."""

from __future__ import annotations

from functools import partial

from harbor.evaluation._report.drawing.figure import Figure
from harbor.evaluation._report.plots import curves, distributions, heatmaps

_BAND = (
    "Mean of games; bands or whiskers, if there are any, are its interval, and end where the panel ends, at the values"
    " of single games."
)
_BINS = (
    "Means in bins around 0, 0.1 and so on to 1; the first and the last are one-sided. The larger a mark, the more is"
    " in its bin. On the dotted line are predictions that come true as often as they say; above it they are too low."
    " After Murphy 1973."
)
_LIVING = "Only residents alive on that day count."

_placed = partial(Figure, by_place=True)
"""Declares a figure that goes from one item, day or run to the next."""

FIGURES = (
    _placed(
        name="priorities-by-match",
        question="Do bidders give priority to the items that match their persona?",
        description="Priorities of matched items and of others",
        caption="Mean priority, from 1 (give up if need be) to 3 (top), of the items still to come: those that match"
        " the bidder's persona, and the others, whatever their places. A game counts while it has such an item left."
        " Whiskers end where the panel ends. After Harbor, Fig. 3.",
        needs="matched_priority",
        beside=("unmatched_priority",),
        draw=curves.by_place,
    ),
    _placed(
        name="priority-heatmap",
        question="Which items do bidders give priority, and when?",
        description="Priorities of items, item by item",
        caption="Priority from 1 (give up if need be) to 3 (top) of the items still to come. Where matches are known,"
        f" the first {heatmaps.FIRST_GAMES} games one by one; else means of games, by the places of the items. After"
        " Chen et al. 2023, Fig. 4, and Harbor, Fig. 3.",
        needs="priority",
        beside=("persona_match",),
        draw=heatmaps.priorities,
    ),
    Figure(
        name="engagement-by-match",
        question="Do bidders bid more often on the items that match their persona?",
        description="Bids per item that matches and per item that does not",
        caption="Mean number of bids per item with its interval. After Harbor, Fig. 4.",
        needs="matched_engagement",
        beside=("matched_engagement", "unmatched_engagement"),
        draw=curves.matched_by_bidder,
    ),
    _placed(
        name="engagement",
        question="On which items does each bidder bid, and how often?",
        description="Bids by item, game by game",
        caption=f"The number of bids of each bidder on each item, in the first {heatmaps.FIRST_GAMES} games. After"
        " Harbor, Fig. 4.",
        needs="engagement",
        draw=heatmaps.bids,
    ),
    _placed(
        name="profiling-error",
        question="How far are profiles of rivals from the truth, and are they better than a uniform guess?",
        description="Profiling error over rounds",
        caption=f"KL(truth ‖ profile) over all bidders and rivals; 0 is the truth. {_BAND} After Harbor, Fig. 5.",
        needs="profiling_error",
        beside=("uniform_profiling_error",),
        draw=curves.compared_lines,
    ),
    _placed(
        name="profile-reliability",
        question="Is a rival of a persona as often as profiles say?",
        description="Reliability of profiles",
        caption=f"Shares that last profiles give to personas, and how often they were true. {_BINS}",
        needs="profile_reliability",
        draw=distributions.diagram,
    ),
    _placed(
        name="interest-reliability",
        question="Do rivals bid as often as they are predicted to be interested?",
        description="Reliability of predicted interest",
        caption=f"Interest that was predicted of rivals in items, and how many of them bid. {_BINS}",
        needs="interest_reliability",
        draw=distributions.diagram,
    ),
    Figure(
        name="strategic-actions",
        question="Which strategic actions does each bidder choose?",
        description="Strategic actions",
        caption="Share of each action among those chosen; mean over games. The actions are those of Harbor, Table 1.",
        needs="strategy_share",
        draw=distributions.actions,
    ),
    _placed(
        name="profit-by-item",
        question="On which items does each bidder earn?",
        description="Profit by item",
        caption=f"Profit on the item at each place, 0 where it was not won. {_BAND} After Chen et al. 2023, later"
        " version, Fig. 10 to 13.",
        needs="profit_by_item",
        draw=curves.by_bidder,
    ),
    _placed(
        name="prices",
        question="At which prices do items sell, from the first to the last, and how high were bids?",
        description="Prices and highest bids",
        caption=f"{_BAND} Highest bids where they are not what is paid. After Chen et al. 2023, sec. 4.3.",
        needs="prices",
        draw=partial(curves.compared_lines, each="about"),
    ),
    Figure(
        name="winning-bids",
        question="Do the groups buy at different prices?",
        description="Winning bids",
        caption="Histogram and, where they differ, Gaussian kernel density of all winning bids, as shares of their"
        " group; a density ends where the panel ends. After Chen et al. 2023, sec. 4.3.",
        needs="winning_bid",
        beside=("winning_bid",),
        draw=distributions.density,
    ),
    _placed(
        name="ranks",
        question="Does a bidder's rank improve from auction to auction?",
        description="Ranks over the games of a series",
        caption=f"Rank by profit; 1, the best, is on top. {_BAND} After Chen et al. 2023, B.3.",
        needs="series_rank",
        draw=curves.by_bidder,
    ),
    _placed(
        name="series-profits",
        question="Does a bidder's profit grow from auction to auction?",
        description="Profit over the games of a series",
        caption=f"{_BAND} After Chen et al. 2023, sec. 4.3.",
        needs="series_profit",
        draw=partial(curves.compared_lines, each="bidder"),
    ),
    _placed(
        name="earnings-by-run",
        question="Does a bidder earn more from run to run?",
        description="Earnings over the runs of a session",
        caption=f"{_BAND} After EconArena, A.2.",
        needs="earned_by_run",
        draw=partial(curves.compared_lines, each="bidder"),
    ),
    _placed(
        name="deviations",
        question="Do players come nearer to equilibrium from run to run?",
        description="Deviation from equilibrium over runs",
        caption=f"{_BAND} After EconArena, sec. 3.2.",
        needs="deviation_path",
        draw=curves.by_bidder,
    ),
    _placed(
        name="actions",
        question="Which actions do players take, run by run?",
        description="Paths of actions over runs",
        caption=f"Thin: single games, {curves.MOST_PATHS} at most. Thick: their mean. Each panel has its own scale."
        " After EconArena, Fig. 5.",
        needs="action",
        draw=curves.paths,
    ),
    _placed(
        name="health",
        question="Who stays healthy, and until when?",
        description="Health by day",
        caption=f"{_BAND} {_LIVING} After Alympics, sec. 5.",
        needs="health",
        draw=curves.by_bidder,
    ),
    _placed(
        name="lowest-bids",
        question="What does it take to get water on a day?",
        description="Lowest successful bid by day",
        caption=f"{_BAND} After Alympics, sec. 5.",
        needs="lowest_bid",
        draw=curves.compared_lines,
    ),
    _placed(
        name="water-bids",
        question="How much do residents bid, day by day?",
        description="Bids by day",
        caption=f"{_BAND} After Alympics, Fig. 7.",
        needs="water_bid",
        draw=curves.by_bidder,
    ),
    _placed(
        name="balance",
        question="How much money do residents have left, day by day?",
        description="Balance by day",
        caption=f"{_BAND} {_LIVING} After Alympics, sec. 5.",
        needs="balance",
        draw=curves.by_bidder,
    ),
    Figure(
        name="bid-increases",
        question="By how much do bidders raise the highest bid?",
        description="Bid increases",
        caption="Share of a bidder's bids whose increase over the highest bid before, in percent, lies in each bin;"
        " mean over games. After Chen et al. 2023, later version, Fig. 5.",
        needs="bid_increase_share",
        draw=distributions.increases,
    ),
    _placed(
        name="remaining-budget",
        question="How do bidders spend their budgets over the sale?",
        description="Remaining budget over items",
        caption=f"{_BAND} After Chen et al. 2023, B.2.",
        needs="remaining_budget",
        draw=curves.by_bidder,
    ),
)
