"""Facts for prompts, taken from a notebook."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from harbor._config.auction import Switches
from harbor._core.asks import Ask
from harbor._core.events import Lot
from harbor._core.money import to_cents
from harbor._core.thoughts import Belief
from harbor.memory._bidder.auction_view import Notebook

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


def call(ask: Ask, notebook: Notebook) -> Row:
    """Give what a decision needs: the call, the bids so far, this item in full and the later ones in brief."""
    here, *later = notebook.coming
    known: Row = {
        "budget": ask.maximum,
        "gone": len(notebook.results),
        "least": ask.minimum,
        "mean_estimate": mean_estimate(notebook),
        "plan": notebook.plan,
        "items": [*items(notebook, (here,), listings=True), *items(notebook, tuple(later), listings=False)],
        "bids": notebook.hammer.bids if notebook.hammer else (),
    }
    if ask.refusal:
        known["refused"] = ask.refusal
    if notebook.predictions:
        known["rivals"] = _expected(notebook)
    return known


def _expected(notebook: Notebook) -> list[Row]:
    """List what is expected of each rival on this item, who leads, who is out, and how each sees oneself."""
    hammer = notebook.hammer
    out = {bidder for bidder, _, _ in hammer.withdrawn} if hammer else set()
    rows = []
    for expected in notebook.predictions:
        row: Row = {
            "rival": expected.rival,
            "interest": expected.interest,
            "limit": expected.limit,
            "leads": hammer is not None and hammer.leader == expected.rival,
            "out": expected.rival in out,
        }
        if expected.expects_me is not None:
            row["expects_me"] = expected.expects_me
        rows.append(row)
    return rows


def conduct(notebook: Notebook, item: str, bidder: str) -> Row:
    """Tell how a bidder bid on an item that has gone: how often, how high, when it gave up."""
    result = notebook.result(item)
    lot = notebook.lot(item)
    hammer = result.hammer
    bids = [[turn, amount] for turn, name, amount in (hammer.bids if hammer else ()) if name == bidder]
    gave_up = {name: least for name, least, reason in (hammer.withdrawn if hammer else ()) if reason == "declined"}
    return {
        "bidder": bidder,
        "item": {"item": item, "start": lot.start, "estimate": notebook.estimates[item], "listing": lot.listing},
        "bids": bids,
        "gave_up_at": gave_up.get(bidder),
        "won": result.winner == bidder,
    }


def results(notebook: Notebook) -> list[Row]:
    """List how the items went, how far one went oneself, and the least bid that would have won."""
    rows = []
    for result in notebook.results:
        bids = result.hammer.bids if result.hammer else ()
        raise_by = result.hammer.increment if result.hammer and result.winner != notebook.name else Decimal(0)
        rows.append(
            {
                "item": result.item,
                "start": notebook.lot(result.item).start,
                "estimate": notebook.estimates[result.item],
                "winner": result.winner,
                "price": result.price,
                "to_win": None if result.price is None else result.price + raise_by,
                "true_value": result.true_value,
                "mine": max((amount for _, bidder, amount in bids if bidder == notebook.name), default=None),
            }
        )
    return rows


def rivals(notebook: Notebook) -> Row:
    """Tell what there is to know of the rivals, and what one has spent oneself.

    Of each: its profile as far as there is one, what it has spent, and how it probably sees oneself.
    """
    rows = []
    for rival in notebook.rivals:
        row: Row = {"rival": rival, "profile": notebook.profiles.get(rival, {}), "spent": notebook.spent(rival)}
        if rival in notebook.mirrors:
            row["sees_me_as"] = notebook.mirrors[rival]
        rows.append(row)
    return {"purse": notebook.purse, "spent": notebook.spent(notebook.name), "rivals": rows}
