"""Facts for prompts, taken from a notebook."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from harbor.config import Switches
from harbor.events import Belief, Lot
from harbor.memory.notebook import Notebook
from harbor.money import to_cents

Row = dict[str, Any]


def items(notebook: Notebook, lots: tuple[Lot, ...], listings: bool) -> list[Row]:
    """List items with their own estimates, with priorities where there is a plan, and with listings if asked."""
    rows = []
    for lot in lots:
        row: Row = {"item": lot.name, "start": lot.start, "estimate": notebook.estimates[lot.name]}
        if lot.name in notebook.priorities:
            row["priority"] = notebook.priorities[lot.name]
        if listings and lot.listing:
            row["listing"] = lot.listing
        rows.append(row)
    return rows


def mean_estimate(notebook: Notebook) -> Decimal:
    """Give the mean of all own estimates in dollars."""
    return to_cents(sum(notebook.estimates.values(), Decimal(0)) / len(notebook.estimates))


def held(notebook: Notebook, switches: Switches) -> Belief:
    """Give the belief in force: the truth where beliefs are corrected, else what was said last."""
    return notebook.truth() if switches.correct_beliefs else notebook.belief or notebook.truth()


def belief(held: Belief) -> Row:
    """Write a belief in the short form of the prompts."""
    wins = [[bidder, win.item, win.price] for bidder, won in held.wins.items() for win in won]
    return {"budget": held.budget, "profits": held.profits, "wins": wins}
