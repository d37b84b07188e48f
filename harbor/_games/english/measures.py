"""The measures of the ascending auction: who won what, and what it was worth.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.events import BidderLabelled, BiddersAsked, ItemLabelled, ItemSold, ItemUnsold, SaleOpened
from harbor._core.log import of_type
from harbor._core.log_lines import Entry


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


def ranks(rows: Sequence[Standing]) -> dict[str, int]:
    """Rank bidders by profit, 1 is the best; equal profits share the best rank."""
    return {row.bidder: 1 + sum(other.profit > row.profit for other in rows) for row in rows}
