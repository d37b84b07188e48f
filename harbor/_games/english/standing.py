"""How the auction stands, as facts for Harbor's own prompts: what stays, then what is added to, then what changes.

So the calls of a bidder begin alike. The prompts of the papers are told the facts of `facts` in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from harbor._core.events import Lot
from harbor._games.answering import Row, recalled
from harbor._games.bidder_view import View
from harbor._games.english import facts
from harbor._games.english.events import SaleOpened, rules_in_words
from harbor._games.part import Part
from harbor.personas._catalog.traits import in_percent

PAGE = 10
"""After how many items the list of items goes on: it has at least so many that are over, and as many that come."""
LISTED = 3 * PAGE
"""How many items are listed."""
STAYS = ("rules", "bidders", "initial_budget", "earlier_results", "all_items", "later_items", "catalog")
"""The facts that stay the same, at least for a page."""


def explains(view: View) -> Iterator[str]:
    """Name the facts that the system prompt explains in all calls of a bidder, though only some tell them."""
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


# ---------------------------------------------------------------- what all calls tell


def first_listed(view: View) -> int:
    """Return the place of the first item that is listed: zero in a sale that is short enough to be listed whole."""
    return 0 if len(view.lots) <= LISTED else max(0, len(view.results) // PAGE * PAGE - PAGE)


def listed(view: View) -> Sequence[Lot]:
    """Return the items that are listed."""
    return view.lots[first_listed(view) : first_listed(view) + LISTED]


def coming(view: View) -> Sequence[Lot]:
    """Return the items that are listed and not over, the one under the hammer included."""
    return view.lots[len(view.results) : first_listed(view) + LISTED]


def long_over(view: View) -> set[str]:
    """Name the items that are over and not listed any more."""
    return {result.item for result in view.results[: first_listed(view)]}


def standing(view: View) -> Row:
    """Tell the rules, the items and what came of those that are over."""
    opened = view.last(SaleOpened)
    known: Row = {"rules": rules_in_words(opened.reveal if opened else "untold")}
    if opened and opened.reveal != "untold":  # of a sale that was heard in part nobody knows all bidders
        known["bidders"] = list(view.bidders)
    known["initial_budget"] = view.initial_budget
    over, first = view.results, first_listed(view)
    if first:
        known["earlier_results"] = _summed(view, over[:first])
    known["all_items"] = [_item(view, lot) for lot in listed(view)]
    if later := view.lots[first + LISTED :]:
        known["later_items"] = facts.summary(view, later)
    if over[first:] and view.mind.correct_beliefs == "house":  # else a bidder goes by its own account
        known["results"] = outcomes(view, over[first:])
    return {**recalled(view), **known}


def _item(view: View, lot: Lot) -> Row:
    start: Row = {"start": lot.start} if lot.start else {}  # of a sale that was heard in part it may be untold
    row: Row = {"item": lot.name, **start, "estimate": view.estimates[lot.name]}
    return {**row, "listing": lot.listing} if lot.listing else row


def outcomes(view: View, over: Sequence[Part]) -> list[Row]:
    """Tell what came of items, with their true values if these are revealed."""
    told = ("item", "winner", "price", *(("true_value",) if view.values_revealed else ()))
    return [{name: row[name] for name in told} for row in map(facts.outcome, over)]


def _summed(view: View, over: Sequence[Part]) -> Row:
    """Sum up the items that are over and not listed any more; what came of them as far as `results` would tell it."""
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
    """Tell what is known of each rival: what it has spent, what it is like, and how it probably sees oneself."""
    rows, profiles, mirrors = [], view.profiles, view.mirrors
    for rival in view.rivals:
        row: Row = {"rival": rival, "spent": spent(view, rival), "shares": shares(view, profiles.get(rival, {}))}
        rows.append({**row, "shares_of_you": shares(view, mirrors[rival])} if rival in mirrors else row)
    known: Row = {"rivals": rows}
    return {**known, "catalog": view.catalog} if profiles or mirrors else known


def spent(view: View, rival: str) -> Decimal:
    """Tell what a rival has spent, by one's own account where nobody corrects it, so that no prompt tells two."""
    return sum((win.price for win in facts.current_belief(view).wins.get(rival, ())), Decimal(0))


def shares(view: View, profile: Any) -> dict[str, float]:
    """Tell a profile as shares in percent; an empty one stays empty."""
    return in_percent(profile, view.catalog) if profile else {}


def now(view: View) -> Row:
    """Tell what is on sale or comes next, the money left, and the plan."""
    known: Row = {"item": view.coming[0].name if view.coming else "", **money(view)}
    if view.plan:
        known |= {"plan": view.plan, "priorities": _priorities(view)}
    return known


def money(view: View) -> Row:
    """Tell the money left; where bounds are untold, what it can be worked out from: results, or one's own wins."""
    if view.mind.bounds == "told":
        return {"budget": view.budget}
    wins = [{"item": win.item, "price": win.price} for win in view.wins(view.name)]
    return {} if view.mind.correct_beliefs == "house" else {"your_wins": wins}


def _priorities(view: View) -> dict[str, int]:
    return {lot.name: view.priorities[lot.name] for lot in coming(view) if lot.name in view.priorities}
