"""Facts for the prompts of the ascending auction, taken from what a bidder has observed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from harbor._config.auction import MindSettings
from harbor._core.asks import Ask
from harbor._core.dialogue import Turn
from harbor._core.events import Lot
from harbor._core.money import to_cents
from harbor._core.telling import as_json
from harbor._core.thoughts import Belief
from harbor.graphs._context.answering import answered, chosen, in_words, refusal
from harbor.graphs._context.known_values import true_per_estimate
from harbor.memory._bidder.auction_view import AuctionView
from harbor.memory._bidder.lot_bidding import LotBidding, Result

Row = dict[str, Any]
SHOWN = 20
"""How many coming items, and how many of the last ones, a prompt lists; the others are summed up.

So a prompt of a long sale costs no more than one of this length. No sale of Harbor's own designs is longer.
"""


def coming(view: AuctionView, listings: int = SHOWN) -> Row:
    """List the next items, the first of them with their listings, and sum up those after them."""
    known: Row = {**true_per_estimate(view), "items": _items(view, view.coming[:SHOWN], listings)}
    if later := view.coming[SHOWN:]:
        known["later_items"] = _summary(view, later)
    return known


def _summary(view: AuctionView, lots: tuple[Lot, ...]) -> Row:
    start = sum((lot.start for lot in lots), Decimal(0))
    estimate = sum((view.estimates[lot.name] for lot in lots), Decimal(0))
    return {
        "number": len(lots),
        "start_total": start,
        "start_mean": to_cents(start / len(lots)),
        "estimate_total": estimate,
        "estimate_mean": to_cents(estimate / len(lots)),
    }


def _items(view: AuctionView, lots: tuple[Lot, ...], listings: int) -> list[Row]:
    """List items with own estimates, and the priorities of the last plan if there is one."""
    rows = []
    for number, lot in enumerate(lots):
        row: Row = {"item": lot.name, "start": lot.start, "estimate": view.estimates[lot.name]}
        if lot.name in view.priorities:
            row["priority"] = view.priorities[lot.name]
        if number < listings and lot.listing:
            row["listing"] = lot.listing
        rows.append(row)
    return rows


def progress(view: AuctionView) -> Row:
    """Count the finished items, and give the mean of all own estimates in dollars."""
    mean = to_cents(sum(view.estimates.values(), Decimal(0)) / len(view.estimates))
    return {"items_finished": len(view.results), "mean_estimate": mean}


def current_belief(view: AuctionView, switches: MindSettings) -> Belief:
    """Give the belief in force: the truth if beliefs are corrected, else what the model said last."""
    return view.truth() if switches.correct_beliefs == "house" else view.belief or view.truth()


def any_affordable(view: AuctionView) -> bool:
    """Say whether any coming item is affordable; to look ahead for nothing is not worth a call."""
    return any(lot.start <= view.budget for lot in view.coming)


def long_over(results: Iterable[Result]) -> set[str]:
    """Name the items of these results that prompts no longer list."""
    return {result.item for result in tuple(results)[:-SHOWN]}


def belief(belief: Belief, earlier: Collection[str] = ()) -> Row:
    """Write a belief in the shape of the reply to `believe`, and sum up the wins of `earlier` items."""
    known: Row = {
        "budget": belief.budget,
        "profits": [{"bidder": bidder, "profit": profit} for bidder, profit in belief.profits.items()],
        "wins": [
            {"bidder": bidder, "item": win.item, "price": win.price}
            for bidder, wins in belief.wins.items()
            for win in wins
            if win.item not in earlier
        ],
    }
    if earlier:
        paid = {bidder: [win.price for win in wins if win.item in earlier] for bidder, wins in belief.wins.items()}
        known["earlier_wins"] = [
            {"bidder": bidder, "number": len(prices), "paid": sum(prices)} for bidder, prices in paid.items() if prices
        ]
    return known


def call(ask: Ask, view: AuctionView, mind: MindSettings, earlier: Sequence[Turn] | None = None) -> Row:
    """Give what a decision needs: this item in full and the next ones in brief, the bids so far, and the call.

    What stays the same from call to call comes first. What an `earlier` turn planned is not told again.
    """
    plan: Row = {"plan": view.plan} if view.plan and earlier is None else {}
    view = view if earlier is None else replace(view, priorities={})
    standing = _standing(view, ask.minimum, ask.maximum, mind)
    return {**plan, **standing, **in_words(ask, mind), **refusal(ask.refusal, ask.attempt)}


def turns(ask: Ask, view: AuctionView, mind: MindSettings) -> list[Turn] | None:
    """Give the earlier calls on this item with what was answered; None for a bidder that is in no dialogue."""
    if mind.context == "fresh":
        return None
    before, view = [_planned(view, mind)] if view.plan else [], replace(view, priorities={})
    for bidding, strategy, decided, refused in view.bidding.spoken if view.bidding else ():
        known = _standing(replace(view, bidding=bidding), bidding.minimum, view.budget, mind) | in_words(ask, mind)
        known |= refusal(refused, decided.attempt) | (chosen(strategy) if mind.strategy == "on" else {})
        before.append(Turn(known, answered(ask.space, decided, mind, strategy)))
    return before


def _planned(view: AuctionView, mind: MindSettings) -> Turn:
    """Give the plan as a turn of its own: what is for sale, with what money, and what was planned."""
    priorities = [{"item": item, "priority": priority} for item, priority in view.priorities.items()]
    answer = as_json({"plan": view.plan, "priorities": priorities})
    return Turn({**money(view, mind), **coming(replace(view, priorities={}), listings=1)}, answer, task="plan")


def _standing(view: AuctionView, minimum: Decimal, budget: Decimal, mind: MindSettings) -> Row:
    """Tell how it stands at a call, with the bounds of a bid or with what they follow from."""
    known: Row = {**coming(view, listings=1), **progress(view)}
    if view.predictions:
        known["forecasts"] = _forecasts(view)
    bidding = view.bidding
    known |= _bounds(view, bidding) if bidding and mind.bounds == "untold" else {"budget": budget, "minimum": minimum}
    if bidding:
        known["bids"] = bid_rows(bidding.bids)
        known["leader"] = bidding.leader
        known["withdrawn"] = list(bidding.withdrawn)
    return known


def _bounds(view: AuctionView, bidding: LotBidding) -> Row:
    """Tell what the bounds of a bid can be worked out from."""
    return {
        **_money(view),
        "starting_price": bidding.start,
        "increment": bidding.increment,
        "highest_bid": bidding.price,
    }


def money(view: AuctionView, mind: MindSettings) -> Row:
    """Tell the money left, or what it can be worked out from."""
    return {"budget": view.budget} if mind.bounds == "told" else _money(view)


def _money(view: AuctionView) -> Row:
    """Tell what the money left can be worked out from."""
    wins = [{"item": win.item, "price": win.price} for win in view.wins(view.name)]
    return {"initial_budget": view.initial_budget, "your_wins": wins}


def bid_rows(bids: Iterable[tuple[int, str, Decimal]]) -> list[Row]:
    """List bids, given as (round, bidder, dollars)."""
    return [{"round": turn, "bidder": bidder, "amount": amount} for turn, bidder, amount in bids]


def _forecasts(view: AuctionView) -> list[Row]:
    """List what was forecast for each rival on this item."""
    rows = []
    for forecast in view.predictions:
        row: Row = {"rival": forecast.rival, "interest": forecast.interest, "limit": forecast.limit}
        if forecast.expects_me is not None:
            row["expected_interest_of_yours"] = forecast.expects_me
        rows.append(row)
    return rows


def bidding_record(view: AuctionView, item: str, bidder: str) -> Row:
    """Tell how a bidder bid on a finished item, beside the others' bids, and which minimum it declined."""
    result, lot = view.result(item), view.lot(item)
    withdrawal = result.bidding.withdrawn.get(bidder) if result.bidding else None
    return {
        "bidder": bidder,
        **true_per_estimate(view, before=item),
        "item": {"item": item, "start": lot.start, "estimate": view.estimates[item], "listing": lot.listing},
        "bids": bid_rows(result.bidding.bids) if result.bidding else [],
        "declined_at": withdrawal.minimum if withdrawal and withdrawal.reason == "declined" else None,
        "won": result.winner == bidder,
    }


def history(result: Result) -> Row:
    """Tell how the bidding on an item went: all bids, and who withdrew."""
    bids, withdrawn = (result.bidding.bids, result.bidding.withdrawn) if result.bidding else ((), ())
    return {"item": result.item, "bids": bid_rows(bids), "withdrawn": list(withdrawn)}


def outcome(result: Result) -> Row:
    """Tell how an item went, as the auctioneer announced it."""
    return {"item": result.item, "winner": result.winner, "price": result.price, "true_value": result.true_value}


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
    rows = [{**row, "spent": view.spent(row["rival"])} for row in _profiled(view)]
    return {"initial_budget": view.initial_budget, "rivals": rows}


def profiles(view: AuctionView) -> Row:
    """Tell the profiles of the rivals once there is one, and nothing that a bidder without them is not told too."""
    return {"rivals": _profiled(view)} if view.profiles else {}


def _profiled(view: AuctionView) -> list[Row]:
    """List for each rival its profile, and how it probably profiles oneself."""
    rows = []
    for rival in view.rivals:
        row: Row = {"rival": rival, "profile": view.profiles.get(rival, {})}
        if rival in view.mirrors:
            row["profile_of_you"] = view.mirrors[rival]
        rows.append(row)
    return rows
