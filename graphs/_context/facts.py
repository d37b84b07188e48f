"""Facts for the prompts of the ascending auction, taken from what a bidder has observed."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from harbor._config.auction import MindSettings
from harbor._core.asks import Ask
from harbor._core.events import Lot
from harbor._core.money import to_cents
from harbor._core.thoughts import Belief
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.lot_bidding import Result

Row = dict[str, Any]


def items(view: AuctionView, lots: tuple[Lot, ...], listings: bool) -> list[Row]:
    """List items with own estimates, the priorities of the last plan if there is one, and listings if asked."""
    rows = []
    for lot in lots:
        row: Row = {"item": lot.name, "start": lot.start, "estimate": view.estimates[lot.name]}
        if lot.name in view.priorities:
            row["priority"] = view.priorities[lot.name]
        if listings and lot.listing:
            row["listing"] = lot.listing
        rows.append(row)
    return rows


def progress(view: AuctionView) -> Row:
    """Count the finished items, and give the mean of all own estimates in dollars."""
    mean = to_cents(sum(view.estimates.values(), Decimal(0)) / len(view.estimates))
    return {"items_finished": len(view.results), "mean_estimate": mean}


def current_belief(view: AuctionView, switches: MindSettings) -> Belief:
    """Give the belief in force: the truth if beliefs are corrected, else what the model said last."""
    return view.truth() if switches.correct_beliefs else view.belief or view.truth()


def any_affordable(view: AuctionView) -> bool:
    """Say whether any coming item is affordable; to look ahead for nothing is not worth a call."""
    return any(lot.start <= view.budget for lot in view.coming)


def belief(belief: Belief) -> Row:
    """Write a belief in the shape of the reply to `believe`."""
    return {
        "budget": belief.budget,
        "profits": [{"bidder": bidder, "profit": profit} for bidder, profit in belief.profits.items()],
        "wins": [
            {"bidder": bidder, "item": win.item, "price": win.price}
            for bidder, wins in belief.wins.items()
            for win in wins
        ],
    }


def call(ask: Ask, view: AuctionView) -> Row:
    """Give what a decision needs: the call, the bids so far, this item in full and the later ones in brief."""
    here, *later = view.coming
    known: Row = {
        "minimum": ask.minimum,
        "budget": ask.maximum,
        **progress(view),
        "items": [*items(view, (here,), listings=True), *items(view, tuple(later), listings=False)],
    }
    if view.plan:
        known["plan"] = view.plan
    if bidding := view.bidding:
        known["bids"] = bid_rows(bidding.bids)
        known["leader"] = bidding.leader
        known["withdrawn"] = list(bidding.withdrawn)
    if view.predictions:
        known["forecasts"] = _forecasts(view)
    if ask.refusal:
        known |= {"refused": ask.refusal, "attempt": ask.attempt}  # so that no two prompts of a sale are equal
    return known


def bid_rows(bids: Iterable[tuple[int, str, Decimal]]) -> list[Row]:
    """List bids, given as (round, bidder, dollars)."""
    return [{"round": turn, "bidder": bidder, "amount": amount} for turn, bidder, amount in bids]


def _forecasts(view: AuctionView) -> list[Row]:
    """List what was forecast for each rival on this item, and whether it leads or is out by now."""
    bidding = view.bidding
    rows = []
    for forecast in view.predictions:
        row: Row = {
            "rival": forecast.rival,
            "interest": forecast.interest,
            "limit": forecast.limit,
            "leads": bidding is not None and bidding.leader == forecast.rival,
            "out": bidding is not None and forecast.rival in bidding.withdrawn,
        }
        if forecast.expects_me is not None:
            row["expected_interest_of_yours"] = forecast.expects_me
        rows.append(row)
    return rows


def bidding_record(view: AuctionView, item: str, bidder: str) -> Row:
    """Tell how a bidder bid on a finished item: how often, how high, and which minimum it declined."""
    result, lot = view.result(item), view.lot(item)
    withdrawal = result.bidding.withdrawn.get(bidder) if result.bidding else None
    return {
        "bidder": bidder,
        "item": {"item": item, "start": lot.start, "estimate": view.estimates[item], "listing": lot.listing},
        "bids": [{"round": turn, "amount": amount} for turn, amount in result.bids_of(bidder)],
        "declined_at": withdrawal.minimum if withdrawal and withdrawal.reason == "declined" else None,
        "won": result.winner == bidder,
    }


def outcome(result: Result) -> Row:
    """Tell how an item went, as the auctioneer announced it."""
    return {
        "item": result.item,
        "winner": result.winner,
        "price": result.price,
        "true_value": result.true_value,
    }


def results(view: AuctionView) -> list[Row]:
    """List how the items went, one's own highest bid, and the lowest bid that would have won."""
    rows = []
    for result in view.results:
        step = result.bidding.increment if result.bidding and result.winner != view.name else Decimal(0)
        rows.append(
            {
                **outcome(result),
                "start": view.lot(result.item).start,
                "estimate": view.estimates[result.item],
                "your_highest_bid": result.highest_bid(view.name),
                "lowest_winning_bid": None if result.price is None else result.price + step,
            }
        )
    return rows


def rivals(view: AuctionView) -> Row:
    """Tell what is known of each rival: its profile, what it has spent, and how it probably profiles oneself."""
    rows = []
    for rival in view.rivals:
        row: Row = {"rival": rival, "profile": view.profiles.get(rival, {}), "spent": view.spent(rival)}
        if rival in view.mirrors:
            row["profile_of_you"] = view.mirrors[rival]
        rows.append(row)
    return {"initial_budget": view.initial_budget, "rivals": rows}
