"""Bidders' strategic actions, the decisions that follow them, and the predicted limits of rivals.

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
"""The strategic actions that a bidder can choose from, in words of this project. Source: Harbor, Table 1."""
_NO_STRATEGY = "no bidder has chosen a strategic action"


def strategies(entries: Sequence[Entry]) -> dict[str, Counter[str]]:
    """Count how often each bidder chose each strategic action; bidders that chose none are left out.

    A strategic action is a letter from A to F that says how to go on in the bidding, such as D: quit, to save for what
    matters more.

    >>> strategies([Entry(1, 0.0, Strategized("Ann", "Vase", 1, 1, "A", "It is rare."))])
    {'Ann': Counter({'A': 1})}
    """
    counts: dict[str, Counter[str]] = {}
    for chosen in of_type(entries, Strategized):
        counts.setdefault(chosen.bidder, Counter())[chosen.action] += 1
    return counts


def agreement(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the share of each bidder's decisions that follow from the strategic action that it chose before.

    Bidders that never chose a strategic action, or made no decision, are left out.

    >>> chosen = Strategized("Ann", "Vase", 1, 1, "A", "It is rare.")
    >>> agreement([Entry(1, 0.0, chosen), Entry(2, 0.0, Decided("Ann", "Vase", 1, 1, "", None, contradicts=True))])
    {'Ann': 0.0}
    """
    strategists = {chosen.bidder for chosen in of_type(entries, Strategized)}
    decisions = [decided for decided in of_type(entries, Decided) if decided.bidder in strategists]
    return {
        bidder: 1 - sum(one.contradicts for one in own) / len(own)
        for bidder in sorted(strategists)
        if (own := [decided for decided in decisions if decided.bidder == bidder])
    }


@dataclass(frozen=True, slots=True)
class Foresight:
    """A bidder's prediction of the most that a rival would bid on an item, and the rival's last bid, in dollars.

    If the rival `won` the item, its last bid is only a lower bound of its limit.
    """

    bidder: str
    rival: str
    item: str
    limit: Decimal
    last_bid: Decimal
    won: bool


def foresights(entries: Sequence[Entry]) -> list[Foresight]:
    """Pair each limit that a bidder predicted for a rival with the last bid of that rival on the item.

    The predicted limit is the most that the rival would bid, in dollars. A prediction is left out if the rival made no
    bid on the item.

    >>> events = [Predicted("Ann", "Vase", (Prediction("Ben", 0.7, Decimal(200)),)), Acted("Ben", "Vase", Bid(150))]
    >>> [(one.limit, one.last_bid) for one in foresights([Entry(1, 0.0, event) for event in events])]
    [(Decimal('200'), 150)]
    """
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
    """Measure how often a bidder chose each strategic action, as a share of all its choices.

    `about` is the letter of the action, from A to F. Bidders that never chose a strategic action are left out.

    Source: Harbor, Table 1.
    """
    return [
        Measurement(name, counts[action] / counts.total(), bidder, action)
        for bidder, counts in strategies(entries).items()
        for action in get_args(StrategicAction)
    ]


@metric("decisions that follow from the strategic action chosen", "share", "skewed", no_data=_NO_STRATEGY)
def strategy_agreement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the share of each bidder's decisions that follow from the strategic action that it chose before.

    A bid follows from the actions A, B and C, which are to raise. Bidders that never chose a strategic action are left
    out.

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
    """Measure the error of each bidder's predictions of rivals' limits: the mean of |limit - last bid| / last bid.

    The limit is the most that a rival would bid on an item, as the bidder predicted. The mean is over the predictions
    for rivals that bid on the item and did not win it; in games with sealed bids, winners count too. The log of an open
    auction does not tell the winner's limit. The limit of a loser lies between its last bid and the next possible bid,
    so even a perfect prediction can be off by that step.

    Source: Harbor's own.
    """
    errors: dict[str, list[float]] = {}
    sealed = bool(of_type(entries, ActedSealed))
    for one in foresights(entries):
        if one.last_bid and (sealed or not one.won):
            errors.setdefault(one.bidder, []).append(float(abs(one.limit - one.last_bid) / one.last_bid))
    return by_bidder(name, {bidder: fmean(off) for bidder, off in errors.items()})
