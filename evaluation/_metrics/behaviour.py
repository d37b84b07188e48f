"""Metrics of bidders' acts: prices, legality, raises, and bids on and wins of items that match their personas.

Sources: Harbor sec. 3.1 and 4.1 (items that match); Chen et al. 2023, sec. 4.1, and its later version, sec. 4.3 and
Fig. 5 (raises and refused bids).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import NamedTuple

from harbor._core.asking.asks import Bid, Withdraw
from harbor._core.log.acts import Acted, ActedSealed, Tried
from harbor._core.log.events import BidderLabelled, BidderWithdrew, ItemLabelled, LotClosed, PublicEvent
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import LimitSet
from harbor._games.outcomes import outcomes, sales
from harbor.evaluation._metrics.measurement import Measurement, measured, metric, shares_by_bidder
from harbor.evaluation._metrics.results import closed, positions


class MadeBid(NamedTuple):
    """A legal bid of a bidder on an item in a round; `amount` is in dollars, or a number that is not money."""

    bidder: str
    item: str
    round: int
    amount: Decimal


def acts(entries: Sequence[Entry]) -> Sequence[Acted | ActedSealed]:
    """List the legal acts in a log, in order.

    A public log of a game with sealed acts has only the acts that the rules disclosed.
    """
    return of_type(entries, ActedSealed) or of_type(entries, Acted)


def bids(entries: Sequence[Entry]) -> Iterator[MadeBid]:
    """Yield, in order, each legal bid that names an amount."""
    for one in acts(entries):
        if isinstance(one.act, Bid):
            yield MadeBid(one.bidder, one.item, one.round, one.act.amount)


NO_PRICE = "nothing was sold as one unit to one bidder for money"


@metric("price", "dollars", "skewed", of=LotClosed, place="item or run", least=0, no_data=NO_PRICE)
def prices(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the price in dollars that was paid for each item or run, and the highest bid on it.

    `about` is "price" or "highest bid", and `at` the position of the item or run. The highest bids are left out if
    every winner pays its own bid. Items that were unsold, free, or sold in several units have neither value.

    Source: Chen et al. 2023, sec. 4.3; EconArena, A.2.
    """
    told = outcomes(entries)
    holders, closed = told.holders(), dict.fromkeys(event.item for event in of_type(entries, LotClosed))
    paid = {
        item: price
        for mine in told.accounts.values()
        for item, price in mine.paid.items()
        if price and mine.units.get(item) == 1 and len(holders[item]) == 1
    }
    highest = dict(paid)
    for bid in bids(entries):
        if bid.item in highest:
            highest[bid.item] = max(highest[bid.item], bid.amount)
    return [
        Measurement(name, float(amounts[item]), "", about, at)
        for about, amounts in {"price": paid, "highest bid": highest}.items()
        for at, item in enumerate(closed, start=1)
        if item in amounts and (about == "price" or amounts != paid)
    ]


@metric("attempts that were legal", "share", "skewed", of=BidderLabelled, better="higher")
def legality(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure how many of each bidder's attempts to answer a call were legal, as a share; a withdrawal is legal.

    Source: Harbor's own.
    """
    # Leave out withdrawals that the house entered, as for a bidder without an answer.
    stood = (one for one in acts(entries) if not isinstance(one.act, Withdraw) or one.act.reason == "declined")
    legal, failed = (Counter(one.bidder for one in tried) for tried in (stood, of_type(entries, Tried)))
    tried = {label.bidder: legal[label.bidder] + failed[label.bidder] for label in of_type(entries, BidderLabelled)}
    return shares_by_bidder(name, legal, tried, "the bidder answered no call")


_NO_ITEM = "no item is over yet"

NO_PERSONA = "the bidder has no persona"


@dataclass(frozen=True, slots=True)
class Acquisition:
    """The number of items that match a bidder's personas: those that the bidder `won`, and all that were `offered`."""

    bidder: str
    won: int
    offered: int

    @property
    def rate(self) -> float | None:
        """The share of the matching items that the bidder won; None if no matching item was offered."""
        return self.won / self.offered if self.offered else None


def acquisitions(entries: Sequence[Entry]) -> list[Acquisition]:
    """Count, for each bidder with a persona, the items for sale that match it, and those of them that the bidder won.

    >>> item = ItemLabelled("Farm", Decimal(300), "rural")
    >>> acquisitions([Entry(1, 0.0, item), Entry(2, 0.0, BidderLabelled("Ann", {"rural": 1.0}, "model"))])
    [Acquisition(bidder='Ann', won=0, offered=1)]
    """
    sold = sales(outcomes(entries))
    return [
        Acquisition(bidder, sum(item in sold and sold[item].winner == bidder for item in matched), len(matched))
        for bidder, matched in matches(entries).items()
    ]


def engagements(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Count the legal bids of each bidder on each item; an item without a bid of the bidder counts 0.

    >>> events = [BidderLabelled("Ann", {}, "model"), ItemLabelled("Vase", Decimal(300), ())]
    >>> engagements([Entry(seq, 0.0, event) for seq, event in enumerate([*events, Acted("Ann", "Vase", Bid(120))])])
    {'Ann': {'Vase': 1}}
    """
    made = Counter((bid.bidder, bid.item) for bid in bids(entries))
    items = [label.item for label in of_type(entries, ItemLabelled)]
    return {
        label.bidder: {item: made[label.bidder, item] for item in items} for label in of_type(entries, BidderLabelled)
    }


def matches(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Map each bidder that has a persona to the items that match its personas."""
    suits = {label.item: _suits(label) for label in of_type(entries, ItemLabelled)}
    return {
        label.bidder: {item for item in suits if any(one in label.personas for one in suits[item])}
        for label in of_type(entries, BidderLabelled)
        if label.personas
    }


def _suits(label: ItemLabelled) -> tuple[str, ...]:
    return (label.persona,) if isinstance(label.persona, str) else label.persona


@metric("items won of those that match a bidder's personas", "share", "skewed")
def acquisition_rate(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure, for each bidder, the share won of the items for sale that match its personas.

    Source: Harbor eq. 4.
    """
    rates = {one.bidder: one.rate for one in acquisitions(entries)}
    return [
        Measurement(name, rates.get(label.bidder), label.bidder, missing=_no_rate(label.bidder, rates))
        for label in of_type(entries, BidderLabelled)
    ]


def _no_rate(bidder: str, rates: dict[str, float | None]) -> str:
    if bidder not in rates:
        return NO_PERSONA
    return "no item that matches its persona was offered" if rates[bidder] is None else ""


@metric(
    "whether an item matches a bidder's personas, by its place",
    "share",
    "binary",
    no_data="no bidder has a persona, or the log has no item",
)
def persona_match(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure whether an item matches the personas of a bidder: 1 if it does, else 0.

    `at` is the position of the item. Bidders without a persona are left out. The value is fixed before the sale.
    Figures use it to mark the matching items.

    Source: Harbor sec. 4.1, Fig. 3.
    """
    return [
        Measurement(name, float(item in suits), bidder, at=place)
        for bidder, suits in matches(entries).items()
        for item, place in positions(entries).items()
    ]


@metric("bids on an item", "count", "skewed", no_data=_NO_ITEM)
def engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the bids of each bidder on each item whose bidding is over; an item without a bid counts 0.

    `about` is the item, and `at` its position.

    Source: Harbor sec. 4.1, Fig. 4.
    """
    bids = engagements(entries)
    return [
        Measurement(name, float(bids[bidder][item]), bidder, item, place)
        for bidder in bids
        for item, place in closed(entries).items()
    ]


@metric("bids on an item that matches a bidder's personas", "count", "skewed")
def matched_engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean number of bids on an item that matches its personas.

    The mean is over the items whose bidding is over. The metric is missing for a bidder without a persona.

    Source: Harbor sec. 4.1.
    """
    return _engagement(name, entries, matched=True)


@metric("bids on an item that does not match a bidder's personas", "count", "skewed")
def unmatched_engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean number of bids on an item that matches none of its personas.

    The mean is over the items whose bidding is over. The metric is missing for a bidder without a persona.

    Source: Harbor sec. 4.1.
    """
    return _engagement(name, entries, matched=False)


def _engagement(name: str, entries: Sequence[Entry], matched: bool) -> list[Measurement]:
    suits, items, found = matches(entries), closed(entries), []
    for bidder, made in engagements(entries).items():
        if bidder not in suits:
            found.append(Measurement(name, None, bidder, missing=NO_PERSONA))
            continue
        counts = [made[item] for item in items if (item in suits[bidder]) == matched]
        why = f"no item that is over {'matches' if matched else 'does not match'} its persona"
        found.append(measured(name, fmean(counts) if counts else None, bidder, missing=why))
    return found


_NO_BIDS = "nobody has bid"

BINS = {"[0, 10)": 0, "[10, 11)": 10, "[11, 20)": 11, "[20, 50)": 20, "[50, inf)": 50}
"""Bins of bid increases, with their lower ends in percent."""


class Raise(NamedTuple):
    """A bid's increase over the highest bid before its round, or over the starting price if there was none."""

    bidder: str
    increase: Decimal


def raises(entries: Sequence[Entry]) -> list[Raise]:
    """List the bids, each with its increase over the price at which its bidder was asked.

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
    """Measure the corrected failure rate of each bidder's bids, a share: F / (C + F).

    F is the number of refused bids; each attempt counts. C is the number of decisions that were accepted: bids and
    withdrawals. A refused bidder is asked again, so C hardly depends on F. If the auctioneer enters a withdrawal,
    because a bidder lacks money, a legal bid or a reply, this is not a decision. For a bidder that sets limits, each
    limit is one decision; the house makes the bids that follow from it.

    Source: Chen et al. 2023, sec. 4.1.
    """
    return _failure_rate(name, entries, Counter())


@metric("corrected failure rate of bids, forced withdrawals counted as answers", "share", "skewed", better="lower")
def failed_bid_rate_forced(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the failure rate of bids as the code of the source computes it, a share: F / (C + F).

    F and C are as in `failed_bid_rate`, but C also counts each withdrawal that the auctioneer entered without a call,
    because the bidder could not afford the next bid. So this rate is never above `failed_bid_rate`.

    Source: Chen et al. 2023, their code.
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
    """Measure the increase of each bid over the highest bid of earlier rounds, a ratio (0.1: a tenth more).

    Each bid gives one value. A first bid is compared with the starting price.

    Source: Chen et al. 2023, later version, sec. 4.3.
    """
    return [Measurement(name, float(one.increase), one.bidder) for one in raises(entries)]


@metric("bids whose increase is within a bin", "share", "skewed", no_data=_NO_BIDS, public=True)
def bid_increase_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the share of each bidder's bids whose increase is in each bin.

    `about` is the bin in percent, such as "[0, 10)". The increase of a bid is that of the metric `bid_increase`. The
    source has five bins and names the ends 0, 10, 11 and infinity; 20 and 50 are ours. The first bin contains first
    bids, which need not exceed the starting price. It also contains later bids that raise by the minimum, because the
    minimum is a tenth of the starting price and not of the bid before.

    Source: Chen et al. 2023, later version, sec. 4.3, Fig. 5.
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
