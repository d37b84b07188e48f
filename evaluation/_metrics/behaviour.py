"""How bidders behaved: what they won of the items that match them, and what they bid on.

Source: Harbor sec. 3.1 and 4.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harbor._core.events import BidderLabelled, ItemLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.outcomes import outcomes, sales
from harbor.evaluation._metrics.acts import bids
from harbor.evaluation._metrics.measurement import Measurement, measured, metric
from harbor.evaluation._metrics.results import closed, positions

_NO_ITEM = "no item is over yet"

NO_PERSONA = "the bidder has no persona"


@dataclass(frozen=True, slots=True)
class Acquisition:
    """How many of the items that match a bidder's personas it won; `rate` is None where none was offered."""

    bidder: str
    won: int
    offered: int

    @property
    def rate(self) -> float | None:
        """Matched items won over matched items offered."""
        return self.won / self.offered if self.offered else None


def acquisitions(entries: Sequence[Entry]) -> list[Acquisition]:
    """Count matched items won and offered, for every bidder with a persona."""
    sold = sales(outcomes(entries))
    return [
        Acquisition(bidder, sum(item in sold and sold[item].winner == bidder for item in matched), len(matched))
        for bidder, matched in matches(entries).items()
    ]


def engagements(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Count the bids of each bidder on each item, zeros included."""
    made = Counter((bid.bidder, bid.item) for bid in bids(entries))
    items = [label.item for label in of_type(entries, ItemLabelled)]
    return {
        label.bidder: {item: made[label.bidder, item] for item in items} for label in of_type(entries, BidderLabelled)
    }


def matches(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Give the items that match the personas of each bidder that has any."""
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
    """Share of the items matching its personas that each bidder won, of all that were offered. Source: Harbor eq. 4."""
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
    """Whether the item at place `at` matches the personas of each bidder that has any: 1 or 0.

    It is fixed before the sale. Figures mark matched items by it. Source: Harbor sec. 4.1, Fig. 3.
    """
    return [
        Measurement(name, float(item in suits), bidder, at=place)
        for bidder, suits in matches(entries).items()
        for item, place in positions(entries).items()
    ]


@metric("bids on an item", "count", "skewed", no_data=_NO_ITEM)
def engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of bids of each bidder on each item (`about`, at its place) that was closed, zeros included.

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
    """Mean number of bids of each bidder on the closed items that match its personas. Source: Harbor sec. 4.1."""
    return _engagement(name, entries, matched=True)


@metric("bids on an item that does not match a bidder's personas", "count", "skewed")
def unmatched_engagement(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Mean number of bids of each bidder on the closed items that do not match its personas. Source: Harbor sec. 4.1.

    A bidder without a persona has none, as no item matches it more than another.
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
