"""The metrics by name; an experiment asks for them by these names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor._core.events import BidderLabelled, Event, SaleOpened, SeriesOpened
from harbor._core.log_lines import Entry
from harbor._games.session import SessionOpened
from harbor._games.water import WaterOpened
from harbor.evaluation._metrics import (
    behaviour,
    beliefs,
    bidding,
    calls,
    plans,
    profiling,
    results,
    series,
    sessions,
    strategy,
    water,
)
from harbor.evaluation._metrics.measurement import GameKind, Measurement, Metric

OPENINGS: dict[GameKind, type[Event]] = {
    "ascending auction": SaleOpened,
    "water game": WaterOpened,
    "session": SessionOpened,
    "series": SeriesOpened,
    "game": BidderLabelled,
}
"""The event that opens what a metric is measured of; a log without it has none of that."""

_NO_PLANS = "no bidder has a plan for an item that is over"
_NO_PLANS_OF_PERSONAS = "no bidder with a persona has a plan for such an item that is over"
_NO_STRATEGY = "no bidder has chosen a strategic action"
_NO_BELIEFS = "no bidder has written down beliefs"
_NO_PROFILES = "nobody has profiled a rival whose persona is known"
_NO_BIDS = "nobody has bid"
_NO_EQUILIBRIUM = "no equilibrium to deviate from is known"
_NO_DAY, _NO_RUN, _NO_AUCTION, _NO_ITEM = (f"no {part} is over yet" for part in ("day", "run", "auction", "item"))

METRICS: dict[str, Metric] = {
    # the ascending auction
    "profit": Metric("profit of a bidder", "dollars", results.profit),
    "profit_ratio": Metric("profit over what all items could have earned", "ratio", results.profit_ratio),
    "items_won": Metric("items that a bidder won", "count", results.items_won),
    "spent": Metric("what a bidder paid", "dollars", results.spent),
    "rank": Metric("rank by profit", "rank", results.rank),
    "remaining_budget": Metric("budget left after an item", "dollars", results.remaining_budget, no_data=_NO_ITEM),
    "winning_bid": Metric("winning bids", "dollars", results.winning_bid, "skewed", no_data="nothing was sold"),
    "acquisition_rate": Metric(
        "items won of those that match a bidder's personas", "share", behaviour.acquisition_rate, "skewed"
    ),
    "engagement": Metric("bids on an item", "count", behaviour.engagement, "skewed", no_data=_NO_ITEM),
    "matched_engagement": Metric(
        "bids on an item that matches a bidder's personas", "count", behaviour.matched_engagement, "skewed"
    ),
    "unmatched_engagement": Metric(
        "bids on an item that does not match a bidder's personas", "count", behaviour.unmatched_engagement, "skewed"
    ),
    "failed_bid_rate": Metric("corrected failure rate of bids", "share", bidding.failed_bid_rate, "skewed"),
    "bid_increase": Metric(
        "increase of a bid over the highest before", "ratio", bidding.bid_increase, "skewed", no_data=_NO_BIDS
    ),
    "bid_increase_share": Metric(
        "bids whose increase is within a bin", "share", bidding.bid_increase_share, "skewed", no_data=_NO_BIDS
    ),
    "belief_error_rate_self": Metric(
        "corrected failure rate of beliefs about oneself",
        "share",
        beliefs.belief_error_rate_self,
        "skewed",
        no_data=_NO_BELIEFS,
    ),
    "belief_error_rate_others": Metric(
        "corrected failure rate of beliefs about others",
        "share",
        beliefs.belief_error_rate_others,
        "skewed",
        no_data=_NO_BELIEFS,
    ),
    "profiling_error": Metric(
        "divergence of a profile from the truth", "nats", profiling.profiling_error, "skewed", no_data=_NO_PROFILES
    ),
    "final_profiling_error": Metric(
        "divergence of the last profile from the truth",
        "nats",
        profiling.final_profiling_error,
        "skewed",
        no_data=_NO_PROFILES,
    ),
    "priority": Metric("priority of an item at an item", "priority", plans.priority, no_data=_NO_PLANS),
    "matched_priority": Metric(
        "priority of items that match a bidder's personas",
        "priority",
        plans.matched_priority,
        no_data=_NO_PLANS_OF_PERSONAS,
    ),
    "unmatched_priority": Metric(
        "priority of items that do not match a bidder's personas",
        "priority",
        plans.unmatched_priority,
        no_data=_NO_PLANS_OF_PERSONAS,
    ),
    "priority_initial": Metric("priority in the first plan", "priority", plans.priority_initial, no_data=_NO_PLANS),
    "priority_current": Metric("priority in the plan in force", "priority", plans.priority_current, no_data=_NO_PLANS),
    "bids": Metric("bids on an item, by its place", "count", plans.bids, "skewed", no_data=_NO_ITEM),
    "won": Metric("whether an item was won, by its place", "share", plans.won, "binary", no_data=_NO_ITEM),
    "strategy_share": Metric(
        "strategic actions of a kind", "share", strategy.strategy_share, "skewed", no_data=_NO_STRATEGY
    ),
    "strategy_agreement": Metric(
        "decisions that follow from the strategic action chosen",
        "share",
        strategy.strategy_agreement,
        "skewed",
        no_data=_NO_STRATEGY,
    ),
    "prediction_error": Metric(
        "error of the predicted limits of rivals",
        "ratio",
        strategy.prediction_error,
        "skewed",
        no_data="nobody has predicted the limit of a rival that bid and lost",
    ),
    # the Water Allocation Challenge
    "survived": Metric("whether a resident survived", "share", water.survived, "binary", "water game", _NO_DAY),
    "days_lived": Metric(
        "days that a resident lived through", "count", water.days_lived, "skewed", "water game", _NO_DAY
    ),
    "survivors": Metric("residents that survived", "count", water.survivors, "mean", "water game", _NO_DAY),
    "rsr_start": Metric(
        "resource satisfaction rate at the start", "number", water.rsr_start, "mean", "water game", _NO_DAY
    ),
    "rsr_end": Metric(
        "resource satisfaction rate at the end", "number", water.rsr_end, "skewed", "water game", _NO_DAY
    ),
    "lowest_bid": Metric(
        "lowest successful bid of a day", "dollars", water.lowest_bid, "skewed", "water game", _NO_DAY
    ),
    "water_bid": Metric("bid of a resident on a day", "dollars", water.water_bid, "skewed", "water game", _NO_DAY),
    "health": Metric("health of a resident after a day", "health", water.health, "mean", "water game", _NO_DAY),
    "balance": Metric("money of a resident after a day", "dollars", water.balance, "skewed", "water game", _NO_DAY),
    # sessions of one-shot games
    "payoff": Metric("mean payoff over the runs", "number", sessions.payoff, "skewed", "session", _NO_RUN),
    "payoff_ratio": Metric(
        "mean payoff over that in equilibrium", "ratio", sessions.payoff_ratio, "skewed", "session", _NO_RUN
    ),
    "deviation": Metric("mean deviation from equilibrium", "number", sessions.deviation, "skewed", "session", _NO_RUN),
    "deviation_path": Metric(
        "deviation from equilibrium in a run", "number", sessions.deviation_path, "skewed", "session", _NO_EQUILIBRIUM
    ),
    "action": Metric("bid or number in a run", "number", sessions.action, "skewed", "session", _NO_RUN),
    "broken_share": Metric(
        "runs in which a rule was broken", "share", sessions.broken_share, "skewed", "session", _NO_RUN
    ),
    # series of auctions
    "series_rank": Metric("rank by profit in an auction", "rank", series.series_rank, "mean", "series", _NO_AUCTION),
    "series_profit": Metric("profit in an auction", "dollars", series.series_profit, "mean", "series", _NO_AUCTION),
    "mean_rank": Metric("mean rank over the auctions", "rank", series.mean_rank, "mean", "series", _NO_AUCTION),
    "rank_trend": Metric(
        "how much the rank changes from auction to auction; below 0 it gets better",
        "number",
        series.rank_trend,
        "mean",
        "series",
        _NO_AUCTION,
    ),
    "total_profit": Metric("profit over the auctions", "dollars", series.total_profit, "mean", "series", _NO_AUCTION),
    # any game
    "calls": Metric("model calls", "count", calls.call_count, game="game"),
    "input_tokens": Metric("tokens that models read", "tokens", calls.input_tokens, game="game"),
    "output_tokens": Metric("tokens that models wrote", "tokens", calls.output_tokens, game="game"),
    "chain": Metric("model calls that waited for each other", "count", calls.chain, game="game"),
}


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log, by the metrics of these names.

    A metric of another game, or one that the game gave nothing to measure, is one missing measurement with the reason.
    """
    return [found for name in names for found in _measured(name, METRICS[name], entries)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """Name the metrics of the game that a log tells of."""
    return [name for name, metric in METRICS.items() if _fits(metric, entries)]


def _measured(name: str, metric: Metric, entries: Sequence[Entry]) -> list[Measurement]:
    if not _fits(metric, entries):
        return [Measurement(name, None, missing=f"the log opens no {metric.game}")]
    return metric.measure(name, entries) or [Measurement(name, None, missing=metric.no_data)]


def _fits(metric: Metric, entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry.event, OPENINGS[metric.game]) for entry in entries)
