"""The measures of the ascending auction: who won what, and what it was worth.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.events import (
    BidderLabelled,
    BiddersAsked,
    ItemLabelled,
    ItemSold,
    ItemUnsold,
    SaleOpened,
    ValueRevealed,
)
from harbor._core.log import of_type
from harbor._core.log_lines import Entry


@dataclass(frozen=True, slots=True)
class Standing:
    """How a bidder did; amounts are dollars.

    `profit_ratio` is its profit over what all items together could have earned: the sum over all items of true value
    minus starting price (None if that sum is not positive). Of a public log personas are unknown, and profits too where
    true values were not revealed.
    """

    bidder: str
    persona: str | None
    items_won: int
    spent: Decimal
    profit: Decimal | None
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
    value = true_values(entries)
    rows = []
    for bidder, persona in seats(entries).items():
        wins = [sale for sale in sold if sale.winner == bidder]
        spent = sum((win.price for win in wins), Decimal(0))
        known = all(win.item in value for win in wins)
        profit = sum((value[win.item] for win in wins), Decimal(0)) - spent if known else None
        rows.append(Standing(bidder, persona, len(wins), spent, profit, _ratio(profit, value, entries)))
    return sorted(rows, key=lambda row: -(row.profit or 0))


def _ratio(profit: Decimal | None, value: Mapping[str, Decimal], entries: Sequence[Entry]) -> float | None:
    """Give a profit over what all items together could have earned; None where that is not positive, or unknown."""
    starts = {lot.name: lot.start for opened in of_type(entries, SaleOpened) for lot in opened.lots}
    if profit is None or not starts.keys() <= value.keys():
        return None
    possible = sum((value[name] - start for name, start in starts.items()), Decimal(0))
    return float(profit / possible) if possible > 0 else None


def seats(entries: Sequence[Entry]) -> dict[str, str | None]:
    """Give the bidders in seat order with their personas; of a public log, as its opening names them."""
    labelled = {label.bidder: " + ".join(label.personas) or None for label in of_type(entries, BidderLabelled)}
    return labelled or {bidder: None for opened in of_type(entries, SaleOpened) for bidder in opened.bidders}


def true_values(entries: Sequence[Entry]) -> dict[str, Decimal]:
    """Give the true value of each item in dollars; of a public log, of those whose value was revealed."""
    known = {label.item: label.true_value for label in of_type(entries, ItemLabelled)}
    return known or {shown.item: shown.true_value for shown in of_type(entries, ValueRevealed)}


def revealed(entries: Sequence[Entry]) -> bool:
    """Tell whether the true value of every item is known from a log."""
    return {lot.name for opened in of_type(entries, SaleOpened) for lot in opened.lots} <= true_values(entries).keys()


def items(entries: Sequence[Entry]) -> list[ItemResult]:
    """List the items in the order of the sale."""
    sold = {sale.item: sale for sale in of_type(entries, ItemSold)}
    unsold = {given_up.item for given_up in of_type(entries, ItemUnsold)}
    labelled = [label.item for label in of_type(entries, ItemLabelled)]
    names = labelled or [lot.name for opened in of_type(entries, SaleOpened) for lot in opened.lots]
    rounds = [asked.item for asked in of_type(entries, BiddersAsked) if asked.attempt == 1]
    return [
        ItemResult(
            name=name,
            winner=sold[name].winner if name in sold else None,
            price=sold[name].price if name in sold else None,
            rounds=rounds.count(name),
            closed=name in sold or name in unsold,
        )
        for name in names
    ]


def ranks(rows: Sequence[Standing]) -> dict[str, int]:
    """Rank bidders by profit, 1 is the best; equal profits share the best rank. Empty if a profit is not known."""
    profits = {row.bidder: row.profit for row in rows if row.profit is not None}
    if len(profits) < len(rows):
        return {}
    return {bidder: 1 + sum(other > mine for other in profits.values()) for bidder, mine in profits.items()}
