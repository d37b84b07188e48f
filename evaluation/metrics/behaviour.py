"""How bidders behaved: what they won of what suits them, what they bid on, what they gave as reasons.

Source: Harbor sec. 3.1, 4.1 and 4.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor.events import BidderLabelled, BidPlaced, ItemLabelled, ItemOpened, ItemSold, ItemUnsold
from harbor.log import Entry, of_type
from harbor.thoughts import Decided, Planned, Predicted, Strategized


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
    persona = {label.item: label.persona for label in of_type(entries, ItemLabelled)}
    winner = {sold.item: sold.winner for sold in of_type(entries, ItemSold)}
    rows = []
    for label in of_type(entries, BidderLabelled):
        if label.personas:
            matched = [item for item in persona if persona[item] in label.personas]
            won = sum(winner.get(item) == label.bidder for item in matched)
            rows.append(Acquisition(label.bidder, won, len(matched)))
    return rows


def engagement(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Count the bids of each bidder on each item, zeros included."""
    bids = Counter((bid.bidder, bid.item) for bid in of_type(entries, BidPlaced))
    items = [label.item for label in of_type(entries, ItemLabelled)]
    return {
        label.bidder: {item: bids[label.bidder, item] for item in items} for label in of_type(entries, BidderLabelled)
    }


@dataclass(frozen=True, slots=True)
class PriorityCell:
    """The priority that a bidder gives an item while another one, the `during`, is under the hammer."""

    bidder: str
    during: str
    item: str
    priority: int


def priorities(entries: Sequence[Entry]) -> list[PriorityCell]:
    """Give the data of the priority heatmap: the plan in force at the last moment of each item."""
    cells: list[PriorityCell] = []
    plans: dict[str, dict[str, int]] = {}
    during = ""

    def close() -> None:
        for bidder, plan in plans.items():
            cells.extend(PriorityCell(bidder, during, item, priority) for item, priority in plan.items())

    for entry in entries:
        match entry.event:
            case ItemSold() | ItemUnsold():
                close()
            case ItemOpened(item=item):
                during = item
            case Planned(bidder=bidder, priorities=plan):
                plans[bidder] = plan
    return cells


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
    """A predicted limit beside the rival's last bid on that item, in dollars; a rival that never bid has none.

    Of a rival that `won`, the last bid is only a lower bound of its limit.
    """

    bidder: str
    rival: str
    item: str
    limit: Decimal
    last_bid: Decimal
    won: bool


def foresights(entries: Sequence[Entry]) -> list[Foresight]:
    """Set predicted limits beside last bids, wherever the rival did bid."""
    last = {(bid.bidder, bid.item): bid.amount for bid in of_type(entries, BidPlaced)}
    winners = {sold.item: sold.winner for sold in of_type(entries, ItemSold)}
    return [
        Foresight(
            predicted.bidder,
            one.rival,
            predicted.item,
            one.limit,
            last[one.rival, predicted.item],
            won=winners.get(predicted.item) == one.rival,
        )
        for predicted in of_type(entries, Predicted)
        for one in predicted.predictions
        if (one.rival, predicted.item) in last
    ]
