"""Metrics of bidders' acts: prices, legality, raises, and the bids on matching items and the wins of them.

An item matches a bidder if it was written for one of the bidder's personas.

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
    """A legal bid of a bidder on an item in a round.

    `amount` is in dollars. In a game in which players pick numbers, it is the number that the bidder picked.
    """

    bidder: str
    item: str
    round: int
    amount: Decimal


def acts(entries: Sequence[Entry]) -> Sequence[Acted | ActedSealed]:
    """List the legal acts, in the order of the log.

    In a game with sealed acts, a public log has only the acts that the rules disclosed.
    """
    return of_type(entries, ActedSealed) or of_type(entries, Acted)


def bids(entries: Sequence[Entry]) -> Iterator[MadeBid]:
    """Yield the legal bids that name an amount, in the order of the log."""
    for one in acts(entries):
        if isinstance(one.act, Bid):
            yield MadeBid(one.bidder, one.item, one.round, one.act.amount)


NO_PRICE = "nothing was sold as one unit to one bidder for money"


@metric("price", "dollars", "skewed", of=LotClosed, place="item or run", least=0, no_data=NO_PRICE)
def prices(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the price paid for each item or run, and the highest bid on it, in dollars.

    `at` is the position of the item or run. `about` is "price" or "highest bid". The highest bids are left out if each
    of them equals the price. An item that was unsold, was free, or was sold in several units has no measurement.

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
    """Measure the share of each bidder's attempts to answer that were legal.

    A withdrawal that the bidder chose is legal. A withdrawal that the house entered is not counted.

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
        """Matching items won divided by matching items offered; None if no matching item was offered."""
        return self.won / self.offered if self.offered else None


def acquisitions(entries: Sequence[Entry]) -> list[Acquisition]:
    """Count, for each bidder with a persona, the matching items that it won and those that were offered.

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
    """Count the bids of each bidder on each item; an item without a bid counts 0.

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
    """Map each bidder that has a persona to the items that match at least one of its personas."""
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
    """Measure how many of the offered items that match a bidder's personas that bidder won, as a share.

    The share is missing for a bidder without a persona, and for a bidder to whom no matching item was offered.

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
    """Measure whether an item matches a persona of each bidder that has one: 1 if it does, else 0.

    `at` is the position of the item in the order of sale. The value is known before the sale, and figures use it to
    mark the matching items.

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

    `about` is the name of the item, and `at` its position in the order of sale.

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
    """Measure the mean number of bids of each bidder on the items that match its personas.

    Only items whose bidding is over count. The mean is missing for a bidder without a persona.

    Source: Harbor sec. 4.1.
    """
    return _engagement(name, entries, matched=True)


@metric("bids on an item that does not match a bidder's personas", "count", "skewed")
def unmatched_engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the mean number of bids of each bidder on the items that match none of its personas.

    Only items whose bidding is over count. The mean is missing for a bidder without a persona.

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
    """The increase of a bid over the highest bid of earlier rounds.

    If the earlier rounds had no bid, it is the increase over the starting price. An increase of 0.1 is a tenth more.
    """

    bidder: str
    increase: Decimal


def raises(entries: Sequence[Entry]) -> list[Raise]:
    """List the increase of each bid over the price that stood when its bidder was asked.

    The bids of one round are simultaneous, so each of them is compared with the price before the round.
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

    F is the number of refused bids, each attempt counted. C is the number of accepted decisions: bids and withdrawals.
    A bidder whose bid is refused is asked again, so C hardly depends on F. A withdrawal is not a decision if the
    auctioneer entered it because the bidder lacked the money, made no legal bid or did not reply. For a bidder that
    sets limits, each limit is one more decision, because the house makes the bids that follow from the limit.

    Source: Chen et al. 2023, sec. 4.1.
    """
    return _failure_rate(name, entries, Counter())


@metric("corrected failure rate of bids, forced withdrawals counted as answers", "share", "skewed", better="lower")
def failed_bid_rate_forced(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the failure rate of each bidder's bids by the formula in the source's code, a share: F / (C + F).

    F and C are those of `failed_bid_rate`, but C also counts the items from which the auctioneer withdrew the bidder
    because the bidder could not afford them. So this rate is never above `failed_bid_rate`.

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

    Each bid gives one value. If the earlier rounds had no bid, the bid is compared with the starting price.

    Source: Chen et al. 2023, later version, sec. 4.3.
    """
    return [Measurement(name, float(one.increase), one.bidder) for one in raises(entries)]


@metric("bids whose increase is within a bin", "share", "skewed", no_data=_NO_BIDS, public=True)
def bid_increase_share(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure the share of each bidder's bids whose increase lies in each bin.

    `about` is the bin in percent, such as "[0, 10)" for increases from 0 % to less than 10 %; `BINS` lists all bins.
    The source has five bins and names the ends 0, 10, 11 and infinity; the ends 20 and 50 are Harbor's own. The first
    bin contains opening bids near the starting price, which need not exceed it. It also contains later raises by the
    minimum, because the minimum is a tenth of the starting price and not of the bid before.

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
