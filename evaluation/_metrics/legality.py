"""How often bidders acted, and how often what they tried was legal, in any game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harbor._core.acts import Tried
from harbor._core.asks import Withdraw
from harbor._core.events import BidderLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.acts import acts
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric, shares_by_bidder


def _chosen(entries: Sequence[Entry]) -> Counter[str]:
    """Count the legal acts of each bidder; the house's are left out: it enters a withdrawal for who gave no answer."""
    stood = (one for one in acts(entries) if not isinstance(one.act, Withdraw) or one.act.reason == "declined")
    return Counter(one.bidder for one in stood)


def _failed(entries: Sequence[Entry]) -> Counter[str]:
    return Counter(event.bidder for event in of_type(entries, Tried))


def _counts(name: str, entries: Sequence[Entry], counts: Counter[str]) -> list[Measurement]:
    return by_bidder(name, {bidder: counts[bidder] for bidder in _bidders(entries)})


def _bidders(entries: Sequence[Entry]) -> Iterable[str]:
    return [label.bidder for label in of_type(entries, BidderLabelled)]


@metric("attempts that were legal", "share", "skewed", of=BidderLabelled, better="higher")
def legality(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Share of each bidder's attempts to answer that were legal, a withdrawal too. Source: Harbor's own."""
    chosen = _chosen(entries)
    tried = chosen + _failed(entries)
    return shares_by_bidder(name, chosen, {one: tried[one] for one in _bidders(entries)}, "the bidder answered no call")


@metric("attempts that failed", "count", "skewed", of=BidderLabelled, better="lower")
def failed_attempts(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of each bidder's attempts to answer that were refused. Source: Harbor's own."""
    return _counts(name, entries, _failed(entries))


@metric("legal acts of a bidder", "count", "skewed", of=BidderLabelled)
def legal_acts(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of each bidder's legal answers, withdrawals too. Source: Harbor's own."""
    return _counts(name, entries, _chosen(entries))


@metric("withdrawals that a bidder chose", "count", "skewed", of=BidderLabelled)
def withdrawals(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of times that each bidder withdrew by its own choice. Source: Harbor's own."""
    chosen = (one for one in acts(entries) if isinstance(one.act, Withdraw) and one.act.reason == "declined")
    return _counts(name, entries, Counter(one.bidder for one in chosen))
