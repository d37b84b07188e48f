"""Facts put a bidder's observations into the prompts of the ascending auction: one function per thought.

The bidding for an item is a fold over its events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import takewhile
from typing import Any, NamedTuple, cast

from harbor._core.asking.asks import Ask, Bid, Pause, Withdraw
from harbor._core.basics.numbers import to_cents
from harbor._core.log.acts import Acted, Tried
from harbor._core.log.events import BidderWithdrew, Event, Lot
from harbor._core.log.thoughts import Belief, Decided, LimitSet, Strategized
from harbor._core.prompts.prompts import Turn, as_json
from harbor._games.bidder_view import Part, View
from harbor._games.english.events import ItemOpened, PriceLowered, RoundClosed
from harbor._games.outcomes import revealed, truth_per_estimate
from harbor._games.replies import Row, answered, chosen, forecasts, in_words, profiled, refusal, strategy_note


class Withdrawal(NamedTuple):
    """A withdrawal from an item: the minimum bid in dollars when the bidder withdrew, and the reason."""

    minimum: Decimal
    reason: str


class Spoken(NamedTuple):
    """A decision of the bidder on the item, with the state of the bidding and the strategic action before it.

    `refused` is the reason why the bidder's attempt before this decision failed; empty if no attempt failed.
    """

    bidding: LotBidding
    strategy: Strategized | None
    decided: Decided
    refused: str = ""


@dataclass(frozen=True, slots=True)
class LotBidding:
    """The bidding for an item, from the view of one bidder.

    `bids` are (round, bidder, dollars). `leader` made the highest bid, and `price` is that bid. `withdrawn` has the
    withdrawals by bidder. The other fields are about the bidder whose view this is: `reasons` are those of its last
    decision on the item, `strategy` is its last strategic action, `limit` the limit that it set at this starting price,
    and `spoken` its decisions on the item. `refused` is the reason why its last attempt to answer failed, until it
    decides again.
    """

    start: Decimal
    increment: Decimal
    bids: tuple[tuple[int, str, Decimal], ...] = ()
    leader: str | None = None
    price: Decimal | None = None
    withdrawn: Mapping[str, Withdrawal] = field(default_factory=dict)
    reasons: str = ""
    strategy: Strategized | None = None
    limit: LimitSet | None = None
    spoken: tuple[Spoken, ...] = ()
    refused: str = ""

    @property
    def minimum(self) -> Decimal:
        """The least legal bid in dollars."""
        return self.start if self.price is None else self.price + self.increment


def bidding_on(part: Part | None) -> LotBidding | None:
    """Return the current or final bidding for an item; None if the item was not opened."""
    return bidding_of(part.events) if part is not None else None


def bidding_of(events: Iterable[Event]) -> LotBidding | None:
    """Return the bidding after the events about one item; None if the item was not opened."""
    told: Fields = {}
    for event in events:
        if isinstance(event, ItemOpened | PriceLowered):
            told = {"start": event.start, "increment": event.increment, "spoken": told.get("spoken", ())}
        elif told and (change := CHANGES.get(type(event))):
            told |= change(told, event)
    return LotBidding(**told) if told else None


Fields = dict[str, Any]
"""Known fields of a bidding. A `LotBidding` for each event would cost more time than the rest of the fold."""


def _acted(told: Fields, event: Acted) -> Fields:
    if isinstance(event.act, Withdraw):
        return _out(told, event.bidder, event.act.reason)
    if not isinstance(event.act, Bid):
        return {}
    return {"bids": (*told.get("bids", ()), (event.round, event.bidder, event.act.amount))}


def _out(told: Fields, bidder: str, reason: str) -> Fields:
    return {"withdrawn": {**told.get("withdrawn", {}), bidder: Withdrawal(LotBidding(**told).minimum, reason)}}


def _decided(told: Fields, event: Decided) -> Fields:
    bidding = LotBidding(**told | {"spoken": ()})
    spoken = Spoken(bidding, bidding.strategy, event, bidding.refused)
    return {"reasons": event.reasons, "spoken": (*told["spoken"], spoken), "refused": ""}


CHANGES: Mapping[type[Event], Callable[[Fields, Any], Fields]] = {
    Acted: _acted,
    BidderWithdrew: lambda told, event: _out(told, event.bidder, event.reason),
    RoundClosed: lambda _, event: {"leader": event.leader, "price": event.price},
    Strategized: lambda _, event: {"strategy": event},
    Decided: _decided,
    Tried: lambda _, event: {"refused": event.reason},
    LimitSet: lambda _, event: {"reasons": event.reasons, "limit": event},
}
"""The fields that an event changes, by its type."""


SHOWN = 20
"""Number of coming items, and of past items, that a prompt lists; the others are summed up.

So a prompt of a long sale costs no more than a prompt of a sale of this length. No sale of Harbor's designs is longer.
"""


def coming(view: View, listings: int = SHOWN) -> Row:
    """Return the next items, the first `listings` of them with listings, and a summary of those after them."""
    known: Row = {**true_per_estimate(view), "items": _items(view, view.coming[:SHOWN], listings)}
    if later := view.coming[SHOWN:]:
        known["later_items"] = summary(view, later)
    return known


def summary(view: View, lots: Sequence[Lot]) -> Row:
    """Return a summary of items that a prompt does not list: their number, and totals and means in dollars."""
    start = sum((lot.start for lot in lots), Decimal(0))
    estimate = sum((view.estimates[lot.name] for lot in lots), Decimal(0))
    return {
        "number": len(lots),
        "start_total": start,
        "start_mean": to_cents(start / len(lots)),
        "estimate_total": estimate,
        "estimate_mean": to_cents(estimate / len(lots)),
    }


def _items(view: View, lots: tuple[Lot, ...], listings: int) -> list[Row]:
    """Return items with the bidder's estimates, and with the priorities in its plan if it has one."""
    rows = []
    for number, lot in enumerate(lots):
        row: Row = {"item": lot.name, "start": lot.start, "estimate": view.estimates[lot.name]}
        if lot.name in view.priorities:
            row["priority"] = view.priorities[lot.name]
        if number < listings and lot.listing:
            row["listing"] = lot.listing
        rows.append(row)
    return rows


def progress(view: View) -> Row:
    """Return the number of finished items and the mean of all own estimates in dollars."""
    mean = to_cents(sum(view.estimates.values(), Decimal(0)) / len(view.estimates))
    return {"items_finished": len(view.results), "mean_estimate": mean}


def current_belief(view: View) -> Belief:
    """Return the belief in force: the truth if beliefs are corrected, else the model's last belief."""
    said = view.notes.get("believe")
    held: Belief = said.held if said and view.mind.correct_beliefs != "house" else view.truth()
    return held


def any_affordable(view: View) -> bool:
    """Return whether the bidder can afford any coming item; if not, a thought about later items is not worth a call."""
    return any(lot.start <= view.budget for lot in view.coming)


def worth_predicting(view: View) -> bool:
    """Return whether there are rivals to forecast, and, after an item, also an affordable item."""
    opening = isinstance(view.now, Pause) and not view.now.closed
    return bool(view.rivals) and (opening or any_affordable(view))


def long_over(results: Iterable[Part]) -> set[str]:
    """Return the items of these results that prompts no longer list."""
    return {result.item for result in tuple(results)[:-SHOWN]}


def belief(belief: Belief, earlier: Collection[str] = ()) -> Row:
    """Return a belief in the form of a model's reply to `believe`; the wins of `earlier` items are summed up."""
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


def call(view: View, *, in_turns: bool = False) -> Row:
    """Return the facts for a decision: this item in full, the next ones in brief, the bids so far, and the call.

    Facts that stay the same from call to call come first. A thought with its calls `in_turns` is not told again the
    plan of an earlier turn of the dialogue.
    """
    ask, mind, bidding = cast(Ask, view.now), view.mind, bidding_on(view.part)
    again = in_turns and mind.context == "dialogue"
    plan: Row = {"plan": view.plan} if view.plan and not again else {}
    view = without_priorities(view) if again else view
    standing = _standing(view, bidding, ask.minimum, ask.maximum)
    return {**plan, **standing, **in_words(ask, mind), **refusal(ask.refusal, ask.attempt)}


def turns(view: View) -> list[Turn] | None:
    """Return the earlier calls on this item with their answers; None if the bidder's calls are no dialogue."""
    mind, ask = view.mind, cast(Ask, view.now)
    if mind.context == "fresh":
        return None
    now = bidding_on(view.part)
    before, view = [_planned(view)] if view.plan else [], without_priorities(view)
    for bidding, strategy, decided, refused in now.spoken if now else ():
        known = _standing(view, bidding, bidding.minimum, view.budget) | in_words(ask, mind)
        known |= refusal(refused, decided.attempt) | (
            chosen(strategy_note(strategy)) if strategy and mind.strategy == "on" else {}
        )
        before.append(Turn(known, answered(ask.space, decided, mind, strategy)))
    return before


def without_priorities(view: View) -> View:
    """Return the view without the priorities of its plan."""
    plan = view.notes.get("plan")
    return replace(view, notes={**view.notes, "plan": replace(plan, priorities={})}) if plan else view


def _planned(view: View) -> Turn:
    """Return the plan as a turn of its own: money and items as facts, and the plan as answer."""
    priorities = [{"item": item, "priority": priority} for item, priority in view.priorities.items()]
    answer = as_json({"plan": view.plan, "priorities": priorities})
    return Turn({**money(view), **coming(without_priorities(view), listings=1)}, answer, task="plan")


def _standing(view: View, bidding: LotBidding | None, minimum: Decimal, budget: Decimal) -> Row:
    """Return the state at a call, with the bounds of a bid or with the facts that they follow from."""
    known: Row = {**coming(view, listings=1), **progress(view)}
    if expected := forecasts(view):
        known["forecasts"] = expected
    untold = bidding if view.mind.bounds == "untold" else None
    known |= _bounds(view, untold) if untold else {"budget": budget, "minimum": minimum}
    if bidding:
        known["bids"] = bid_rows(bidding.bids)
        known["leader"] = bidding.leader
        known["withdrawn"] = list(bidding.withdrawn)
    return known


def _bounds(view: View, bidding: LotBidding) -> Row:
    """Return the facts from which the bounds of a bid follow."""
    return {
        **_money(view),
        "starting_price": bidding.start,
        "increment": bidding.increment,
        "highest_bid": bidding.price,
    }


def money(view: View) -> Row:
    """Return the money left, or the facts from which it follows."""
    return {"budget": view.budget} if view.mind.bounds == "told" else _money(view)


def _money(view: View) -> Row:
    """Return the initial budget and own wins, from which the money left follows."""
    wins = [{"item": win.item, "price": win.price} for win in view.wins(view.name)]
    return {"initial_budget": view.initial_budget, "your_wins": wins}


def bid_rows(bids: Iterable[tuple[int, str, Decimal]]) -> list[Row]:
    """Return bids as rows, from (round, bidder, dollars)."""
    return [{"round": turn, "bidder": bidder, "amount": amount} for turn, bidder, amount in bids]


def bidding_record(view: View, item: str, bidder: str) -> Row:
    """Return all bids on a finished item, the minimum that one bidder declined, and whether it won."""
    result, lot = view.result(item), view.lot(item)
    bidding = bidding_on(result)
    withdrawal = bidding.withdrawn.get(bidder) if bidding else None
    return {
        "bidder": bidder,
        **true_per_estimate(view, before=item),
        "item": {"item": item, "start": lot.start, "estimate": view.estimates[item], "listing": lot.listing},
        "bids": bid_rows(bidding.bids) if bidding else [],
        "declined_at": withdrawal.minimum if withdrawal and withdrawal.reason == "declined" else None,
        "won": result.winner == bidder,
    }


def history(result: Part) -> Row:
    """Return all bids on an item and the bidders that withdrew."""
    bidding = bidding_on(result)
    bids, withdrawn = (bidding.bids, bidding.withdrawn) if bidding else ((), ())
    return {"item": result.item, "bids": bid_rows(bids), "withdrawn": list(withdrawn)}


def outcome(result: Part) -> Row:
    """Return the outcome of an item, as the auctioneer announced it."""
    return {"item": result.item, "winner": result.winner, "price": result.price, "true_value": result.true_value}


def results(view: View) -> list[Row]:
    """Return the outcomes of the items, with one's own highest bids."""
    rows = []
    for result in view.results:
        rows.append(
            {
                **outcome(result),
                "start": view.lot(result.item).start,
                "estimate": view.estimates[result.item],
                "your_highest_bid": result.highest_bid(view.name),
            }
        )
    return rows


def true_per_estimate(view: View, before: str = "") -> dict[str, float]:
    """Return, as a fact, the true dollars per estimated dollar of the items whose true values a bidder knows.

    Args:
        view: the bidder's view.
        before: use only the items before this one; empty for all.
    """
    known = takewhile(lambda result: result.item != before, view.results)
    ratio = truth_per_estimate(view.estimates, revealed(known))
    return {} if ratio is None else {"true_per_estimate": round(float(ratio), 4)}


def rivals(view: View) -> Row:
    """Return the initial budget, and each rival's profile, spending in dollars and likely profile of the bidder."""
    rows = [{**row, "spent": view.spent(row["rival"])} for row in profiled(view)]
    return {"initial_budget": view.initial_budget, "rivals": rows}
