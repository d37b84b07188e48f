"""What bidders chose and predicted: strategic actions, whether decisions follow them, the limits of rivals.

Source: Harbor sec. 3.5 and 4.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import get_args

from harbor._core.log.acts import ActedSealed
from harbor._core.log.events import LotClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Decided, Predicted, StrategicAction, Strategized
from harbor._games.outcomes import outcomes, sales
from harbor.evaluation._metrics.behaviour import bids
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric

ACTIONS: Mapping[StrategicAction, str] = {
    "A": "raise, as it matters most",
    "B": "raise, to make rivals spend",
    "C": "raise, as there is money enough",
    "D": "quit, to save for what matters more",
    "E": "quit, as too little is left to earn",
    "F": "quit, to stay out of a bidding war",
}
"""The strategic actions in our own words. Source: Harbor, Table 1."""
_NO_STRATEGY = "no bidder has chosen a strategic action"


def strategies(entries: Sequence[Entry]) -> dict[str, Counter[str]]:
    """Count the strategic actions of each bidder that has a strategy."""
    counts: dict[str, Counter[str]] = {}
    for chosen in of_type(entries, Strategized):
        counts.setdefault(chosen.bidder, Counter())[chosen.action] += 1
    return counts


def agreement(entries: Sequence[Entry]) -> dict[str, float]:
    """Give, for each bidder with a strategy, the share of its decisions that follow from the action chosen."""
    strategists = {chosen.bidder for chosen in of_type(entries, Strategized)}
    decisions = [decided for decided in of_type(entries, Decided) if decided.bidder in strategists]
    return {
        bidder: 1 - sum(one.contradicts for one in own) / len(own)
        for bidder in sorted(strategists)
        if (own := [decided for decided in decisions if decided.bidder == bidder])
    }


@dataclass(frozen=True, slots=True)
class Foresight:
    """A predicted limit and the rival's last bid on that item, in dollars; a rival that never bid has none.

    If the rival `won`, its last bid is only a lower bound of its limit.
    """

    bidder: str
    rival: str
    item: str
    limit: Decimal
    last_bid: Decimal
    won: bool


def foresights(entries: Sequence[Entry]) -> list[Foresight]:
    """Compare predicted limits with last bids, wherever the rival did bid."""
    last = {(bid.bidder, bid.item): bid.amount for bid in bids(entries)}
    sold = sales(outcomes(entries))
    return [
        Foresight(
            predicted.bidder,
            one.rival,
            predicted.item,
            one.limit,
            last[one.rival, predicted.item],
            won=predicted.item in sold and sold[predicted.item].winner == one.rival,
        )
        for predicted in of_type(entries, Predicted)
        for one in predicted.predictions
        if (one.rival, predicted.item) in last
    ]


@metric("strategic actions of a kind", "share", "skewed", of=LotClosed, no_data=_NO_STRATEGY)
def strategy_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of each strategic action (`about`: A to F) among those that each bidder with a strategy chose.

    Source: Harbor, Table 1.
    """
    return [
        Measurement(name, counts[action] / counts.total(), bidder, action)
        for bidder, counts in strategies(entries).items()
        for action in get_args(StrategicAction)
    ]


@metric("decisions that follow from the strategic action chosen", "share", "skewed", no_data=_NO_STRATEGY)
def strategy_agreement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of the decisions of each bidder with a strategy that follow from the action chosen: a bid from A, B or C.

    Source: Harbor sec. 3.5.
    """
    return by_bidder(name, agreement(entries))


@metric(
    "error of the predicted limits of rivals",
    "ratio",
    "skewed",
    of=LotClosed,
    no_data="nobody has predicted the limit of a rival that bid and lost",
)
def prediction_error(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """How far each bidder's predictions of rivals' limits are off, a share: the mean of |limit - last bid| / last bid.

    It is over the rivals that bid on an item and lost it; where bids are sealed, also over those that won it. A loser's
    limit lies between its last bid and the next least bid, so a perfect prediction may be off by as much. The log does
    not tell how far the winner of an open auction would have gone. Source: Harbor's own.
    """
    errors: dict[str, list[float]] = {}
    sealed = bool(of_type(entries, ActedSealed))
    for one in foresights(entries):
        if one.last_bid and (sealed or not one.won):
            errors.setdefault(one.bidder, []).append(float(abs(one.limit - one.last_bid) / one.last_bid))
    return by_bidder(name, {bidder: fmean(off) for bidder, off in errors.items()})
