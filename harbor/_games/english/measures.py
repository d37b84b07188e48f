"""The measures of the ascending auction: winners, prices and profits.

Source: Harbor eq. 1-3 (profit and profit ratio).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor._core.log.events import BidderLabelled, BiddersAsked, ItemLabelled, LotClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games import outcomes
from harbor._games.english.events import ItemSold, SaleOpened, ValueRevealed


@dataclass(frozen=True, slots=True)
class Standing:
    """The result of a bidder; amounts are dollars.

    `profit_ratio` is the bidder's profit divided by the possible profit from all items: the sum over all items of true
    value minus starting price. It is None if that sum is not positive. For a public log, `persona` is None, and the
    profits are None if the true values were not revealed.
    """

    bidder: str
    persona: str | None
    items_won: int
    spent: Decimal
    profit: Decimal | None
    profit_ratio: float | None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result of an item: its winner and price (None if it was not sold), and the number of rounds.

    `closed` is False if the log broke off before the item was decided.
    """

    name: str
    winner: str | None
    price: Decimal | None
    rounds: int
    closed: bool


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Rank the bidders by profit; bidders with equal profits are in seat order."""
    possible = _possible(entries)
    personas = {label.bidder: " + ".join(label.personas) or None for label in of_type(entries, BidderLabelled)}
    return [
        Standing(row.bidder, personas.get(row.bidder), row.items_won, row.spent, row.profit, _ratio(row, possible))
        for row in outcomes.standings(entries)
    ]


def _ratio(row: outcomes.TraderStanding, possible: Decimal) -> float | None:
    return None if row.profit is None or possible <= 0 else float(row.profit / possible)


def _possible(entries: Sequence[Entry]) -> Decimal:
    """Return the possible profit of all items in dollars; 0 if a true value is not known."""
    starts = {lot.name: lot.start for opened in of_type(entries, SaleOpened) for lot in opened.lots}
    value = true_values(entries)
    return sum((value[name] - start for name, start in starts.items()), Decimal(0)) if revealed(entries) else Decimal(0)


def true_values(entries: Sequence[Entry]) -> dict[str, Decimal]:
    """Return the true values in dollars by item; a public log tells only the values that were revealed."""
    known = {label.item: label.true_value for label in of_type(entries, ItemLabelled)}
    return known or {shown.item: shown.true_value for shown in of_type(entries, ValueRevealed)}


def revealed(entries: Sequence[Entry]) -> bool:
    """Return whether a log tells the true value of every item."""
    return {lot.name for opened in of_type(entries, SaleOpened) for lot in opened.lots} <= true_values(entries).keys()


def items(entries: Sequence[Entry]) -> list[ItemResult]:
    """List the results of the items, in the order of sale."""
    over = {end.item: end for end in of_type(entries, LotClosed)}
    labelled = [label.item for label in of_type(entries, ItemLabelled)]
    names = labelled or [lot.name for opened in of_type(entries, SaleOpened) for lot in opened.lots]
    rounds = Counter(asked.item for asked in of_type(entries, BiddersAsked) if asked.attempt == 1)
    found = []
    for name in names:
        end = over.get(name)
        winner, price = (end.winner, end.price) if isinstance(end, ItemSold) else (None, None)
        found.append(ItemResult(name, winner, price, rounds[name], closed=end is not None))
    return found
