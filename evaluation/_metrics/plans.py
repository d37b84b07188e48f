"""Bidders' plans, and their treatment of the items to which they give a priority.

A priority is 1 (give the item up if need be), 2, or 3 (most important).

Source: Chen et al. 2023, sec. 3.2 and 4.1; Harbor sec. 3.2, 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean

from harbor._core.log.events import BidderLabelled, LotClosed, LotOpened
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.log.thoughts import Planned
from harbor._games.outcomes import outcomes, sales
from harbor.evaluation._metrics.behaviour import engagements, matches
from harbor.evaluation._metrics.measurement import Measurement, metric
from harbor.evaluation._metrics.results import closed, positions

_NO_PLANS_OF_PERSONAS = "no bidder with a persona has a plan for such an item that is over"
_NO_PLANS = "no bidder has a plan for an item that is over"
_NO_ITEM = "no item is over yet"


@dataclass(frozen=True, slots=True)
class PriorityCell:
    """The priority of `item` in a bidder's plan at the end of the bidding on an item, `during`."""

    bidder: str
    during: str
    item: str
    priority: int


def priorities(entries: Sequence[Entry]) -> list[PriorityCell]:
    """Return each bidder's priorities for the items, as its plan had them when the bidding on each item ended.

    These are the data of a heatmap of priorities; `during` is the item whose bidding ended.

    >>> events = [LotOpened("Vase"), Planned("Ann", "", {"Vase": 3}), LotClosed("Vase")]
    >>> priorities([Entry(seq, 0.0, event) for seq, event in enumerate(events)])
    [PriorityCell(bidder='Ann', during='Vase', item='Vase', priority=3)]
    """
    cells: list[PriorityCell] = []
    plans: dict[str, dict[str, int]] = {}
    during = ""

    def close() -> None:
        for bidder, plan in plans.items():
            cells.extend(PriorityCell(bidder, during, item, priority) for item, priority in plan.items())

    for entry in entries:
        match entry.event:
            case LotClosed():
                close()
            case LotOpened(item=item):
                during = item
            case Planned(bidder=bidder, priorities=plan):
                plans[bidder] = plan
    return cells


@metric("priority of an item at an item", "priority", no_data=_NO_PLANS)
def priority(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's priority for an item while the same or an earlier item is on sale.

    `at` is the position of the item on sale in the order of sale, and `about` the position of the item with the
    priority, such as "3". Items that are over do not count, because a plan that is never revised still names them.
    Positions are used instead of names so that games with different orders of sale can be averaged.

    Source: Chen et al. 2023, sec. 4.2, Fig. 4; Harbor sec. 4.1, Fig. 3.
    """
    return [
        Measurement(name, float(cell.priority), cell.bidder, str(place), now) for cell, place, now in _to_come(entries)
    ]


@metric("priority of items that match a bidder's personas", "priority", no_data=_NO_PLANS_OF_PERSONAS)
def matched_priority(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean priority for the items that match its personas, while each item is on sale.

    `at` is the position of the item on sale. The mean is over that item and the later ones. A bidder without a persona
    is left out.

    Source: Harbor sec. 4.1, Fig. 3, but for matching houses at any position in the order of sale.
    """
    return _priority(name, entries, matched=True)


@metric("priority of items that do not match a bidder's personas", "priority", no_data=_NO_PLANS_OF_PERSONAS)
def unmatched_priority(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's mean priority for the items that match none of its personas, while each item is on sale.

    `at` is the position of the item on sale. The mean is over that item and the later ones. A bidder without a persona
    is left out.

    Source: Harbor sec. 4.1, Fig. 3.
    """
    return _priority(name, entries, matched=False)


def _priority(name: str, entries: Sequence[Entry], matched: bool) -> list[Measurement]:
    suits = matches(entries)
    given: dict[tuple[str, int], list[int]] = {}
    for cell, _, now in _to_come(entries):
        if cell.bidder in suits and (cell.item in suits[cell.bidder]) == matched:
            given.setdefault((cell.bidder, now), []).append(cell.priority)
    return [Measurement(name, fmean(values), bidder, at=now) for (bidder, now), values in given.items()]


def _to_come(entries: Sequence[Entry]) -> list[tuple[PriorityCell, int, int]]:
    """Return the heatmap cells of the item on sale and of later items.

    Each cell comes with the position of its item and the position of the item on sale.
    """
    places = positions(entries)
    return [
        (cell, places[cell.item], places[cell.during])
        for cell in priorities(entries)
        if places.get(cell.item, 0) >= places[cell.during]
    ]


@metric("priority in the first plan", "priority", no_data=_NO_PLANS)
def priority_initial(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's priority r(1) for each item in the last plan that it made before the first item was over.

    `at` is the position of the item. Only items whose bidding is over count. The metrics `bids` and `won`, with which
    this one is correlated, count the same items.

    Source: Chen et al. 2023, sec. 4.1, Table 1.
    """
    before = list(takewhile(lambda entry: not isinstance(entry.event, LotClosed), entries))
    plans = {plan.bidder: plan.priorities for plan in of_type(before, Planned)}
    return [
        Measurement(name, float(plan[item]), bidder, at=place)
        for bidder, plan in plans.items()
        for item, place in closed(entries).items()
        if item in plan
    ]


@metric("priority in the plan in force", "priority", no_data=_NO_PLANS)
def priority_current(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure each bidder's priority r(j) for each item in the plan that it had while that item was on sale.

    `at` is the position of the item.

    Source: Chen et al. 2023, sec. 4.1, Table 1.
    """
    places = positions(entries)
    return [
        Measurement(name, float(cell.priority), cell.bidder, at=places[cell.item])
        for cell in priorities(entries)
        if cell.item == cell.during
    ]


@metric("bids on an item, by its place", "count", "skewed", no_data=_NO_ITEM)
def bids(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the bids n of each bidder on each item whose bidding is over; an item without a bid counts 0.

    `at` is the position of the item.

    Source: Chen et al. 2023, sec. 4.1.
    """
    counts = engagements(entries)
    return [
        Measurement(name, float(counts[bidder][item]), bidder, at=place)
        for bidder in counts
        for item, place in closed(entries).items()
    ]


@metric("whether an item was won, by its place", "share", "binary", no_data=_NO_ITEM)
def won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Measure whether a bidder won an item whose bidding is over: x is 1 if it did, else 0.

    `at` is the position of the item.

    Source: Chen et al. 2023, sec. 4.1.
    """
    sold = sales(outcomes(entries))
    return [
        Measurement(name, float(item in sold and sold[item].winner == label.bidder), label.bidder, at=place)
        for label in of_type(entries, BidderLabelled)
        for item, place in closed(entries).items()
    ]
