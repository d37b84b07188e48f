"""What each thought is told by Harbor's own prompts of the ascending auction, in one function that has its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from harbor._core.asks import Ask
from harbor._core.dialogue import Turn
from harbor._core.telling import as_json
from harbor._games.answering import Row, answered, chosen, forecasts, in_words, refusal, strategy_note
from harbor._games.bidder_view import View
from harbor._games.english import facts
from harbor._games.english.lot_bidding import LotBidding, bidding_on
from harbor._games.english.standing import (
    STAYS,
    first_listed,
    long_over,
    money,
    now,
    outcomes,
    rivals,
    shares,
    standing,
)


def plan(view: View) -> Row:
    """Tell what a plan over the next items needs."""
    return {**standing(view), **_of_rivals(view), **now(view)}


def replan(view: View) -> Row:
    """Tell, besides, how much everyone has earned; or one's own account, where nobody corrects it."""
    held, known = facts.belief(facts.current_belief(view), long_over(view)), plan(view)
    if view.mind.correct_beliefs == "house":
        return {**known, "earned": held["profits"]}
    return {**{name: fact for name, fact in known.items() if name != "budget"}, "belief": held}


def _of_rivals(view: View) -> Row:
    return rivals(view) if view.profiles or view.mirrors else {}


def predict(view: View) -> Row:
    """Tell what is for sale next, and what is known of the rivals."""
    return {**standing(view), **rivals(view), "item": view.coming[0].name if view.coming else "", **money(view)}


def profile(view: View, rival: str, item: str) -> Row:
    """Tell how a rival bid on an item that is over, and its profile so far."""
    told = with_bidding(view, [item])
    return {**told, "catalog": view.catalog, **way_of(view, item, rival), "shares": _so_far(view, rival)}


def mirror(view: View, items: Sequence[str]) -> Row:
    """Tell how oneself bid on the items that are over, and how rivals probably profiled one so far."""
    told = with_bidding(view, items)
    of_you = [{"rival": rival, "shares": shares(view, view.mirrors.get(rival, {}))} for rival in view.rivals]
    ways = [way_of(view, item, view.name) for item in items]
    return {**told, "catalog": view.catalog, "your_bidding": ways, "shares_of_you": of_you}


def _so_far(view: View, rival: str) -> dict[str, float]:
    return shares(view, view.profiles.get(rival, {}))


def with_bidding(view: View, items: Sequence[str]) -> Row:
    """Tell all bids on items that are over."""
    bids = [{"item": item, "bids": bid_rows(bidding_on(view.result(item)))} for item in items]
    return {**standing(view), "bidding": bids}


def way_of(view: View, item: str, bidder: str) -> Row:
    """Tell how far a bidder went for an item, and why it went no further."""
    result = view.result(item)
    bidding = bidding_on(result)
    left = bidding.withdrawn.get(bidder) if bidding else None
    ended = "won" if result.winner == bidder else left.reason if left else "not asked"
    known: Row = {"bidder": bidder, "item": item, "went_up_to": result.highest_bid(bidder), "ended": ended}
    return {**known, "declined_at": left.minimum} if ended == "declined" and left else known


def bid_rows(bidding: LotBidding | None) -> list[Row]:
    """List the bids on an item."""
    return facts.bid_rows(bidding.bids) if bidding else []


def strategize(view: View) -> Row:
    """Tell the call, and what is known of the rivals."""
    known = {name: fact for name, fact in call(view).items() if name != "in_words"}
    return {**standing(view), **_of_rivals(view), **known}


def bid(view: View) -> Row:
    """Tell the call, and the strategic action that was chosen for it."""
    return {**standing(view), **call(view, in_turns=True), **chosen(view.notes.get("strategize"))}


def fused(view: View) -> Row:
    """Tell the call, and what is known of the rivals."""
    return {**standing(view), **_of_rivals(view), **call(view, in_turns=True)}


def limit(view: View) -> Row:
    """Tell the call; before the first bid there is nothing to tell of bids."""
    known = call(view)
    unsaid = () if known.get("bids") else ("bids", "leader", "withdrawn")
    return {**standing(view), **{name: fact for name, fact in known.items() if name not in unsaid}}


def believe(view: View, **known: Any) -> Row:
    """Tell what was believed before, and which items are over since; an account of one's own with its wins."""
    over, before = [row["item"] for row in known.pop("results")], known.pop("belief")
    known.pop("history")
    told = standing(view)
    if "results" in told:
        return {**told, "belief": {name: before[name] for name in ("budget", "profits")}, "over": over, **known}
    news = [result for result in view.results if result.item in over]
    return {**told, "results": outcomes(view, news), "belief": before, "over": over, **known}


def learn(view: View, learnings: Sequence[str]) -> Row:
    """Tell how the sale went, and what was learned before."""
    own = {result.item: result.highest_bid(view.name) for result in view.results[first_listed(view) :]}
    profits, over = facts.belief(view.truth())["profits"], view.results[first_listed(view) :]
    return {
        **standing(view),
        "results": outcomes(view, over),
        "your_highest_bids": own,
        "profits": profits,
        "learnings": learnings,
    }


# ---------------------------------------------------------------- a call, and those before it


def call(view: View, *, in_turns: bool = False) -> Row:
    """Tell what a decision needs, besides how the auction stands; without a plan that an earlier turn told."""
    ask, mind = cast(Ask, view.now), view.mind
    view = without_plan(view) if in_turns and mind.context == "dialogue" else view
    told = _of_call(view, bidding_on(view.part), ask.minimum, ask.maximum)
    return {**told, **in_words(ask, mind), **refusal(ask.refusal, ask.attempt)}


def _of_call(view: View, bidding: LotBidding | None, minimum: Decimal, budget: Decimal) -> Row:
    known = now(view)
    if "budget" in known:
        known["budget"] = budget
    if expected := forecasts(view):
        known["forecasts"] = expected
    if bidding:
        known["increment"] = bidding.increment
    if bidding and view.mind.bounds == "untold":
        known |= {"starting_price": bidding.start, "highest_bid": bidding.price}
    if bidding:
        known |= {"bids": bid_rows(bidding), "leader": bidding.leader, "withdrawn": list(bidding.withdrawn)}
    return known if bidding and view.mind.bounds == "untold" else {**known, "minimum": minimum}


def turns(view: View) -> list[Turn] | None:
    """Give the earlier calls on this item with what was answered; None for a bidder that is in no dialogue."""
    mind, ask, bidding = view.mind, cast(Ask, view.now), bidding_on(view.part)
    if mind.context == "fresh":
        return None
    shared = {name: fact for name, fact in standing(view).items() if name not in STAYS}
    before = [_planned(view)] if view.plan else []
    view = without_plan(view)
    for stood, strategy, decided, refused in bidding.spoken if bidding else ():
        known = {**shared, **_of_call(view, stood, stood.minimum, view.budget), **in_words(ask, mind)}
        known |= refusal(refused, decided.attempt)
        known |= chosen(strategy_note(strategy)) if strategy and mind.strategy == "on" else {}
        before.append(Turn(known, answered(ask.space, decided, mind, strategy)))
    return before


def without_plan(view: View) -> View:
    """Return a view of which prompts tell no plan."""
    return replace(view, notes={name: note for name, note in view.notes.items() if name != "plan"})


def _planned(view: View) -> Turn:
    """Give the plan as a turn of its own: with what money, and what was planned."""
    priorities = [{"item": item, "priority": priority} for item, priority in view.priorities.items()]
    return Turn(now(without_plan(view)), as_json({"plan": view.plan, "priorities": priorities}), task="plan")
