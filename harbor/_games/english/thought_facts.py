"""Harbor's own prompts tell these facts: the state of the auction, then the facts of each thought.

The state begins with facts that stay the same. Facts that grow follow, then facts that change, so the calls of a
bidder begin alike. The function of a thought has its name. The prompts of the papers use the facts of `facts` instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from harbor._core.asking.asks import Ask
from harbor._core.log.events import Lot
from harbor._core.prompts.prompts import Turn, as_json
from harbor._games.bidder_view import Part, View
from harbor._games.english import facts
from harbor._games.english.events import SaleOpened, rules_in_words
from harbor._games.english.facts import LotBidding, bidding_on
from harbor._games.replies import Row, answered, chosen, forecasts, in_words, recalled, refusal, strategy_note
from harbor.personas._catalog.traits import in_percent

PAGE = 10
"""Number of items by which the list moves on; it keeps at least so many past and coming items."""
LISTED = 3 * PAGE
"""Number of listed items."""
STAYS = ("rules", "bidders", "initial_budget", "earlier_results", "all_items", "later_items", "catalog")
"""The facts that stay the same for at least a page."""


def explains(view: View) -> Iterator[str]:
    """Yield the names of facts that the system prompt explains in all calls, though only some calls tell them."""
    mind = view.mind
    yield from ("results", "true_value") if view.values_revealed else ("results",)
    yield from ("leader",) if mind.bidding == "call" else ()
    yield "minimum" if mind.bounds == "told" else "starting_price"
    yield from ("in_words",) if mind.reply == "text" else ()
    if mind.planning != "none":
        yield "priorities"
    if mind.theory_of_mind != "none":
        yield from ("catalog",) if mind.profiles or view.profiles else ()
        yield from ("rivals", "shares", *(("shares_of_you",) if mind.theory_of_mind == "second" else ()))
        if mind.predict:
            yield "forecasts"
            yield from ("expected_interest_of_yours",) if mind.theory_of_mind == "second" else ()


# ---------------------------------------------------------------- the facts of all calls


def first_listed(view: View) -> int:
    """Return the index of the first listed item; 0 if the sale has at most `LISTED` items."""
    return 0 if len(view.lots) <= LISTED else max(0, len(view.results) // PAGE * PAGE - PAGE)


def listed(view: View) -> Sequence[Lot]:
    """Return the listed items."""
    return view.lots[first_listed(view) : first_listed(view) + LISTED]


def coming(view: View) -> Sequence[Lot]:
    """Return the listed items that are not over, the item under the hammer included."""
    return view.lots[len(view.results) : first_listed(view) + LISTED]


def long_over(view: View) -> set[str]:
    """Return the items that are over and no longer listed."""
    return {result.item for result in view.results[: first_listed(view)]}


def standing(view: View) -> Row:
    """Return the rules, the items and the outcomes so far."""
    opened = view.last(SaleOpened)
    known: Row = {"rules": rules_in_words(opened.reveal if opened else "untold")}
    if opened and opened.reveal != "untold":  # in a sale that was heard in part, not all bidders are known
        known["bidders"] = list(view.bidders)
    known["initial_budget"] = view.initial_budget
    over, first = view.results, first_listed(view)
    if first:
        known["earlier_results"] = _summed(view, over[:first])
    known["all_items"] = [_item(view, lot) for lot in listed(view)]
    if later := view.lots[first + LISTED :]:
        known["later_items"] = facts.summary(view, later)
    if over[first:] and view.mind.correct_beliefs == "house":  # else a bidder keeps its own account
        known["results"] = outcomes(view, over[first:])
    return {**recalled(view), **known}


def _item(view: View, lot: Lot) -> Row:
    start: Row = {"start": lot.start} if lot.start else {}  # 0 if untold, in a sale that was heard in part
    row: Row = {"item": lot.name, **start, "estimate": view.estimates[lot.name]}
    return {**row, "listing": lot.listing} if lot.listing else row


def outcomes(view: View, over: Sequence[Part]) -> list[Row]:
    """Return the outcomes of items, with their true values if these are revealed."""
    told = ("item", "winner", "price", *(("true_value",) if view.values_revealed else ()))
    return [{name: row[name] for name in told} for row in map(facts.outcome, over)]


def _summed(view: View, over: Sequence[Part]) -> Row:
    """Return a summary of the items that are over and no longer listed, with the outcomes that `results` would tell."""
    estimates = sum((view.estimates[result.item] for result in over), Decimal(0))
    known: Row = {"number": len(over), "estimates": estimates}
    if view.mind.correct_beliefs != "house":
        return known
    values = [result.true_value for result in over if result.true_value is not None]
    if len(values) == len(over):
        known["true_values"] = sum(values, Decimal(0))
    known["wins"] = [
        {"bidder": name, "number": len(won), "paid": sum(won)}
        for name in view.bidders
        if (won := [result.paid.get(name, Decimal(0)) for result in over if result.winner == name])
    ]
    return known


def rivals(view: View) -> Row:
    """Return, for each rival, its spending in dollars, its profile, and its likely profile of this bidder."""
    rows, profiles, mirrors = [], view.profiles, view.mirrors
    for rival in view.rivals:
        row: Row = {"rival": rival, "spent": spent(view, rival), "shares": shares(view, profiles.get(rival, {}))}
        rows.append({**row, "shares_of_you": shares(view, mirrors[rival])} if rival in mirrors else row)
    known: Row = {"rivals": rows}
    return {**known, "catalog": view.catalog} if profiles or mirrors else known


def spent(view: View, rival: str) -> Decimal:
    """Return a rival's spending in dollars by the belief in force, so that no prompt tells two amounts."""
    return sum((win.price for win in facts.current_belief(view).wins.get(rival, ())), Decimal(0))


def shares(view: View, profile: Any) -> dict[str, float]:
    """Return a profile as shares in percent; an empty profile stays empty."""
    return in_percent(profile, view.catalog) if profile else {}


def now(view: View) -> Row:
    """Return the item on sale or next, the money left, and the plan."""
    known: Row = {"item": view.coming[0].name if view.coming else "", **money(view)}
    if view.plan:
        known |= {"plan": view.plan, "priorities": _priorities(view)}
    return known


def money(view: View) -> Row:
    """Return the money left; if bounds are untold, own wins, unless the results tell these."""
    if view.mind.bounds == "told":
        return {"budget": view.budget}
    wins = [{"item": win.item, "price": win.price} for win in view.wins(view.name)]
    return {} if view.mind.correct_beliefs == "house" else {"your_wins": wins}


def _priorities(view: View) -> dict[str, int]:
    return {lot.name: view.priorities[lot.name] for lot in coming(view) if lot.name in view.priorities}


def plan(view: View) -> Row:
    """Return the facts for a plan over the next items."""
    return {**standing(view), **_of_rivals(view), **now(view)}


def replan(view: View) -> Row:
    """Return the facts of `plan` and everyone's profits; if the house corrects no beliefs, one's own account."""
    held, known = facts.belief(facts.current_belief(view), long_over(view)), plan(view)
    if view.mind.correct_beliefs == "house":
        return {**known, "earned": held["profits"]}
    return {**{name: fact for name, fact in known.items() if name != "budget"}, "belief": held}


def _of_rivals(view: View) -> Row:
    return rivals(view) if view.profiles or view.mirrors else {}


def predict(view: View) -> Row:
    """Return the next item and the facts about the rivals."""
    return {**standing(view), **rivals(view), "item": view.coming[0].name if view.coming else "", **money(view)}


def profile(view: View, rival: str, item: str) -> Row:
    """Return a rival's bidding on an item that is over, and the rival's profile so far."""
    told = with_bidding(view, [item])
    return {**told, "catalog": view.catalog, **way_of(view, item, rival), "shares": _so_far(view, rival)}


def mirror(view: View, items: Sequence[str]) -> Row:
    """Return this bidder's bidding on the items that are over, and its rivals' likely profiles of it so far."""
    told = with_bidding(view, items)
    of_you = [{"rival": rival, "shares": shares(view, view.mirrors.get(rival, {}))} for rival in view.rivals]
    ways = [way_of(view, item, view.name) for item in items]
    return {**told, "catalog": view.catalog, "your_bidding": ways, "shares_of_you": of_you}


def _so_far(view: View, rival: str) -> dict[str, float]:
    return shares(view, view.profiles.get(rival, {}))


def with_bidding(view: View, items: Sequence[str]) -> Row:
    """Return the state and all bids on items that are over."""
    bids = [{"item": item, "bids": bid_rows(bidding_on(view.result(item)))} for item in items]
    return {**standing(view), "bidding": bids}


def way_of(view: View, item: str, bidder: str) -> Row:
    """Return a bidder's highest bid on an item, and the reason why it stopped."""
    result = view.result(item)
    bidding = bidding_on(result)
    left = bidding.withdrawn.get(bidder) if bidding else None
    ended = "won" if result.winner == bidder else left.reason if left else "not asked"
    known: Row = {"bidder": bidder, "item": item, "went_up_to": result.highest_bid(bidder), "ended": ended}
    return {**known, "declined_at": left.minimum} if ended == "declined" and left else known


def bid_rows(bidding: LotBidding | None) -> list[Row]:
    """Return the bids on an item as rows."""
    return facts.bid_rows(bidding.bids) if bidding else []


def strategize(view: View) -> Row:
    """Return the call and the facts about the rivals."""
    known = {name: fact for name, fact in call(view).items() if name != "in_words"}
    return {**standing(view), **_of_rivals(view), **known}


def bid(view: View) -> Row:
    """Return the call and the strategic action for it."""
    return {**standing(view), **call(view, in_turns=True), **chosen(view.notes.get("strategize"))}


def fused(view: View) -> Row:
    """Return the call and the facts about the rivals."""
    return {**standing(view), **_of_rivals(view), **call(view, in_turns=True)}


def limit(view: View) -> Row:
    """Return the facts of the call; until somebody bids, without the bids, the leader and the withdrawals."""
    known = call(view)
    unsaid = () if known.get("bids") else ("bids", "leader", "withdrawn")
    return {**standing(view), **{name: fact for name, fact in known.items() if name not in unsaid}}


def believe(view: View, **known: Any) -> Row:
    """Return the last belief and the items that are over since; one's own account includes wins."""
    over, before = [row["item"] for row in known.pop("results")], known.pop("belief")
    known.pop("history")
    told = standing(view)
    if "results" in told:
        return {**told, "belief": {name: before[name] for name in ("budget", "profits")}, "over": over, **known}
    news = [result for result in view.results if result.item in over]
    return {**told, "results": outcomes(view, news), "belief": before, "over": over, **known}


def learn(view: View, learnings: Sequence[str]) -> Row:
    """Return the results of the sale, and the earlier learnings."""
    own = {result.item: result.highest_bid(view.name) for result in view.results[first_listed(view) :]}
    profits, over = facts.belief(view.truth())["profits"], view.results[first_listed(view) :]
    return {
        **standing(view),
        "results": outcomes(view, over),
        "your_highest_bids": own,
        "profits": profits,
        "learnings": learnings,
    }


# ---------------------------------------------------------------- a call and earlier calls


def call(view: View, *, in_turns: bool = False) -> Row:
    """Return the facts for a decision beyond the state, without a plan that an earlier turn told."""
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
    """Return the earlier calls on this item with their answers; None if the bidder's `context` is "fresh"."""
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
    """Return the view without its plan."""
    return replace(view, notes={name: note for name, note in view.notes.items() if name != "plan"})


def _planned(view: View) -> Turn:
    """Return the plan as a turn of its own: money as a fact, and the plan as answer."""
    priorities = [{"item": item, "priority": priority} for item, priority in view.priorities.items()]
    return Turn(now(without_plan(view)), as_json({"plan": view.plan, "priorities": priorities}), task="plan")
