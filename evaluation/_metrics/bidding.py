"""How bidders bid: by how much they raise, and how often a bid is refused.

Source: Chen et al. 2023, sec. 4.1, and its later version, sec. 4.3 and Fig. 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from harbor._core.acts import Acted, Tried
from harbor._core.asks import Bid, Withdraw
from harbor._core.events import BidderLabelled, BidderWithdrew, PublicEvent
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.thoughts import LimitSet
from harbor.evaluation._metrics.acts import acts
from harbor.evaluation._metrics.measurement import Measurement, metric, shares_by_bidder

_NO_BIDS = "nobody has bid"

BINS = {"[0, 10)": 0, "[10, 11)": 10, "[11, 20)": 11, "[20, 50)": 20, "[50, inf)": 50}
"""Bins of bid increases and their lower ends, in percent."""


class Raise(NamedTuple):
    """A bid relative to the highest bid before its round, or to the starting price if there was none."""

    bidder: str
    increase: Decimal


def raises(entries: Sequence[Entry]) -> list[Raise]:
    """List the bids, each as its increase over the price at which its bidder was asked.

    Bids of one round are simultaneous, so each is compared with the price before the round.
    """
    found, price = [], Decimal(0)
    for entry in entries:
        match entry.event:
            case Acted(bidder=bidder, act=Bid(amount=amount)) if price:
                found.append(Raise(bidder, amount / price - 1))
            case PublicEvent(called=Decimal() as called):
                price = called
    return found


@metric("corrected failure rate of bids, of answers to calls", "share", "skewed", better="lower")
def failed_bid_rate(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Corrected failure rate of each bidder's bids, a share: F / (C + F).

    F is the number of refused bids, each attempt counted. C is the number of accepted decisions, bids and withdrawals:
    a bidder that is refused is asked again, so C hardly depends on F. A withdrawal that the auctioneer entered because
    there was no money, no legal bid or no reply is not a decision. Who bids by limit decides with each limit that it
    sets: the bids that follow from it are the house's. Source: Chen et al. 2023, sec. 4.1.
    """
    return _failure_rate(name, entries, Counter())


@metric("corrected failure rate of bids, forced withdrawals counted as answers", "share", "skewed", better="lower")
def failed_bid_rate_forced(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Corrected failure rate of each bidder's bids as the source's code counts it, a share: F / (C + F).

    C also has the items that a bidder lacked the money to bid on, though nobody asked it. So this rate is never above
    `failed_bid_rate`. Source: Chen et al. 2023, their code.
    """
    forced = (event.bidder for event in of_type(entries, BidderWithdrew) if event.reason == "cannot afford")
    return _failure_rate(name, entries, Counter(forced))


def _failure_rate(name: str, entries: Sequence[Entry], forced: Counter[str]) -> list[Measurement]:
    failed = Counter(event.bidder for event in of_type(entries, Tried))
    stood = Counter(one.bidder for one in acts(entries) if not isinstance(one.act, Withdraw) or one.act == Withdraw())
    stood = Counter({**stood, **Counter(event.bidder for event in of_type(entries, LimitSet))}) + forced
    answers = {label.bidder: failed[label.bidder] + stood[label.bidder] for label in of_type(entries, BidderLabelled)}
    return shares_by_bidder(name, failed, answers, "the bidder answered no call")


@metric("increase of a bid over the highest before", "ratio", "skewed", no_data=_NO_BIDS, public=True)
def bid_increase(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Increase of each bid over the highest bid of the rounds before, a ratio (0.1: a tenth more), one value per bid.

    A first bid is compared with the starting price. Source: Chen et al. 2023, later version, sec. 4.3.
    """
    return [Measurement(name, float(one.increase), one.bidder) for one in raises(entries)]


@metric("bids whose increase is within a bin", "share", "skewed", no_data=_NO_BIDS, public=True)
def bid_increase_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of each bidder's bids whose increase lies in a bin (`about`: "[0, 10)" percent and so on, see `BINS`).

    The source has five bins and names the ends 0, 10, 11 and infinity; 20 and 50 are ours. Its first bin contains first
    bids, which need not exceed the starting price. It also contains later raises by the minimum, which is a tenth of
    the starting price and not of the bid before. Source: Chen et al. 2023, later version, sec. 4.3, Fig. 5.
    """
    counts: dict[str, Counter[str]] = {}
    for one in raises(entries):
        counts.setdefault(one.bidder, Counter())[_bin(one.increase)] += 1
    return [
        Measurement(name, count[label] / count.total(), bidder, label)
        for bidder, count in counts.items()
        for label in BINS
    ]


def _bin(increase: Decimal) -> str:
    return [label for label, lowest in BINS.items() if increase * 100 >= lowest][-1]
