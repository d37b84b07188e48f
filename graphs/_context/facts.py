"""Facts for prompts, taken from a notebook."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from harbor._config.auction import MindSettings
from harbor._core.asks import Ask
from harbor._core.events import Lot
from harbor._core.money import to_cents
from harbor._core.thoughts import Belief
from harbor.memory._bidder.auction_view import AuctionView

Row = dict[str, Any]


def items(view: AuctionView, lots: tuple[Lot, ...], listings: bool) -> list[Row]:
    """List items with their own estimates, with priorities where there is a plan, and with listings if asked."""
    rows = []
    for lot in lots:
        row: Row = {"item": lot.name, "start": lot.start, "estimate": view.estimates[lot.name]}
        if lot.name in view.priorities:
            row["priority"] = view.priorities[lot.name]
        if listings and lot.listing:
            row["listing"] = lot.listing
        rows.append(row)
    return rows


def mean_estimate(view: AuctionView) -> Decimal:
    """Give the mean of all own estimates in dollars."""
    return to_cents(sum(view.estimates.values(), Decimal(0)) / len(view.estimates))


def held(view: AuctionView, switches: MindSettings) -> Belief:
    """Give the belief in force: the truth where beliefs are corrected, else what was said last."""
    return view.truth() if switches.correct_beliefs else view.belief or view.truth()


def belief(held: Belief) -> Row:
    """Write a belief in the short form of the prompts."""
    wins = [[bidder, win.item, win.price] for bidder, won in held.wins.items() for win in won]
    return {"budget": held.budget, "profits": held.profits, "wins": wins}


def call(ask: Ask, view: AuctionView) -> Row:
    """Give what a decision needs: the call, the bids so far, this item in full and the later ones in brief."""
    here, *later = view.coming
    known: Row = {
        "budget": ask.maximum,
        "gone": len(view.results),
        "least": ask.minimum,
        "mean_estimate": mean_estimate(view),
        "plan": view.plan,
        "items": [*items(view, (here,), listings=True), *items(view, tuple(later), listings=False)],
        "bids": view.bidding.bids if view.bidding else (),
    }
    if ask.refusal:
        known["refused"] = ask.refusal
    if view.predictions:
        known["rivals"] = _expected(view)
    return known


def _expected(view: AuctionView) -> list[Row]:
    """List what is expected of each rival on this item, who leads, who is out, and how each sees oneself."""
    bidding = view.bidding
    out = {bidder for bidder, _, _ in bidding.withdrawn} if bidding else set()
    rows = []
    for expected in view.predictions:
        row: Row = {
            "rival": expected.rival,
            "interest": expected.interest,
            "limit": expected.limit,
            "leads": bidding is not None and bidding.leader == expected.rival,
            "out": expected.rival in out,
        }
        if expected.expects_me is not None:
            row["expects_me"] = expected.expects_me
        rows.append(row)
    return rows


def bidding_record(view: AuctionView, item: str, bidder: str) -> Row:
    """Tell how a bidder bid on an item that has gone: how often, how high, when it gave up."""
    result = view.result(item)
    lot = view.lot(item)
    bidding = result.bidding
    bids = [[turn, amount] for turn, name, amount in (bidding.bids if bidding else ()) if name == bidder]
    gave_up = {name: least for name, least, reason in (bidding.withdrawn if bidding else ()) if reason == "declined"}
    return {
        "bidder": bidder,
        "item": {"item": item, "start": lot.start, "estimate": view.estimates[item], "listing": lot.listing},
        "bids": bids,
        "gave_up_at": gave_up.get(bidder),
        "won": result.winner == bidder,
    }


def results(view: AuctionView) -> list[Row]:
    """List how the items went, how far one went oneself, and the least bid that would have won."""
    rows = []
    for result in view.results:
        bids = result.bidding.bids if result.bidding else ()
        raise_by = result.bidding.increment if result.bidding and result.winner != view.name else Decimal(0)
        rows.append(
            {
                "item": result.item,
                "start": view.lot(result.item).start,
                "estimate": view.estimates[result.item],
                "winner": result.winner,
                "price": result.price,
                "to_win": None if result.price is None else result.price + raise_by,
                "true_value": result.true_value,
                "mine": max((amount for _, bidder, amount in bids if bidder == view.name), default=None),
            }
        )
    return rows


def rivals(view: AuctionView) -> Row:
    """Tell what there is to know of the rivals, and what one has spent oneself.

    Of each: its profile as far as there is one, what it has spent, and how it probably sees oneself.
    """
    rows = []
    for rival in view.rivals:
        row: Row = {"rival": rival, "profile": view.profiles.get(rival, {}), "spent": view.spent(rival)}
        if rival in view.mirrors:
            row["sees_me_as"] = view.mirrors[rival]
        rows.append(row)
    return {"purse": view.initial_budget, "spent": view.spent(view.name), "rivals": rows}
