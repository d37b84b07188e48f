"""Who won what, and what it was worth.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.events import (
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    ItemLabelled,
    ItemSold,
    ItemUnsold,
    LotClosed,
    SaleOpened,
)
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.measurement import Measurement, by_bidder, metric

_NO_ITEM = "no item is over yet"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a bidder did; amounts are dollars.

    `profit_ratio` is its profit over what all items together could have earned: the sum over all items of true value
    minus starting price (None if that sum is not positive).
    """

    bidder: str
    persona: str | None
    items_won: int
    spent: Decimal
    profit: Decimal
    profit_ratio: float | None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """How an item went: winner and price (None if unsold), how many rounds of bidding it took.

    `closed` is False if the log broke off before the item was decided.
    """

    name: str
    winner: str | None
    price: Decimal | None
    rounds: int
    closed: bool


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Rank the bidders by profit; equal profits are in seat order."""
    sold = of_type(entries, ItemSold)
    labels = of_type(entries, ItemLabelled)
    value = {label.item: label.true_value for label in labels}
    starts = {lot.name: lot.start for opened in of_type(entries, SaleOpened) for lot in opened.lots}
    possible = sum((value[name] - start for name, start in starts.items()), Decimal(0))
    rows = []
    for label in of_type(entries, BidderLabelled):
        wins = [sale for sale in sold if sale.winner == label.bidder]
        spent = sum((win.price for win in wins), Decimal(0))
        profit = sum((value[win.item] for win in wins), Decimal(0)) - spent
        ratio = float(profit / possible) if possible > 0 else None
        rows.append(Standing(label.bidder, " + ".join(label.personas) or None, len(wins), spent, profit, ratio))
    return sorted(rows, key=lambda row: -row.profit)


def items(entries: Sequence[Entry]) -> list[ItemResult]:
    """List the items in the order of the sale."""
    sold = {sale.item: sale for sale in of_type(entries, ItemSold)}
    unsold = {given_up.item for given_up in of_type(entries, ItemUnsold)}
    rounds = [asked.item for asked in of_type(entries, BiddersAsked) if asked.attempt == 1]
    return [
        ItemResult(
            name=label.item,
            winner=sold[label.item].winner if label.item in sold else None,
            price=sold[label.item].price if label.item in sold else None,
            rounds=rounds.count(label.item),
            closed=label.item in sold or label.item in unsold,
        )
        for label in of_type(entries, ItemLabelled)
    ]


def positions(entries: Sequence[Entry]) -> dict[str, int]:
    """Give the place of each item in the order of the sale, from 1."""
    lots = [lot.name for opened in of_type(entries, SaleOpened) for lot in opened.lots]
    return {item: place for place, item in enumerate(lots, start=1)}


def closed(entries: Sequence[Entry]) -> dict[str, int]:
    """Give the items that were sold or given up, with their places: those on which bidding came to its end."""
    over = {end.item for end in of_type(entries, LotClosed)}
    return {item: place for item, place in positions(entries).items() if item in over}


def ranks(rows: Sequence[Standing]) -> dict[str, int]:
    """Rank bidders by profit, 1 is the best; equal profits share the best rank."""
    return {row.bidder: 1 + sum(other.profit > row.profit for other in rows) for row in rows}


@metric("profit of a bidder", "dollars")
def profit(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Profit of each bidder, dollars: the sum over items won of true value minus price. Source: Harbor eq. 1."""
    return by_bidder(name, {row.bidder: row.profit for row in standings(entries)})


@metric("profit over what all items could have earned", "ratio")
def profit_ratio(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Profit of each bidder over what all items together could have earned, a share.

    That is the sum over all items of true value minus starting price. Source: Harbor eq. 1-3.
    """
    ratios = {row.bidder: row.profit_ratio for row in standings(entries)}
    return by_bidder(name, ratios, "all items together could have earned nothing")


@metric("items that a bidder won", "count")
def items_won(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of items that each bidder won. Source: Chen et al. 2023, sec. 4.3 (item bidders)."""
    return by_bidder(name, {row.bidder: row.items_won for row in standings(entries)})


@metric("what a bidder paid", "dollars")
def spent(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder paid: the sum of its winning bids. Source: Chen et al. 2023, sec. 3.1."""
    return by_bidder(name, {row.bidder: row.spent for row in standings(entries)})


@metric("rank by profit", "rank")
def rank(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Rank of each bidder by profit: 1 plus the number of bidders with more, so that equals share the best rank.

    Source: Chen et al. 2023, sec. 4.3 and B.3.
    """
    return by_bidder(name, ranks(standings(entries)))


@metric("budget left after an item", "dollars", no_data=_NO_ITEM)
def remaining_budget(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars that each bidder has left after each item (`at`): its budget minus its winning bids up to there.

    Source: Chen et al. 2023, B.2.
    """
    left = {seated.bidder: seated.budget for seated in of_type(entries, BidderSeated)}
    sold = {sale.item: sale for sale in of_type(entries, ItemSold)}
    found = []
    for item, place in closed(entries).items():
        if item in sold:
            left[sold[item].winner] -= sold[item].price
        found += [Measurement(name, float(dollars), bidder, at=place) for bidder, dollars in left.items()]
    return found


@metric("winning bids", "dollars", "skewed", no_data="nothing was sold")
def winning_bid(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Dollars of each winning bid, by its winner; `about` is the winner's objective, `at` the item's place.

    Source: Chen et al. 2023, sec. 4.3 (the distribution of winning bids shows the niches of objectives).
    """
    objective = {seated.bidder: seated.objective for seated in of_type(entries, BidderSeated)}
    places = positions(entries)
    return [
        Measurement(name, float(sale.price), sale.winner, objective.get(sale.winner, ""), places[sale.item])
        for sale in of_type(entries, ItemSold)
    ]
